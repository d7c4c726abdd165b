"""Learners follow scikit-learn: fit(X, answers), predict, predict_proba."""
import pathlib
import pickle
import tempfile
import unittest

import numpy as np
import pandas as pd

import wisecrowd


def crowd_with_features(seed=1):
    crowd = wisecrowd.simulate("dawid_skene", tasks=300, workers=20, gaussian_features=3.0, test_tasks=200, seed=seed)
    train = crowd.features[crowd.splits == "train"]
    test = crowd.features[crowd.splits == "test"]
    return crowd, train, test


class Learners(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crowd, cls.train, cls.test = crowd_with_features()
        cls.fitted = wisecrowd.CCEM(epochs=15).fit(cls.train, cls.crowd.answers)

    def test_predict(self):
        labels = self.fitted.predict(self.test)
        probas = self.fitted.predict_proba(self.test)
        self.assertEqual(probas.shape, (200, 2))
        np.testing.assert_allclose(probas.sum(axis=1), 1)
        self.assertEqual(list(self.fitted.classes_[probas.argmax(axis=1)]), list(labels))
        self.assertGreater(self.fitted.score(self.test, self.crowd.gold[self.test.index]), 0.9)

    def test_labels_of_answered_tasks(self):
        self.assertEqual(list(self.fitted.labels_.index), list(self.train.index))
        self.assertGreater((self.fitted.labels_ == self.crowd.gold[self.train.index]).mean(), 0.9)
        self.assertEqual(list(self.fitted.errors_.columns), ["0", "1"])
        self.assertEqual(len(self.fitted.curve_), 15)
        self.assertTrue(1 <= self.fitted.chosen_epoch_ <= 15)
        self.assertEqual(len(self.fitted.worker_summary_), 20)

    def test_array_whose_rows_are_tasks(self):
        rows = {task: row for row, task in enumerate(self.train.index)}
        numbered = self.crowd.answers.assign(task=self.crowd.answers.task.map(rows))
        fitted = wisecrowd.CCEM(epochs=15).fit(self.train.to_numpy(), numbered)
        np.testing.assert_array_equal(fitted.predict_proba(self.test), self.fitted.predict_proba(self.test))
        as_text = wisecrowd.CCEM(epochs=15).fit(self.train.to_numpy(), numbered.astype({"task": str}))  # other order of tasks
        self.assertGreater(as_text.score(self.test, self.crowd.gold[self.test.index]), 0.9)

    def test_rows_without_answers_are_predicted(self):
        fitted = wisecrowd.CCEM(epochs=5).fit(self.crowd.features, self.crowd.answers)
        self.assertEqual(len(fitted.row_probas_), 500)
        self.assertEqual(len(fitted.labels_), 300)
        np.testing.assert_allclose(fitted.row_probas_.loc[self.test.index], fitted.predict_proba(self.test), atol=1e-6)

    def test_pickling(self):
        again = pickle.loads(pickle.dumps(self.fitted))
        np.testing.assert_array_equal(again.predict_proba(self.test), self.fitted.predict_proba(self.test))
        pd.testing.assert_series_equal(again.labels_, self.fitted.labels_)

    def test_a_model_that_brings_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            self.fitted.save_model(folder)
            wisecrowd._engine.load_classifier(folder)
            path = pathlib.Path(folder, "model.json")
            path.write_text(path.read_text().replace('"kind": "mlp"', '"kind": "torchscript"'))
            with self.assertRaisesRegex(ValueError, "TorchScript is a program.*trust=True"):
                wisecrowd._engine.load_classifier(folder)
            with self.assertRaisesRegex(OSError, "network.pt"):
                wisecrowd._engine.load_classifier(folder, trust=True)

    def test_a_model_remembers_its_workers(self):
        crowd = wisecrowd.simulate("dawid_skene", tasks=200, workers=8, gaussian_features=1.0, test_tasks=60, seed=3)
        train, test = crowd.features[crowd.splits == "train"], crowd.features[crowd.splits == "test"]
        fitted = wisecrowd.DALC(epochs=5, samples=2).fit(train, crowd.answers)
        answered = fitted.posterior(train, crowd.answers)
        np.testing.assert_allclose(answered.loc[fitted.probas_.index], fitted.probas_, atol=1e-9)
        with tempfile.TemporaryDirectory() as folder:
            fitted.save_model(folder)
            model = wisecrowd.load_model(folder)
        self.assertEqual(list(model.classes_), [str(label) for label in fitted.classes_])
        self.assertEqual(len(model.workers_), 8)
        np.testing.assert_array_equal(model.posterior(train, crowd.answers), answered)
        np.testing.assert_array_equal(model.predict_proba(test), fitted.predict_proba(test))
        trusted = model.reliability(test)
        self.assertEqual(trusted.shape, (60, 8))
        self.assertTrue(((trusted >= 0) & (trusted <= 1)).all().all())
        drawn = model.draw(test, 20)
        self.assertTrue((drawn.mutual_information <= drawn.predictive_entropy).all())
        self.assertGreater(drawn.mutual_information.max(), 0)
        stranger = crowd.answers.assign(worker="nobody").iloc[:5]
        with self.assertWarnsRegex(UserWarning, "answers of 1 workers whom the model does not know are left out"):
            found = model.posterior(train, pd.concat([crowd.answers, stranger]))
        np.testing.assert_array_equal(found, answered)
        with self.assertRaisesRegex(Exception, "knows nothing of workers: doctor_net"):
            wisecrowd.DoctorNet(epochs=2).fit(train, crowd.answers).posterior(train, crowd.answers)

    def test_shares_of_classes_can_be_a_list(self):
        for shares in ([0.7, 0.3], np.array([0.7, 0.3]), "0.7,0.3"):
            fitted = wisecrowd.MaxMIG(class_prior=shares, epochs=2, start="votes").fit(self.train, self.crowd.answers)
            np.testing.assert_allclose(fitted.priors_, [0.7, 0.3])
        with self.assertRaisesRegex(ValueError, "positive share per class"):
            wisecrowd.MaxMIG(class_prior=[0.7, 0.7]).fit(self.train, self.crowd.answers)

    def test_former_names_of_parameters(self):
        with self.assertWarnsRegex(FutureWarning, "AggNet: fading is now called decoupled_decay"):
            renamed = wisecrowd.AggNet(fading=0.25)
        self.assertEqual(renamed.decoupled_decay, 0.25)
        self.assertEqual(renamed.fading, 0.25)
        self.assertNotIn("fading", renamed.get_params())
        with self.assertWarns(FutureWarning), self.assertRaisesRegex(TypeError, "given twice"):
            wisecrowd.AggNet(decoupled_decay=0.1, fading=0.25)
        with self.assertWarns(FutureWarning):
            self.assertEqual(renamed.set_params(fading=0).decoupled_decay, 0)

    def test_numbers_that_are_not_finite(self):
        absurd = wisecrowd.TwoStage(optimizer="sgd", learning_rate=100.0, standardise=False, epochs=3)
        with self.assertRaisesRegex(ValueError, "lower learning_rate"):
            absurd.fit(self.train * 1e6, self.crowd.answers)
        spoilt = self.test.copy()
        spoilt.iloc[3, 1] = np.inf
        with self.assertRaisesRegex(ValueError, "row 3, column 1: value inf: features must be finite"):
            self.fitted.predict(spoilt)
        with self.assertRaisesRegex(ValueError, "hidden=0"):
            wisecrowd.CCEM(hidden=0).fit(self.train, self.crowd.answers)

    def test_same_bits_for_any_number_of_threads(self):
        again = wisecrowd.CCEM(epochs=15, threads=1).fit(self.train, self.crowd.answers)
        np.testing.assert_array_equal(again.predict_proba(self.test), self.fitted.predict_proba(self.test))

    def test_gold_of_rows_that_nobody_answered(self):
        gold = self.crowd.gold[self.test.index[:50]]
        info = {info["name"]: info for info in wisecrowd._engine.learning_methods()}
        name = next(name for name, entry in info.items() if entry["uses_gold"] and name != "auto_learner")
        fitted = wisecrowd.estimator(name, epochs=5, **({} if info[name]["linear_only"] else {"network": "linear"}))
        fitted.fit(self.crowd.features, self.crowd.answers, gold)
        self.assertEqual(len(fitted.labels_), 350)
        self.assertTrue((fitted.labels_[gold.index] == gold).all())

    def test_images(self):
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 2, 120)
        images = rng.normal(size=(120, 6, 6)) + truth[:, None, None]
        answers = [(task, f"w{worker}", int(truth[task])) for task in range(120) for worker in range(3)]
        fitted = wisecrowd.TwoStage(epochs=20, learning_rate=0.05, network="linear").fit(images, answers)
        self.assertGreater(fitted.score(images, truth), 0.9)

    def test_sparse_rows(self):
        try:
            from scipy import sparse
        except ImportError:
            self.skipTest("scipy is not installed")
        rows = {task: row for row, task in enumerate(self.train.index)}
        answers = self.crowd.answers.assign(task=self.crowd.answers.task.map(rows))
        fitted = wisecrowd.TwoStage(epochs=20, learning_rate=0.05, network="linear").fit(sparse.csr_matrix(self.train.to_numpy()), answers)
        predicted = fitted.predict(sparse.csr_matrix(self.test.to_numpy()))
        self.assertGreater((predicted == self.crowd.gold[self.test.index].to_numpy()).mean(), 0.85)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "dimensions"):
            wisecrowd.CCEM().fit(np.zeros(5), self.crowd.answers)
        with self.assertRaisesRegex(ValueError, "no task of the answers"):
            wisecrowd.CCEM().fit(np.zeros((5, 2)), self.crowd.answers)
        with self.assertRaisesRegex(ValueError, "numbers"):
            wisecrowd.CCEM().fit(self.train.astype(str) + "x", self.crowd.answers)
        with self.assertRaises(ValueError):
            wisecrowd.CCEM().fit(self.train * np.nan, self.crowd.answers)
        with self.assertRaises(ValueError):
            self.fitted.predict(np.zeros((3, 7)))
        for wrong in ({"hidden": 0}, {"layers": "two"}, {"dropout": 1.0}, {"network": "nonsense"}):
            with self.assertRaisesRegex((ValueError, OSError), next(iter(wrong.values())).__str__()):
                wisecrowd.CCEM(**wrong).fit(self.train, self.crowd.answers)
        with self.assertRaises(wisecrowd.NotFittedError):
            wisecrowd.CCEM().predict(self.test)
        with self.assertRaises(OSError):
            self.fitted.save_model("/nonexistent/folder")

    def test_linear_only(self):
        self.assertEqual(wisecrowd.Raykar().network, "linear")
        with self.assertRaises(ValueError):
            wisecrowd.Raykar(network="mlp").fit(self.train, self.crowd.answers)


if __name__ == "__main__":
    unittest.main()
