"""crowd-kit's conventions: its documented examples with only the import changed, its names, indices and columns."""
import inspect
import unittest
import warnings

import numpy as np
import pandas as pd
from frames import real_data_folder, real_set, shuffled_answers

from wisecrowd.aggregation import GLAD, KOS, MACE, MMSR, DawidSkene, MajorityVote, OneCoinDawidSkene, Wawa, ZeroBasedSkill

try:
    import crowdkit.aggregation as theirs
except ImportError:
    theirs = None

NINE = (MajorityVote, Wawa, DawidSkene, OneCoinDawidSkene, GLAD, MMSR, MACE, KOS, ZeroBasedSkill)


def load_dataset(name):
    """In crowd-kit a download: answers of workers w… to tasks, labels 0 and 1, and the truth of some tasks."""
    answers, gold = shuffled_answers(seed=3, tasks=300, workers=20, classes=(0, 1), accuracy=0.7)
    answers["worker"] = answers["worker"].map({f"w{i}": name for i, name in enumerate(["w851", "w6991"] + [f"w{j}" for j in range(18)])})
    return answers, gold


class DocumentedExamples(unittest.TestCase):
    """Word for word from its documentation; only what is downloaded is made here."""

    def test_majority_vote(self):
        df, gt = load_dataset("relevance-2")
        result = MajorityVote().fit_predict(df)
        self.good(result, gt)

    def test_weighted_majority_vote(self):
        df = pd.DataFrame(
            [["t1", "p1", "a"], ["t1", "p2", "b"], ["t2", "p1", "a"], ["t2", "p2", "b"]], columns=["task", "worker", "label"])
        skills = pd.Series({"p1": 0.5, "p2": 0.7})
        result = MajorityVote().fit_predict(df, skills)
        self.assertEqual(result.to_dict(), {"t1": "b", "t2": "b"})

    def test_wawa(self):
        df, gt = load_dataset("relevance-2")
        result = Wawa().fit_predict(df)
        self.good(result, gt)

    def test_dawid_skene(self):
        df, gt = load_dataset("relevance-2")
        ds = DawidSkene(100)
        result = ds.fit_predict(df)
        self.good(result, gt)

    def test_dawid_skene_with_gold(self):
        df, gt = load_dataset("relevance-2")
        true_labels = gt[:1000]
        ds = DawidSkene(100)
        result = ds.fit_predict(df, true_labels)
        self.assertTrue((result[true_labels.index] == true_labels).all())

    def test_dawid_skene_with_initial_error(self):
        df, gt = load_dataset("relevance-2")
        error_matrix_index = pd.MultiIndex.from_arrays([["w851", "w851", "w6991", "w6991"], [0, 1, 0, 1]], names=["worker", "label"])
        initial_error = pd.DataFrame(data=[[9, 1], [1, 9], [9, 1], [1, 9]], index=error_matrix_index, columns=[0, 1])
        ds = DawidSkene(100, initial_error_strategy="addition")
        result = ds.fit_predict(df, initial_error=initial_error)
        self.good(result, gt)

    def test_one_coin(self):
        df, gt = load_dataset("relevance-2")
        hds = OneCoinDawidSkene(100)
        result = hds.fit_predict(df)
        self.good(result, gt)

    def test_glad(self):
        df, gt = load_dataset("relevance-2")
        glad = GLAD()
        result = glad.fit_predict(df)
        self.good(result, gt)

    def test_mmsr(self):
        df, gt = load_dataset("relevance-2")
        mmsr = MMSR()
        result = mmsr.fit_predict(df)
        self.good(result, gt)

    def test_mace(self):
        df, gt = load_dataset("relevance-2")
        mace = MACE()
        result = mace.fit_predict(df)
        self.good(result, gt)

    def test_kos(self):
        df, gt = load_dataset("relevance-2")
        result = KOS(10).fit_predict(df)
        self.good(result, gt)

    def test_zero_based_skill(self):
        df, gt = load_dataset("relevance-2")
        result = ZeroBasedSkill().fit_predict(df)
        self.good(result, gt)

    def good(self, result, gt):
        self.assertGreater((result[gt.index] == gt).mean(), 0.8)
        self.assertEqual((result.name, result.index.name), ("agg_label", "task"))


