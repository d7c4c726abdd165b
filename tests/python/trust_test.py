"""Whom to trust: the tables of the command line as data frames."""
import json
import os
import tempfile
import unittest

import pandas as pd
import wisecrowd


def crowd(kind="hammer_spammer", **options):
    return wisecrowd.simulate(kind, **{"tasks": 300, "workers": 20, "answers_per_task": 6, "seed": 1, **options})


class TrustTest(unittest.TestCase):
    def test_tables(self):
        made = crowd()
        found = wisecrowd.trust(made.answers)
        self.assertEqual(list(found.workers.index), sorted(set(made.answers["worker"])))
        self.assertEqual(set(found.workers["advice"]) - {"unsure"}, {"keep", "stop"})
        for column in ("reason", "effect", "labels_without", "spammer_score_low", "p_spammer", "capacity_bits", "group", "drift"):
            self.assertIn(column, found.workers)
        for table in (found.pairs, found.groups, found.alarms, found.attacked_tasks):
            self.assertIsInstance(table, pd.DataFrame)
        self.assertIn("workers: keep", str(found))
        self.assertTrue(any("no time column" in limit for limit in found.cannot_be_known))

    def test_times(self):
        """Numbers, dates and texts of dates are the same order; rows without a label have no time."""
        answers = crowd(tasks=600).answers.sample(frac=1, random_state=1).reset_index(drop=True)
        answers["when"] = range(len(answers))
        by_number = wisecrowd.trust(answers, time="when")
        stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(answers["when"], unit="min")
        for time in (stamps, stamps.astype(str).tolist(), answers["when"].to_numpy()):
            pd.testing.assert_frame_equal(wisecrowd.trust(answers, time=time).workers, by_number.workers)
        answers.loc[3, "label"] = None
        with self.assertWarns(wisecrowd.DataWarning):
            wisecrowd.trust(answers, time="when")

    def test_tired_workers(self):
        """A crowd that changes with time comes with its times, whatever the order of the rows."""
        made = crowd("drift", tasks=600, workers=20, answers_per_task=10, after=150, accuracy=0.9)
        answers = made.answers.sample(frac=1, random_state=1)
        self.assertEqual(sorted(answers["time"]), list(range(1, len(answers) + 1)))
        alarms = wisecrowd.trust(answers, time="time").alarms
        tired = set(made.workers.index[made.workers["kind"] != "honest"])
        self.assertGreaterEqual(len(tired & set(alarms["worker"])), len(tired) - 1)
        self.assertNotIn("time", crowd().answers)

    def test_refusals(self):
        answers = crowd().answers
        for options, words in (({"time": "when"}, "no column 'when'"), ({"trusted": "nobody"}, "nobody"), ({"time": [1, 2]}, "do not fit"),
                               ({"time": ["noon"] * len(answers)}, "numbers or dates"), ({"time": [None] * len(answers)}, "is missing")):
            with self.assertRaisesRegex(ValueError, words):
                wisecrowd.trust(answers, **options)
        with self.assertRaises(ValueError):
            wisecrowd.trust(answers.head(0))

    def test_report(self):
        """The page says what the tables say."""
        made = crowd("colluders", workers=30, tasks=400, answers_per_task=12)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trust.json")
            found = wisecrowd.trust(made.answers, report=path)
            with open(path) as file:
                page = json.load(file)
        self.assertEqual(dict(zip(page["workers"]["name"], page["workers"]["advice"])), found.workers["advice"].to_dict())
        drawn = page["trust"]["picture"]
        self.assertEqual([group["workers"] for group in drawn["groups"]], list(found.groups["workers"]))
        self.assertEqual(drawn["pairs"], len(found.pairs))
        self.assertEqual(page["trust"]["timelines"]["order"], "rows")

    def test_trusted_and_gold(self):
        made = crowd("colluders", workers=30, tasks=400, answers_per_task=12)
        found = wisecrowd.trust(made.answers)
        self.assertEqual(list(found.groups["kind"]), ["colluders"])
        self.assertGreater(len(found.attacked_tasks), 0)
        colluders = found.workers.index[found.workers["collusion_set"] == "1"]
        self.assertTrue((found.workers.loc[colluders, "advice"] == "stop").all())
        turned = wisecrowd.trust(made.answers, trusted=colluders[0])
        self.assertFalse(any("name one as trusted" in limit for limit in turned.cannot_be_known))
        self.assertEqual(list(wisecrowd.trust(made.answers, gold=made.gold).workers.index), list(found.workers.index))


if __name__ == "__main__":
    unittest.main()
