"""Where crowd-kit has habits of its own: votes weighted by gold, masks of images, fits without iterations, empty tables, ties, refusals."""
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import pandas as pd
from frames import shuffled_answers

import wisecrowd
from wisecrowd.aggregation import (GLAD, KOS, MACE, MMSR, DawidSkene, GoldMajorityVote, MajorityVote, OneCoinDawidSkene,
                                   SegmentationMajorityVote, Wawa, ZeroBasedSkill)
from wisecrowd.aggregation.utils import evaluate, evaluate_equal, evaluate_in, factorize, get_accuracy, get_most_probable_labels, normalize_rows

ANSWERS = pd.DataFrame(
    [("q1", "ann", "x"), ("q1", "bob", "y"), ("q1", "cid", "y"), ("q2", "ann", "y"), ("q2", "bob", "y"), ("q2", "cid", "x"),
     ("q3", "ann", "x"), ("q3", "bob", "y"), ("q3", "cid", "y")], columns=["task", "worker", "label"])
NONE = pd.DataFrame([], columns=["task", "worker", "label"])


class Gold(unittest.TestCase):
    """ann is right on both gold tasks, bob on one, cid on none: 1, ½, 0."""

    def setUp(self):
        self.gold = pd.Series({"q1": "x", "q2": "y"})

    def test_judges_then_votes(self):
        made = GoldMajorityVote()
        self.assertIs(made.fit(ANSWERS, self.gold), made)
        expected = pd.Series([1.0, 0.5, 0.0], pd.Index(["ann", "bob", "cid"], name="worker"), name="skill")
        pd.testing.assert_series_equal(made.skills_, expected)
        probas = made.predict_proba(ANSWERS)
        self.assertIs(probas, made.probas_)
        np.testing.assert_allclose(probas, [[2 / 3, 1 / 3], [0, 1], [2 / 3, 1 / 3]])
        self.assertEqual((probas.index.name, probas.columns.name), ("task", "label"))
        labels = made.predict(ANSWERS)
        self.assertIs(labels, made.labels_)
        self.assertEqual(labels.to_dict(), {"q1": "x", "q2": "y", "q3": "x"})
        pd.testing.assert_series_equal(GoldMajorityVote().fit_predict(ANSWERS, self.gold), labels)
        pd.testing.assert_frame_equal(GoldMajorityVote().fit_predict_proba(ANSWERS, self.gold), probas)

    def test_predicts_other_answers(self):
        made = GoldMajorityVote().fit(ANSWERS, self.gold)
        more = pd.DataFrame([("q9", "ann", "x"), ("q9", "cid", "z")], columns=["task", "worker", "label"])
        self.assertEqual(made.predict(more).to_dict(), {"q9": "x"})
        self.assertEqual(list(made.probas_.columns), ["x", "z"])

    def test_votes_decide_gold_tasks_too(self):
        """Gold judges workers. It says nothing of the task itself, as in crowd-kit."""
        made = GoldMajorityVote().fit(ANSWERS, {"q1": "x", "q2": "x"})
        self.assertEqual(made.skills_.to_dict(), {"ann": 0.5, "bob": 0.0, "cid": 0.5})
        self.assertEqual(made.labels_["q2"], "x")
        self.assertEqual(made.probas_.loc["q2"].tolist(), [0.5, 0.5])

    def test_several_right_labels(self):
        made = GoldMajorityVote().fit(ANSWERS, pd.Series(["x", "y", "y"], index=["q1", "q1", "q2"]))
        self.assertEqual(made.skills_.to_dict(), {"ann": 1.0, "bob": 1.0, "cid": 0.5})

    def test_workers_without_gold(self):
        more = pd.concat([ANSWERS, pd.DataFrame([("q3", "dan", "z")], columns=ANSWERS.columns)])
        made = GoldMajorityVote().fit(more, self.gold)
        self.assertNotIn("dan", made.skills_.index)
        with self.assertRaisesRegex(ValueError, "'dan' has no skill.*on_missing_skill"):
            made.predict(more)
        self.assertEqual(GoldMajorityVote(on_missing_skill="ignore").fit(more, self.gold).labels_["q3"], "x")
        self.assertEqual(GoldMajorityVote(on_missing_skill="value", default_skill=9).fit(more, self.gold).labels_["q3"], "z")

    def test_refusals(self):
        with self.assertRaisesRegex(wisecrowd.NotFittedError, "fit first"):
            GoldMajorityVote().predict(ANSWERS)
        with self.assertRaisesRegex(wisecrowd.NotFittedError, "fit first"):
            GoldMajorityVote().skills_
        with self.assertRaisesRegex(ValueError, "same names"):
            GoldMajorityVote().fit(ANSWERS, {"elsewhere": "x"})
        for column in ANSWERS:
            with self.assertRaises(KeyError):
                GoldMajorityVote().fit(ANSWERS.drop(columns=column), self.gold)

    def test_nothing(self):
        self.assertTrue(GoldMajorityVote().fit_predict_proba(NONE, pd.Series(dtype=float)).empty)