class Shapes(unittest.TestCase):
    def setUp(self):
        self.frame, self.gold = shuffled_answers()

    def test_labels_and_probabilities(self):
        for cls in NINE:
            with self.subTest(cls.__name__):
                more = {"many_classes": "one_vs_rest"} if cls is KOS else {}
                fitted = cls(**more)
                self.assertIs(fitted.fit(self.frame), fitted)
                self.assertEqual((fitted.labels_.name, fitted.labels_.index.name), ("agg_label", "task"))
                self.assertEqual(list(fitted.labels_.index), sorted(set(self.frame.task)))
                self.assertEqual((fitted.probas_.index.name, fitted.probas_.columns.name), ("task", "label"))
                self.assertEqual(list(fitted.probas_.columns), ["a", "b", "c"])
                np.testing.assert_allclose(fitted.probas_.sum(axis=1), 1)
                self.assertEqual((fitted.skills_.name, fitted.skills_.index.name), ("skill", "worker"))
                self.assertEqual(list(fitted.skills_.index), sorted(set(self.frame.worker)))
                self.assertIsInstance(fitted.loss_history_, list)
                pd.testing.assert_series_equal(cls(**more).fit_predict(self.frame), fitted.labels_)
                pd.testing.assert_frame_equal(cls(**more).fit_predict_proba(self.frame), fitted.probas_)

    def test_errors(self):
        for cls in (DawidSkene, OneCoinDawidSkene):
            fitted = cls().fit(self.frame)
            self.assertEqual(list(fitted.errors_.index.names), ["worker", "label"])
            self.assertEqual(list(fitted.errors_.columns), ["a", "b", "c"])
            np.testing.assert_allclose(fitted.errors_.groupby("worker").sum(), 1)
            self.assertEqual((fitted.priors_.name, fitted.priors_.index.name), ("prior", "label"))

    def test_columns_of_errors_are_the_truth(self):
        truth = self.gold
        fitted = DawidSkene(pseudo_count=0).fit(self.frame, truth)
        joined = self.frame.join(truth, on="task")
        counts = joined.groupby(["worker", "label", "true_label"]).size().unstack(fill_value=0)
        expected = counts / counts.groupby("worker").sum()
        found = fitted.errors_.reindex(expected.index)
        np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), atol=1e-6)

    def test_glad(self):
        fitted = GLAD().fit(self.frame)
        self.assertEqual((fitted.alphas_.name, fitted.alphas_.index.name), ("alpha", "worker"))
        self.assertEqual((fitted.betas_.name, fitted.betas_.index.name), ("beta", "task"))
        np.testing.assert_allclose(np.exp(fitted.betas_), fitted.task_scores_)

    def test_mace(self):
        fitted = MACE().fit(self.frame)
        np.testing.assert_allclose(fitted.spamming_.sum(axis=1), 1)
        np.testing.assert_allclose(fitted.thetas_.sum(axis=1), 1)
        trust, guess = fitted.spamming_[:, 1], fitted.thetas_
        tables = np.swapaxes(fitted.errors_.to_numpy().reshape(-1, 3, 3), 1, 2)
        made = trust[:, None, None] * np.eye(3) + (1 - trust)[:, None, None] * guess[:, None, :]
        np.testing.assert_allclose(made, tables, atol=1e-6)

    def test_skills_of_votes_are_agreement(self):
        fitted = MajorityVote().fit(self.frame)
        right = self.frame.label.to_numpy() == fitted.labels_[self.frame.task].to_numpy()
        expected = pd.Series(right).groupby(self.frame.worker).mean()
        np.testing.assert_allclose(fitted.skills_, expected.sort_index())

    def test_predict_other_answers(self):
        for cls in (Wawa, ZeroBasedSkill, MMSR):
            fitted = cls().fit(self.frame)
            again = fitted.predict(self.frame)
            self.assertEqual(again.name, "agg_label")
            self.assertGreater((again == fitted.labels_).mean(), 0.9)
            part = self.frame[self.frame.task < "t10"]
            pd.testing.assert_series_equal(fitted.predict(part), again[again.index < "t10"])
            with self.assertRaisesRegex(ValueError, "'stranger'"):
                fitted.predict(part.replace({"worker": {"w1": "stranger"}}))

    def test_wawa_predicts_what_it_fitted(self):
        fitted = Wawa().fit(self.frame)
        pd.testing.assert_frame_equal(fitted.predict_proba(self.frame), fitted.probas_)

    def test_missing_skills(self):
        skills = pd.Series({f"w{i}": 1.0 for i in range(7)})
        with self.assertRaisesRegex(ValueError, "'w7'"):
            MajorityVote().fit(self.frame, skills)
        ignored = MajorityVote(on_missing_skill="ignore").fit(self.frame, skills)
        without = MajorityVote().fit(self.frame[self.frame.worker != "w7"])
        pd.testing.assert_frame_equal(ignored.probas_, without.probas_)
        valued = MajorityVote(1.0, "value").fit(self.frame, skills)
        pd.testing.assert_frame_equal(valued.probas_, MajorityVote().fit(self.frame).probas_)

    def test_start_from_tables(self):
        once = DawidSkene().fit(self.frame)
        again = DawidSkene(initial_error_strategy="assign").fit(self.frame, initial_error=once.errors_)
        self.assertLess(again.n_iter_, once.n_iter_)
        pd.testing.assert_series_equal(again.labels_, once.labels_)
        with self.assertRaisesRegex(ValueError, "w0"):
            DawidSkene(initial_error_strategy="assign").fit(self.frame, initial_error=once.errors_.drop("w0"))


