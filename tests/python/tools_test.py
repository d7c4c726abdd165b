"""describe, evaluate, compare, simulate, methods; and every example in a docstring."""
import doctest
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from frames import shuffled_answers

import wisecrowd
from wisecrowd import aggregation, learning, tools

ROOT = Path(__file__).resolve().parents[2]


class Describe(unittest.TestCase):
    def test_counts(self):
        frame, _ = shuffled_answers()
        found = wisecrowd.describe(frame)
        self.assertEqual((found.tasks, found.workers, found.classes, found.answers), (40, 8, 3, 200))
        self.assertEqual(found.answers_per_class.to_dict(), frame.label.value_counts().sort_index().to_dict())
        self.assertIn("200 answers by 8 workers", str(found))

    def test_warnings(self):
        found = wisecrowd.describe({"task": [1, 2], "worker": ["a", "b"], "label": ["x", "y"]})
        self.assertTrue(found.warnings)


class Defects(unittest.TestCase):
    def test_planted_wrong_gold_is_listed(self):
        crowd = wisecrowd.simulate("one_coin_beta", tasks=200, workers=20, classes=3, answers_per_task=9, seed=3, a=8, b=2)
        gold = crowd.gold.copy()
        self.assertLess(len(wisecrowd.describe(crowd.answers, gold=gold).suspect_gold), 6)
        planted = list(gold.index[::20])
        names = sorted(gold.unique())
        gold[planted] = [names[(names.index(label) + 1) % 3] for label in gold[planted]]
        found = wisecrowd.describe(crowd.answers, gold=gold)
        self.assertGreaterEqual(len(set(planted) & set(found.suspect_gold.index)), 6)
        self.assertTrue((found.suspect_gold.gold == gold[found.suspect_gold.index]).all())
        self.assertTrue((found.suspect_gold.gold_wrong >= 0.8).all())
        self.assertGreater(found.expected_wrong_gold, 5)
        self.assertIn("labels look wrong", str(found))

    def test_contradicting_repeats_are_named(self):
        frame = pd.DataFrame({"task": [1, 1, 2, 2], "worker": ["a", "a", "a", "b"], "label": ["x", "y", "x", "x"]})
        for duplicates in ("keep_last", "repeat"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = wisecrowd.describe(frame, duplicates=duplicates)
            self.assertEqual(found.contradictions.values.tolist(), [[1, "a", ["x", "y"]]])
        self.assertEqual(len(wisecrowd.describe(frame[1:]).contradictions), 0)
        self.assertIsNone(found.suspect_gold)

    def test_twin_tasks(self):
        frame = pd.DataFrame({"task": ["a", "b", "c"], "worker": "w", "label": ["x", "y", "x"]})
        features = pd.DataFrame([[1, 2], [1, 2], [3, 4]], index=["a", "b", "c"])
        found = wisecrowd.describe(frame, features=features)
        self.assertEqual(found.twin_tasks.values.tolist(), [[["a", "b"], True]])
        self.assertFalse(wisecrowd.describe(frame, features=features, gold={"a": "x", "b": "x"}).twin_tasks.contradict[0])
        with self.assertRaises(ValueError):
            wisecrowd.describe(frame, features=features.reset_index(drop=True))


class Evaluate(unittest.TestCase):
    def test_like_by_hand(self):
        gold = pd.Series({1: "a", 2: "b", 3: "a", 4: "b", 9: "a"})
        labels = pd.Series({1: "a", 2: "b", 3: "b", 4: None, 5: "a"})
        score = wisecrowd.evaluate(labels, gold)
        self.assertEqual((score.tasks, score.abstained), (3, 2))
        self.assertAlmostEqual(score.accuracy, 2 / 3)
        with self.assertRaises(AttributeError):
            score.brier  # noqa: B018

    def test_probabilities(self):
        gold = pd.Series({"x": 0, "y": 1})
        probas = pd.DataFrame({0: [0.9, 0.2], 1: [0.1, 0.8]}, index=["x", "y"])
        score = wisecrowd.evaluate(pd.Series({"x": 0, "y": 1}), gold, probas)
        self.assertAlmostEqual(score.log_loss, -(np.log(0.9) + np.log(0.8)) / 2)
        self.assertAlmostEqual(score.brier, (2 * 0.1**2 + 2 * 0.2**2) / 2)

    def test_nothing_in_common(self):
        with self.assertRaisesRegex(ValueError, "same names"):
            wisecrowd.evaluate(pd.Series({"1": "a"}), pd.Series({1: "a"}))


class Compare(unittest.TestCase):
    def test_with_gold(self):
        frame, gold = shuffled_answers(tasks=100)
        table = wisecrowd.compare(frame, gold, methods=["majority_vote", wisecrowd.DawidSkene(5), "KOS", "sml"])
        self.assertEqual(sorted(table.index), ["dawid_skene", "kos", "majority_vote", "sml"])
        expected = (wisecrowd.MajorityVote().fit_predict(frame) == gold).mean()
        self.assertAlmostEqual(table.loc["majority_vote", "accuracy"], expected)
        self.assertTrue(table.loc["sml", "refusal"])  # it is for two classes

    def test_ties_count_as_the_method_says(self):
        frame = pd.DataFrame({"task": [1, 1, 2, 2], "worker": ["a", "b", "a", "b"], "label": ["x", "y", "x", "x"]})
        for rule, accuracy in (("lowest", 0.5), ("highest", 1), ("fractional", 0.75)):
            table = wisecrowd.compare(frame, pd.Series({1: "y", 2: "x"}), methods=[wisecrowd.MajorityVote(ties=rule)])
            self.assertAlmostEqual(table.loc["majority_vote", "accuracy"], accuracy)

    def test_without_gold(self):
        frame, _ = shuffled_answers(tasks=100)
        table = wisecrowd.compare(frame, methods=["majority_vote", "dawid_skene"], folds=2)
        self.assertEqual(table["behind_best"].iloc[0], 0)
        self.assertTrue(table["log_probability"].is_monotonic_decreasing)
        with self.assertRaisesRegex(ValueError, "product"):
            wisecrowd.compare(frame, folds=20)
        with self.assertRaisesRegex(ValueError, "no method 'nonsense'"):
            wisecrowd.compare(frame, methods=["nonsense"])


class Calibration(unittest.TestCase):
    def test_bins(self):
        """Ten labels at .95, of which nine are right, and four at .5, of which two are: by hand."""
        labels = pd.Series(["a"] * 14, index=range(14))
        gold = pd.Series(["a"] * 9 + ["b"] + ["a", "a", "b", "b"], index=range(14))
        probas = pd.DataFrame({"a": [0.95] * 10 + [0.5] * 4, "b": [0.05] * 10 + [0.5] * 4})
        score = wisecrowd.evaluate(labels, gold, probas)
        bins = score.calibration
        self.assertEqual(list(bins.columns), ["tasks", "probability", "accuracy", "low", "high"])
        self.assertEqual(bins["tasks"].tolist(), [4, 10])
        np.testing.assert_allclose(bins["probability"], [0.5, 0.95])
        np.testing.assert_allclose(bins["accuracy"], [0.5, 0.9])
        self.assertIn(0.95, bins.index[1])
        np.testing.assert_allclose((bins["tasks"] * (bins["accuracy"] - bins["probability"]).abs()).sum() / 14, score.ece)
        # Wilson: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)
        z, n, p = 1.959963984540054, 10, 0.9
        middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        np.testing.assert_allclose(bins[["low", "high"]].iloc[1], [(middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)])
        self.assertEqual(len(wisecrowd.evaluate(labels, gold).calibration), 0)

    def test_sure_ones_are_not_all_sure(self):
        """All right at probability 1: the interval still allows for some that are not."""
        probas = pd.DataFrame({"a": [1.0] * 30, "b": [0.0] * 30})
        bins = wisecrowd.evaluate({t: "a" for t in range(30)}, {t: "a" for t in range(30)}, probas).calibration
        self.assertEqual((len(bins), bins["accuracy"].iloc[0]), (1, 1.0))
        self.assertLess(bins["low"].iloc[0], 0.9)
        self.assertEqual(bins["high"].iloc[0], 1.0)


class Shown(unittest.TestCase):
    def test_results_print_as_words(self):
        crowd = wisecrowd.simulate("dawid_skene", tasks=60, workers=8, answers_per_task=4, seed=1)
        self.assertEqual(repr(crowd), "Simulation(240 answers by 8 workers to 60 tasks, 2 classes)")
        self.assertIn("240 answers by 8 workers", repr(wisecrowd.describe(crowd.answers)))
        self.assertIn("accuracy", repr(wisecrowd.evaluate(wisecrowd.MajorityVote().fit(crowd.answers), crowd.gold)))
        self.assertIn("deserve another answer", repr(wisecrowd.advise(crowd.answers)))


class ComparedClasses(unittest.TestCase):
    def test_classes_that_nobody_said(self):
        crowd = wisecrowd.simulate("dawid_skene", tasks=60, workers=8, classes=2, answers_per_task=4, seed=1)
        classes = [*sorted(crowd.gold.unique()), "never"]
        for more in ({"gold": crowd.gold}, {}):
            self.assertEqual(list(wisecrowd.compare(crowd.answers, methods=["dawid_skene"], classes=classes, **more)["refusal"]), [""])
            with self.assertRaisesRegex(ValueError, "is not one of the classes"):
                wisecrowd.compare(crowd.answers, methods=["dawid_skene"], classes=["never"], **more)


class CompareLearners(unittest.TestCase):
    def test_by_hidden_answers_and_by_gold(self):
        crowd = wisecrowd.simulate("dawid_skene", tasks=300, workers=20, gaussian_features=2.0, seed=3)
        table = wisecrowd.compare(crowd.answers, crowd.gold, features=crowd.features, methods=["two_stage", wisecrowd.CCEM(epochs=3)])
        self.assertEqual(set(table.index), {"two_stage", "ccem"})
        self.assertTrue(table.log_probability.dropna().is_monotonic_decreasing)
        self.assertEqual(table.loc["ccem", "epochs"], 3)
        self.assertTrue(((table.low <= table.accuracy) & (table.accuracy <= table.high)).all())
        self.assertNotIn("accuracy", wisecrowd.compare(crowd.answers, features=crowd.features, methods=[wisecrowd.CCEM(epochs=2)]))
        with self.assertRaisesRegex(ValueError, "does not learn from features"):
            wisecrowd.compare(crowd.answers, features=crowd.features, methods=[wisecrowd.DawidSkene()])


class Simulate(unittest.TestCase):
    def test_same_seed_same_crowd(self):
        one, two = (wisecrowd.simulate("hammer_spammer", tasks=50, workers=9, seed=4) for _ in range(2))
        pd.testing.assert_frame_equal(one.answers, two.answers)
        self.assertEqual(len(one.workers), 9)
        self.assertFalse(one.answers.equals(wisecrowd.simulate("hammer_spammer", tasks=50, workers=9, seed=5).answers))

    def test_tables_are_the_true_ones(self):
        crowd = wisecrowd.simulate("dawid_skene", tasks=4000, workers=3, classes=2, answers_per_task=3, seed=1)
        joined = crowd.answers.join(crowd.gold, on="task")
        counts = joined.groupby(["worker", "label", "true_label"]).size().unstack()
        np.testing.assert_allclose(counts / counts.groupby("worker").sum(), crowd.errors, atol=0.05)

    def test_every_kind_is_listed(self):
        kinds = wisecrowd.simulation_kinds()
        self.assertIn("hammer_spammer", kinds.index)
        with self.assertRaisesRegex(ValueError, "hammer_spammer"):
            wisecrowd.simulate("nonsense")
        with self.assertRaisesRegex(ValueError, "nonsense"):
            wisecrowd.simulate("hammer_spammer", nonsense=3)
        with self.assertRaisesRegex(ValueError, "tasks=-1"):
            wisecrowd.simulate("hammer_spammer", tasks=-1)


class Methods(unittest.TestCase):
    def test_table(self):
        table = wisecrowd.methods()
        self.assertEqual(len(table), len(aggregation.CLASSES) + len(learning.CLASSES))
        self.assertTrue(all(hasattr(wisecrowd, name) for name in table.estimator))
        self.assertEqual(len(wisecrowd.methods(features=False)), len(aggregation.CLASSES))


class Documentation(unittest.TestCase):
    def test_examples_in_docstrings(self):
        for module in (wisecrowd, aggregation, tools):
            with self.subTest(module.__name__):
                found = doctest.testmod(module)
                self.assertGreater(found.attempted, 0)
                self.assertEqual(found.failed, 0)

    def test_examples_of_learners(self):
        found = doctest.testmod(learning)
        self.assertGreater(found.attempted, len(learning.CLASSES))
        self.assertEqual(found.failed, 0)

    def test_stubs_are_current(self):
        run = subprocess.run([sys.executable, ROOT / "scripts/python_stubs.py", "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