class Segmentation(unittest.TestCase):
    def setUp(self):
        masks = [[[1, 1, 0, 0]], [[1, 0, 1, 0]], [[0, 0, 1, 0]]]
        self.drawn = pd.DataFrame({"task": [7, 7, 7], "worker": ["ann", "bob", "cid"], "segmentation": [np.array(m, dtype=bool) for m in masks]})

    def pixels(self, made, *arguments, **named):
        found = made.fit_predict(self.drawn, *arguments, **named)
        self.assertIs(found, made.segmentations_)
        self.assertEqual((found.name, found.index.name, list(found.index)), ("agg_segmentation", "task", [7]))
        self.assertEqual(found[7].dtype, bool)
        return found[7].astype(int).tolist()

    def test_half_of_the_weight_is_enough(self):
        self.assertEqual(self.pixels(SegmentationMajorityVote()), [[1, 0, 1, 0]])
        self.assertEqual(self.pixels(SegmentationMajorityVote(), pd.Series({"ann": 2, "bob": 1, "cid": 1})), [[1, 1, 1, 0]])
        self.assertEqual(self.pixels(SegmentationMajorityVote(), {"ann": 9, "bob": 1, "cid": 1}), [[1, 1, 0, 0]])

    def test_skills_that_are_missing(self):
        two = pd.Series({"ann": 1, "bob": 1})
        with self.assertRaisesRegex(ValueError, "'cid' has no skill"):
            SegmentationMajorityVote().fit(self.drawn, two)
        self.assertEqual(self.pixels(SegmentationMajorityVote(on_missing_skill="ignore"), two), [[1, 1, 1, 0]])
        self.assertEqual(self.pixels(SegmentationMajorityVote(5, "value"), two), [[0, 0, 1, 0]])
        with self.assertRaisesRegex(ValueError, "without a skill"):
            SegmentationMajorityVote(on_missing_skill="ignore").fit(self.drawn, pd.Series([], dtype=float))
        with self.assertRaisesRegex(ValueError, "default_skill"):
            SegmentationMajorityVote(default_skill=3).fit(self.drawn, two)

    def test_several_tasks_in_order(self):
        both = pd.concat([self.drawn, self.drawn.assign(task=2, segmentation=[np.ones((2, 2))] * 3)])
        found = SegmentationMajorityVote().fit_predict(both)
        self.assertEqual(list(found.index), [2, 7])
        self.assertEqual((found[2].shape, found[7].shape), ((2, 2), (1, 4)))

    def test_sizes_must_agree(self):
        drawn = self.drawn.assign(segmentation=[np.zeros((1, 4)), np.zeros((4, 1)), np.zeros((1, 4))])
        with self.assertRaisesRegex(ValueError, "task 7: .*one size"):
            SegmentationMajorityVote().fit(drawn)
        with self.assertRaises(KeyError):
            SegmentationMajorityVote().fit(ANSWERS)
        pd.testing.assert_series_equal(
            SegmentationMajorityVote().fit_predict(self.drawn.rename(columns={"segmentation": "area"}), columns={"area": "segmentation"}),
            SegmentationMajorityVote().fit_predict(self.drawn))