class Names(unittest.TestCase):
    def test_other_names_of_parameters(self):
        self.assertEqual(DawidSkene(n_iter=7, tol=0.1).get_params()["max_iterations"], 7)
        self.assertEqual(DawidSkene(7, 0.1).tolerance, 0.1)
        self.assertEqual(DawidSkene(7).n_iter, 7)
        self.assertEqual(KOS(5, 3).seed, 3)
        self.assertEqual(KOS(random_state=3).seed, 3)
        self.assertEqual(MACE(n_restarts=10, method="vb").restarts, 9)
        self.assertEqual(MACE(method="em").inference, "em")
        self.assertEqual(ZeroBasedSkill(50, 0.5, 10).halve_every, 10)
        self.assertEqual(ZeroBasedSkill(eps=1e-3).tolerance, 1e-3)
        self.assertIs(GLAD(silent=False).progress, True)

    def test_what_has_no_meaning_here(self):
        with self.assertWarns(UserWarning):
            GLAD(m_step_tol=1e-3)
        with self.assertRaises(ValueError):
            GLAD(labels_priors=pd.Series({"a": 0.1, "b": 0.9}))
        with self.assertRaises(ValueError):
            ZeroBasedSkill(lr_reduce_factor=0.3)
        with self.assertRaisesRegex(TypeError, "no parameter 'n_workers'"):
            MMSR(n_workers=3)
        with self.assertRaisesRegex(TypeError, "twice"):
            DawidSkene(100, n_iter=5)

    @unittest.skipUnless(theirs, "crowd-kit is not installed")
    def test_every_parameter_of_crowd_kit_is_known(self):
        internal = {"observation_matrix", "covariation_matrix", "n_common_tasks", "n_workers", "n_tasks", "n_labels", "labels_mapping",
                    "workers_mapping", "tasks_mapping"}
        for cls in NINE:
            parameters = inspect.signature(getattr(theirs, cls.__name__)).parameters
            for name, parameter in parameters.items():
                if name not in internal:
                    with self.subTest(f"{cls.__name__}.{name}"), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        cls(**{name: parameter.default})


def of_crowd_kit(cls, frame, *arguments):
    """Its estimator, fitted. Wawa and ZeroBasedSkill of 1.4.1 fail in predict with scikit-learn 1.6 and later, so their last step,
    a vote weighted by skills, is asked for by itself."""
    fitted = getattr(theirs, cls.__name__)(*arguments).fit(frame)
    return theirs.MajorityVote().fit(frame, fitted.skills_) if cls in (Wawa, ZeroBasedSkill) else fitted


@unittest.skipUnless(theirs, "crowd-kit is not installed")
class AgainstCrowdKit(unittest.TestCase):
    def settings(self, cls):
        """The same model on both sides: no smoothing, all votes counted."""
        if cls is DawidSkene:
            return {"duplicates": "repeat"}
        return {"duplicates": "repeat"} if cls in (MajorityVote, Wawa, ZeroBasedSkill, OneCoinDawidSkene) else {}

    def test_same_labels_on_small_data(self):
        frame, _ = shuffled_answers(seed=5, tasks=200, workers=12)
        for cls in (MajorityVote, Wawa, DawidSkene, ZeroBasedSkill):
            with self.subTest(cls.__name__):
                ours = cls(**self.settings(cls)).fit(frame)
                expected = of_crowd_kit(cls, frame).labels_.sort_index()
                self.assertEqual(expected.name, ours.labels_.name)
                self.assertGreater((ours.labels_ == expected).mean(), 0.99)

    def test_same_numbers(self):
        frame, _ = shuffled_answers(seed=6, tasks=200, workers=12)
        for cls in (MajorityVote, Wawa):
            expected = of_crowd_kit(cls, frame).probas_.sort_index()
            pd.testing.assert_frame_equal(cls().fit_predict_proba(frame), expected, check_names=True)
        # The same EM, step by step. It must not stop by itself: its bound counts the class prior once per answer, so that it may fall.
        for iterations in (0, 1, 20):
            expected = theirs.DawidSkene(iterations, -1e9).fit(frame)
            ours = DawidSkene(iterations, 0).fit(frame)
            np.testing.assert_allclose(ours.probas_, expected.probas_.sort_index(), atol=1e-9)
            np.testing.assert_allclose(ours.errors_.reindex(expected.errors_.index), expected.errors_, atol=1e-9)
            np.testing.assert_allclose(ours.priors_, expected.priors_.sort_index(), atol=1e-9)

    @unittest.skipUnless(real_data_folder(), "the public data sets are not there (WISECROWD_DATA)")
    def test_same_labels_on_real_data(self):
        for name in ("bluebird", "rte", "dog"):
            answers, _ = real_set(name)
            for cls, least in ((MajorityVote, 1.0), (Wawa, 1.0), (DawidSkene, 0.99)):
                with self.subTest(f"{name} {cls.__name__}"):
                    ours = cls(**self.settings(cls)).fit_predict(answers)
                    expected = of_crowd_kit(cls, answers).labels_.sort_index()
                    self.assertGreaterEqual((ours == expected).mean(), least)


if __name__ == "__main__":
    unittest.main()
