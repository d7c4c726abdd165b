"""Estimators of both kinds in scikit-learn: clones, pipelines, cross-validation, grid search, and its own checks."""
import unittest
import warnings

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_checks

import wisecrowd

# Checks of scikit-learn that learners do not pass, and why. docs/PYTHON.md has the same list.
NOT_PASSED = {
    "check_fit_score_takes_y": "the second argument of fit is called answers, not y; scikit-learn gives it by position",
    "check_supervised_y_2d": "y with one column is a table of one worker's answers, so there is nothing to warn of",
}
# Of aggregators, whose X is a table of answers and no array of numbers: all checks that need no such array.
WITHOUT_DATA = """check_estimator_cloneable check_estimator_tags_renamed check_valid_tag_types check_estimator_repr
    check_no_attributes_set_in_init check_parameters_default_constructible check_get_params_invariance check_set_params
    check_mixin_order""".split()


class Conventions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crowd = wisecrowd.simulate("dawid_skene", tasks=300, workers=20, gaussian_features=3.0, test_tasks=200, seed=1)
        cls.answers = cls.crowd.answers
        cls.X = cls.crowd.features[cls.crowd.splits == "train"]
        cls.Y = wisecrowd.answers_by_row(cls.answers, cls.X)

    def test_clones(self):
        for estimator in (wisecrowd.DawidSkene(7, pseudo_count=0.5), wisecrowd.CCEM(epochs=3)):
            estimator.set_output(transform="pandas")
            copy = clone(estimator)
            self.assertEqual(copy.get_params(), estimator.get_params())
            self.assertEqual(copy._sklearn_output_config, {"transform": "pandas"})
        with self.assertRaises(NotFittedError):
            clone(wisecrowd.CCEM(epochs=1).fit(self.X, self.Y)).predict(self.X)
        self.assertTrue(is_classifier(wisecrowd.CCEM()))
        self.assertFalse(is_classifier(wisecrowd.DawidSkene()))

    def test_aggregators_are_compared_by_hidden_answers(self):
        folds = KFold(5, shuffle=True, random_state=0)
        biased = wisecrowd.simulate("dawid_skene", tasks=1000, workers=10, classes=3, answers_per_task=6, seed=3).answers
        by_tables = cross_val_score(wisecrowd.DawidSkene(pseudo_count=0.1), biased, cv=folds)
        by_votes = cross_val_score(wisecrowd.MajorityVote(), biased, cv=folds)
        self.assertGreater(by_tables.mean(), by_votes.mean())
        self.assertGreater(by_votes.mean(), -np.log(3))
        found = GridSearchCV(wisecrowd.DawidSkene(), {"pseudo_count": [0.01, 1000]}, cv=folds).fit(biased)
        self.assertEqual(found.best_params_, {"pseudo_count": 0.01})
        self.assertEqual(len(found.best_estimator_.labels_), 1000)

    def test_aggregators_are_scored_by_truth(self):
        truth = self.crowd.gold.loc[self.answers.task].to_numpy()
        scores = cross_val_score(wisecrowd.DawidSkene(), self.answers, truth, groups=self.answers.task, cv=GroupKFold(5))
        self.assertGreater(scores.mean(), 0.8)
        without = cross_val_score(wisecrowd.DawidSkene(), self.answers, groups=self.answers.task, cv=GroupKFold(5),
                                  scoring=lambda fitted, X, y=None: fitted.score(X, self.crowd.gold))
        self.assertGreater(without.mean(), 0.7)

    def test_pipelines(self):
        without = make_pipeline(FunctionTransformer(lambda table: table[table.worker != table.worker.iloc[0]]), wisecrowd.DawidSkene())
        self.assertEqual(len(without.fit(self.answers)[-1].skills_), 19)
        self.assertEqual(list(without.predict(self.answers).index), list(without[-1].labels_.index))
        shares = make_pipeline(wisecrowd.MajorityVote()).set_output(transform="pandas").fit_transform(self.answers)
        self.assertEqual(list(shares.columns), ["majorityvote_0", "majorityvote_1"])
        learned = make_pipeline(StandardScaler(), wisecrowd.CCEM(epochs=10)).fit(self.X, self.Y)
        self.assertGreater((learned.predict(self.X) == self.crowd.gold[self.X.index]).mean(), 0.9)

    def test_learners(self):
        scores = cross_val_score(wisecrowd.CCEM(epochs=10), self.X, self.Y, cv=5)
        self.assertGreater(scores.mean(), 0.6)  # of answers, not of the truth
        found = GridSearchCV(make_pipeline(StandardScaler(), wisecrowd.CCEM(epochs=10)), {"ccem__learning_rate": [1e-7, 1e-2]},
                             cv=3).fit(self.X, self.Y)
        self.assertEqual(found.best_params_, {"ccem__learning_rate": 1e-2})
        self.assertIn("ccem", found._repr_html_().lower())

    def test_tables_of_polars(self):
        table = wisecrowd.MajorityVote().set_output(transform="polars").fit_transform(self.answers)
        self.assertEqual(type(table).__module__.partition(".")[0], "polars")
        self.assertEqual(table.shape, (300, 2))

    def test_checks_of_learners(self):
        for learner in (wisecrowd.CCEM(epochs=30), wisecrowd.AggNet(epochs=30), wisecrowd.TwoStage(epochs=30)):
            with self.subTest(str(learner)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = estimator_checks.check_estimator(learner, on_fail=None, expected_failed_checks=NOT_PASSED)
                self.assertGreater(sum(result["status"] == "passed" for result in results), 50)
                self.assertEqual([(result["check_name"], result["exception"]) for result in results if result["status"] == "failed"], [])
                self.assertEqual({result["check_name"] for result in results if result["status"] == "xfail"}, set(NOT_PASSED))

    def test_checks_of_aggregators(self):
        for cls in wisecrowd.aggregation.CLASSES.values():
            for name in WITHOUT_DATA:
                with self.subTest(method=cls.__name__, check=name):
                    getattr(estimator_checks, name)(cls.__name__, cls())


class Pictures(unittest.TestCase):
    def test_pictures(self):
        import matplotlib

        matplotlib.use("Agg")
        crowd = wisecrowd.simulate("dawid_skene", tasks=300, workers=60, seed=1)
        answers = crowd.answers.assign(worker=crowd.answers.worker.replace({crowd.answers.worker.iloc[0]: "$\\frac{a}"}))
        fitted = wisecrowd.DawidSkene().fit(answers)
        axes = fitted.plot_workers(most=60)
        self.assertEqual(len(axes.get_yticklabels()), 60)
        axes.figure.canvas.draw()
        self.assertIn("40 workers of 60", fitted.plot_workers().get_title())
        diagram = wisecrowd.evaluate(fitted, crowd.gold).plot_calibration()
        self.assertEqual(diagram.get_xlabel(), "probability of the label")
        diagram.figure.canvas.draw()
        with self.assertRaisesRegex(ValueError, "no probabilities"):
            wisecrowd.evaluate(fitted.labels_, crowd.gold).plot_calibration()


if __name__ == "__main__":
    unittest.main()