class NoIterations(unittest.TestCase):
    """n_iter=0 is where a fit begins."""

    def test_votes(self):
        frame, _ = shuffled_answers(classes=("no", "yes"))
        votes = MajorityVote().fit(frame)
        for cls in (DawidSkene, OneCoinDawidSkene, GLAD, MMSR, ZeroBasedSkill, MACE, KOS):
            with self.subTest(cls.__name__):
                begun = cls(n_iter=0).fit(frame)
                self.assertEqual((begun.n_iter_, begun.status_, begun.loss_history_), (0, "iteration_limit", []))
                pd.testing.assert_frame_equal(begun.probas_, votes.probas_)
                pd.testing.assert_series_equal(begun.labels_, votes.labels_)
                for attribute in dir(begun):
                    getattr(begun, attribute)
                with self.assertRaisesRegex(ValueError, "max_iterations"):
                    begun.report()
        self.assertTrue((GLAD(n_iter=0).fit(frame).alphas_ == 1).all())

    def test_tables_are_those_of_the_votes(self):
        """bob says y thrice; the shares of x in the votes are ⅓ each."""
        begun = DawidSkene(0).fit(ANSWERS)
        np.testing.assert_allclose(begun.priors_, [1 / 3, 2 / 3])
        np.testing.assert_allclose(begun.errors_.loc["bob"], [[0, 0], [1, 1]], atol=1e-9)
        np.testing.assert_allclose(begun.errors_.loc["ann"], [[2 / 3, 2 / 3], [1 / 3, 1 / 3]])

    def test_gold_holds(self):
        begun = DawidSkene(0).fit(ANSWERS, {"q1": "x"})
        self.assertEqual(begun.probas_.loc["q1"].tolist(), [1, 0])
        self.assertEqual(begun.labels_["q1"], "x")

    def test_known_counts_are_added(self):
        index = pd.MultiIndex.from_tuples([("ann", "x"), ("ann", "y")], names=["worker", "label"])
        known = pd.DataFrame([[2.0, 0.0], [0.0, 1.0]], index=index, columns=["x", "y"])
        begun = DawidSkene(0, initial_error_strategy="addition").fit(ANSWERS, initial_error=known)
        # Votes give ann ⅔ and ⅓ for the truth x (1 in all), 4/3 and 2/3 for the truth y.
        np.testing.assert_allclose(begun.errors_.loc["ann"], [[(2 / 3 + 2) / 3, (4 / 3) / 3], [(1 / 3) / 3, (2 / 3 + 1) / 3]])
        np.testing.assert_allclose(begun.errors_.loc["cid"], DawidSkene(0).fit(ANSWERS).errors_.loc["cid"])

    def test_given_tables_are_taken(self):
        tables = DawidSkene().fit(ANSWERS).errors_
        begun = DawidSkene(0, initial_error_strategy="assign").fit(ANSWERS, initial_error=tables)
        np.testing.assert_allclose(begun.errors_, tables, atol=1e-9)
        with self.assertRaisesRegex(ValueError, "worker 'ann'.*should be 1.0"):
            DawidSkene(initial_error_strategy="assign").fit(ANSWERS, initial_error=tables * 0.5)
        DawidSkene(initial_error_strategy="assign").fit(ANSWERS, initial_error=tables * 50)  # counts need not sum to 1


class OneStep(unittest.TestCase):
    def test_tables_follow_from_the_probabilities(self):
        frame, _ = shuffled_answers()
        once = DawidSkene(1).fit(frame)
        joined = frame.join(once.probas_, on="task")
        counts = joined.groupby(["worker", "label"])[["a", "b", "c"]].sum()
        expected = (counts / counts.groupby("worker").sum()).reindex(once.errors_.index, fill_value=0)
        np.testing.assert_allclose(once.errors_, expected, atol=1e-9)
        np.testing.assert_allclose(once.priors_, once.probas_.mean())

    def test_answers_that_tell_nothing_stay_with_the_votes(self):
        """Everybody says no once and yes twice: every worker answers alike whatever the truth is."""
        for workers in (3, 300):
            frame = pd.DataFrame([(t, w, "no" if w % 3 == t else "yes") for w in range(workers) for t in range(3)], columns=ANSWERS.columns[:3])
            fitted = DawidSkene(20).fit(frame)
            np.testing.assert_allclose(fitted.probas_["no"], 1 / 3, atol=1e-6)


class Empty(unittest.TestCase):
    def test_like_crowd_kit(self):
        fitted = DawidSkene(10).fit(NONE)
        pd.testing.assert_frame_equal(fitted.probas_, pd.DataFrame())
        pd.testing.assert_frame_equal(fitted.errors_, pd.DataFrame())
        pd.testing.assert_series_equal(fitted.priors_, pd.Series(dtype=float, name="prior"))
        pd.testing.assert_series_equal(fitted.labels_, pd.Series(dtype=float, name="agg_label"))
        pd.testing.assert_series_equal(KOS().fit(NONE).labels_, pd.Series([], dtype=object, name="agg_label"))


class Scores(unittest.TestCase):
    def test_of_mmsr(self):
        frame, _ = shuffled_answers()
        fitted = MMSR()
        scores = fitted.fit_predict_score(frame)
        self.assertIs(scores, fitted.scores_)
        np.testing.assert_allclose(scores.sum(axis=1), 1)
        weighted = frame.assign(weight=fitted.skills_[frame.worker].to_numpy()).pivot_table(
            index="task", columns="label", values="weight", aggfunc="sum", fill_value=0)
        np.testing.assert_allclose(scores, weighted.div(weighted.sum(axis=1), axis=0))
        pd.testing.assert_frame_equal(fitted.predict_score(frame), scores)

    def test_skills_are_odds(self):
        """Three who agree on everything, in two classes: the skill 1, less the error of a mean of 100 tasks."""
        frame = pd.DataFrame([(t, w, "x" if t % 2 else "y") for t in range(100) for w in "abc"], columns=ANSWERS.columns)
        np.testing.assert_allclose(MMSR().fit(frame).skills_, np.log(0.95 / 0.05), rtol=1e-6)

    def test_workers_without_a_skill_have_none(self):
        made = MajorityVote(on_missing_skill="ignore").fit(ANSWERS, pd.Series({"ann": 1.0, "bob": 1.0}))
        self.assertEqual(list(made.skills_.index), ["ann", "bob"])
        made.fit(ANSWERS)
        self.assertEqual(len(made.skills_), 3)


