"""wisecrowd.fairness: the figures of the command line, as tables."""
import csv
import doctest
import os
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import pandas as pd

import wisecrowd
from wisecrowd import fairness

PROGRAM = os.environ.get("WISECROWD_PROGRAM")


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fairness.study(*arguments, **options)


class Study(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crowd = wisecrowd.simulate("group_bias", tasks=600, workers=20, bias=0.6, seed=3)

    def test_planted_workers_and_tables(self):
        found = quietly(self.crowd.answers, self.crowd.groups, gold=self.crowd.gold)
        planted = self.crowd.workers.index[self.crowd.workers["kind"] == "biased"]
        self.assertEqual(sorted(found.biased), sorted(planted))
        self.assertEqual(set(found.gaps["labels"]), {"answers", "labels", "labels_by_group"})
        self.assertEqual(found.reference, "group_1")
        self.assertTrue((found.gaps["low"] <= found.gaps["gap"]).all())
        self.assertIn("false_positive_gap_low", found.workers.columns)
        parity = found.groups[(found.groups["labels"] == "labels") & (found.groups["measure"] == "demographic_parity")].set_index("group")
        labels = wisecrowd.Automatic().fit_predict(self.crowd.answers)
        for group in ("group_1", "group_2"):
            self.assertAlmostEqual(parity.loc[group, "rate"], (labels[self.crowd.groups == group] == "1").mean(), places=9)
        self.assertIn("workers treat groups", repr(found))

    @unittest.skipUnless(PROGRAM, "the program is not at hand")
    def test_the_command_line_says_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            self.crowd.answers.to_csv(folder / "answers.csv", index=False)
            self.crowd.groups.to_csv(folder / "tasks.csv")
            subprocess.run([PROGRAM, "fairness", "answers.csv", "--tasks", "tasks.csv", "--group", "group", "--limit-gap", "0.02", "--out", "fair",
                            "--quiet"], cwd=folder, check=True, capture_output=True)
            with open(folder / "fair/gaps.csv", newline="") as file:
                theirs = list(csv.DictReader(file))
        ours = quietly(self.crowd.answers, self.crowd.groups, limit_gap=0.02).gaps
        self.assertEqual(len(ours), len(theirs))
        for (_, mine), row in zip(ours.iterrows(), theirs):
            self.assertEqual((mine["labels"], mine["measure"], mine["highest"]), (row["labels"], row["measure"], row["highest"]))
            for name in ("gap", "low", "high"):
                self.assertAlmostEqual(mine[name], float(row[name]), places=4)

    def test_limits_and_options(self):
        found = quietly(self.crowd.answers, self.crowd.groups, limit_gap=0.0, kappa="auto", shared_prior=True, method="majority_vote")
        self.assertLess(found.limited["gap"], 0.01)
        self.assertIn("limited", found.labels.columns)
        self.assertIn(found.kappa, (5, 10, 20, 50))
        other = quietly(self.crowd.answers, self.crowd.groups, reference="group_2", positive="0")
        self.assertEqual(set(other.workers["group"]), {"group_1"})
        self.assertEqual(set(other.gaps["positive"]), {"0"})

    def test_groups_in_any_shape(self):
        series = self.crowd.groups
        table = series.rename("site").reset_index()
        expected = quietly(self.crowd.answers, series).gaps
        for groups, group in ((series.to_dict(), None), (table, "site"), (table.set_index("task"), "site")):
            pd.testing.assert_frame_equal(quietly(self.crowd.answers, groups, group=group).gaps, expected)
        numbers = series.map({"group_1": 1, "group_2": 2})
        self.assertEqual(quietly(self.crowd.answers, numbers).reference, 1)
        blank = series.where(series.index != series.index[0], " ")
        self.assertIsNone(quietly(self.crowd.answers, blank).labels["group"].iloc[0])

    def test_what_is_wrong_is_said(self):
        answers, groups = self.crowd.answers, self.crowd.groups
        with self.assertWarnsRegex(wisecrowd.DataWarning, "cannot be known"):
            fairness.study(answers, groups)
        with self.assertRaisesRegex(ValueError, "occurs among the answers"):
            fairness.study(answers, {"x": "a", "y": "b"})
        with self.assertRaisesRegex(ValueError, "positive="):
            fairness.study(answers, groups, positive="2")
        with self.assertRaisesRegex(ValueError, "several groups"):
            fairness.study(answers, pd.Series(["a", "b"], index=["t", "t"]))
        with self.assertRaisesRegex(wisecrowd.ColumnError, "there is no column 'race'"):
            fairness.study(answers, groups.reset_index(), group="race")
        with self.assertRaisesRegex(ValueError, "limit_gap"):
            fairness.study(answers, groups, limit_gap=2)
        with self.assertRaisesRegex(ValueError, "no task has one"):
            fairness.study(answers, pd.Series([None], index=["t"], dtype=object))


class Assigning(unittest.TestCase):
    def test_plans_keep_limits_and_capacities(self):
        crowd = wisecrowd.simulate("group_bias", tasks=300, workers=20, seed=1)
        found = quietly(crowd.answers, crowd.groups, gold=crowd.gold)
        new = pd.Series({"a": "group_1", "b": "group_2", "c": "group_2"})
        plan = fairness.assign(found, new, answers_per_task=4, capacity=2)
        self.assertEqual(len(plan.answers), 12)
        self.assertLessEqual(plan.answers["worker"].value_counts().max(), 2)
        self.assertFalse(plan.answers.duplicated(["task", "worker"]).any())
        with self.assertRaisesRegex(ValueError, "answers are needed"):
            fairness.assign(found, crowd.groups, answers_per_task=20, capacity=1)
        with self.assertRaisesRegex(ValueError, "nothing is known of 'group_9'"):
            fairness.assign(found, {"a": "group_9"})

    def test_training_effect(self):
        crowd = wisecrowd.simulate("group_bias", tasks=300, workers=20, gaussian_features=1.3, seed=1)
        found = quietly(crowd.answers, crowd.groups, gold=crowd.gold)
        effect = fairness.training_effect(crowd.features, found, crowd.gold)
        self.assertEqual(effect["tasks"], 300)
        self.assertGreater(effect["accuracy_by_truth"], 0.8)
        self.assertAlmostEqual(effect["delta_accuracy"], effect["accuracy_by_labels"] - effect["accuracy_by_truth"])
        # Labels that are the truth change nothing; a group of one task is no gap.
        found.labels["label"] = crowd.gold
        same = fairness.training_effect(crowd.features, found, crowd.gold)
        self.assertEqual((same["delta_accuracy"], same["delta_parity"]), (0, 0))
        groups = crowd.groups.where(crowd.groups.index != crowd.groups.index[0], "alone")
        self.assertLess(fairness.training_effect(crowd.features, quietly(crowd.answers, groups), crowd.gold)["parity_by_truth"], 0.3)


def load_tests(loader, tests, ignore):
    tests.addTests(doctest.DocTestSuite(fairness))
    return tests


if __name__ == "__main__":
    unittest.main()