class Refusals(unittest.TestCase):
    def test_kos_is_for_two_classes(self):
        frame, _ = shuffled_answers()
        with self.assertRaisesRegex(ValueError, "two classes, and there are 3.*many_classes"):
            KOS().fit(frame)
        self.assertEqual(len(KOS(many_classes="one_vs_rest").fit(frame).labels_), 40)

    def test_missing_columns(self):
        for cls in (MajorityVote, Wawa, MMSR, ZeroBasedSkill, DawidSkene, GLAD, KOS, MACE, OneCoinDawidSkene):
            for column in ANSWERS:
                with self.assertRaises(KeyError):
                    cls().fit_predict(ANSWERS.drop(columns=column))


class Listed(unittest.TestCase):
    """dir() shows what can be asked for, and Series are named as their attributes are."""

    def test_after_a_fit(self):
        frame, _ = shuffled_answers()
        for cls in (MajorityVote, Wawa, MMSR, ZeroBasedSkill, DawidSkene, MACE, wisecrowd.WorkerClusters):
            fitted = cls().fit(frame)
            for name in dir(fitted):
                value = getattr(fitted, name)
                if name.endswith("_") and isinstance(value, pd.Series) and name not in ("labels_", "worker_groups_"):
                    self.assertEqual(value.name, name[:-2])
        self.assertIn("task_scores_", dir(GLAD().fit(frame)))
        self.assertNotIn("task_scores_", dir(DawidSkene().fit(frame)))

    def test_before_it(self):
        made = DawidSkene()
        self.assertNotIn("labels_", dir(made))
        self.assertIn("fit", dir(made))


class Suite(unittest.TestCase):
    """The script that runs crowd-kit's own tests counts as it should."""

    TESTS = """
from crowdkit.aggregation import {name}
def test_glad_e_step():
    {name}().no_such_thing
def test_of_ours():
    assert {name}().fit
"""

    def run_on(self, name):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "aggregation").mkdir()
            (Path(folder) / "aggregation/test_glad_x.py").write_text(self.TESTS.format(name=name))
            (Path(folder) / "aggregation/test_text_x.py").write_text("def test_else(): assert False")
            script = Path(__file__).resolve().parents[2] / "scripts/crowd_kit_suite"
            return subprocess.run([sys.executable, "-B", str(script), folder], capture_output=True, text=True)

    def test_counts(self):
        if importlib.util.find_spec("pytest") is None:
            self.skipTest("pytest is not installed")
        good = self.run_on("GLAD")
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        self.assertIn("1 of 2 cases pass (50.0%)", good.stdout)
        bad = self.run_on("NoSuchName")
        self.assertEqual(bad.returncode, 1)
        self.assertIn("fails:", bad.stdout)


class Utilities(unittest.TestCase):
    def test_all(self):
        truth = pd.Series(["x", "y"], pd.Index(["q1", "q2"], name="task")).to_frame("label")
        guess = pd.Series(["x", "x"], pd.Index(["q1", "q2"], name="task")).to_frame("label")
        self.assertEqual(evaluate(truth, guess, evaluate_func=evaluate_equal), 0.5)
        self.assertEqual(evaluate(truth.assign(label=[["x"], ["x", "y"]]), guess, evaluate_in), 1.0)
        with self.assertRaises(AssertionError):
            evaluate(truth, guess[:1], evaluate_equal)
        gold = pd.Series({"q1": "x", "q2": "y"})
        self.assertAlmostEqual(get_accuracy(ANSWERS, gold), 0.5)
        self.assertEqual(get_accuracy(ANSWERS, gold, by="worker").to_dict(), {"ann": 1.0, "bob": 0.5, "cid": 0.0})
        weighted = get_accuracy(ANSWERS.assign(weight=[1, 1, 1, 3, 1, 1, 1, 1, 1]), pd.Series({"q2": "y"}), by="task")
        self.assertEqual(weighted.to_dict(), {"q2": 0.8})
        table = pd.DataFrame([[1, 3], [2, 2]], index=["t", "u"], columns=["a", "b"])
        self.assertEqual(normalize_rows(table).loc["t"].tolist(), [0.25, 0.75])
        self.assertEqual(get_most_probable_labels(table).to_dict(), {"t": "b", "u": "a"})
        values, codes = factorize(np.array([["b", "a"], ["a", "b"]]))
        self.assertEqual((values.tolist(), codes.tolist()), (["a", "b"], [[1, 0], [0, 1]]))


if __name__ == "__main__":
    unittest.main()
