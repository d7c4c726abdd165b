#!/usr/bin/env python3
"""Crowds without spammers, copies or colluders, from the command line."""
import csv
import json
import os
import unittest
from pathlib import Path

from program import ProgramTest

BIRDS = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data")) / "aggregate/bluebird"


class WithoutTest(ProgramTest):
    def rows(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def crowd(self, kind, *settings, tasks=400, workers=30, classes=3, answers_per_task=15, more=()):
        words = [word for setting in settings for word in ("--set", setting)]
        self.run_program("simulate", kind, *words, "--tasks", str(tasks), "--workers", str(workers), "--classes", str(classes),
                         "--answers-per-task", str(answers_per_task), *more, "--out", "crowd", "--quiet")
        return {row["worker"]: row["kind"] for row in self.rows("crowd/workers.csv")}

    def test_spammers_are_left_out_and_listed(self):
        kinds = self.crowd("hammer_spammer", "gamma=0.5")
        done = self.run_program("aggregate", "crowd/answers.csv", "--without", "spammers", "-m", "dawid_skene", "--out", "result")
        planted = {worker for worker, kind in kinds.items() if kind == "spammer"}
        rows = self.rows("result/workers.csv")
        self.assertEqual({row["worker"] for row in rows}, set(kinds), "all workers stay in the files")
        self.assertEqual({row["worker"] for row in rows if row["left_out"] == "spammer"}, planted)
        self.assertEqual({row["left_out"] for row in rows}, {"", "spammer"})
        for row in rows:  # those left out are described by what they said
            if row["left_out"]:
                self.assertLess(float(row["accuracy"]), 0.6)
                self.assertLess(float(row["informativeness"]), 0.2)
        record = json.loads((self.folder / "result/run.json").read_text())
        self.assertEqual(record["without"]["asked"], "spammers")
        self.assertEqual({worker["worker"] for worker in record["without"]["workers"]}, planted)
        self.assertTrue(all(worker["why"] and worker["reason"] == "spammer" for worker in record["without"]["workers"]))
        self.assertIn("left out", done.stdout + done.stderr)
        self.assertNotIn("gave no answer", done.stdout + done.stderr)
        self.assertEqual(self.run_program("report", "result", "--out", "page.html").returncode, 0)

    def test_colluders_and_copies(self):
        kinds = self.crowd("colluders", "alpha=0.4", "p_corr=0.9", "level=3", workers=40, tasks=600, answers_per_task=12)
        self.run_program("aggregate", "crowd/answers.csv", "--without", "colluders,copies", "-m", "majority_vote", "--out", "result")
        left = {row["worker"]: row["left_out"] for row in self.rows("result/workers.csv")}
        self.assertEqual({worker for worker, reason in left.items() if reason}, {w for w, kind in kinds.items() if kind == "colluder"})
        labels = {row["task"]: row["label"] for row in self.rows("result/labels.csv")}
        gold = {row["task"]: row["label"] for row in self.rows("crowd/gold.csv")}
        self.assertGreater(sum(labels[task] == truth for task, truth in gold.items()) / len(gold), 0.9)
        # Read back, they are still left out: nobody is said to collude whom the method did not hear.
        self.run_program("report", "result", "--out", "page.json")
        self.assertNotIn("picture", json.loads((self.folder / "page.json").read_text())["trust"])

    def test_nobody_is_left_out_of_an_even_crowd(self):
        self.crowd("one_coin_beta", "a=80", "b=20")
        self.run_program("aggregate", "crowd/answers.csv", "-m", "dawid_skene", "--out", "plain")
        self.run_program("aggregate", "crowd/answers.csv", "-m", "dawid_skene", "--without", "spammers,copies,colluders", "--out", "clean")
        for name in ("labels.csv", "workers.csv", "confusion.csv"):
            self.assertEqual((self.folder / "plain" / name).read_bytes(), (self.folder / "clean" / name).read_bytes(), name)
        self.assertEqual(json.loads((self.folder / "clean/run.json").read_text())["without"]["workers"], [])

    def test_compare_and_learn(self):
        self.crowd("hammer_spammer", "gamma=0.4", tasks=200, more=("--gaussian-features", "1.5"))
        done = self.run_program("compare", "crowd/answers.csv", "--gold", "crowd/gold.csv", "-m", "majority_vote,dawid_skene",
                                "--without", "spammers")
        self.assertIn("left out", done.stdout + done.stderr)
        self.run_program("learn", "crowd/answers.csv", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "--method", "two_stage",
                         "--model", "linear", "--set", "epochs=3", "--without", "spammers", "--out", "learned")
        self.assertIn("spammer", {row["left_out"] for row in self.rows("learned/workers.csv")})

    def test_reliability_of_answers_stays(self):
        self.crowd("hammer_spammer", "gamma=0.4", tasks=200, more=("--gaussian-features", "1.5"))
        self.run_program("learn", "crowd/answers.csv", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "--method", "dalc",
                         "--model", "linear", "--set", "epochs=3", "--without", "spammers", "--out", "learned")
        left_out = {row["worker"] for row in self.rows("learned/workers.csv") if row["left_out"]}
        self.assertTrue(left_out)
        kept = sum(worker["kept"] for worker in json.loads((self.folder / "learned/run.json").read_text())["without"]["workers"])
        self.assertEqual(kept, 0)
        reliability = self.rows("learned/reliability.csv")
        self.assertEqual(len(reliability), len(self.rows("crowd/answers.csv")))
        self.assertEqual({row["worker"] for row in reliability if row["reliability"] == ""}, left_out)
        self.assertTrue(all((row["reliability"] == "") == (row["worker"] in left_out) for row in reliability))

    def test_refusals(self):
        self.crowd("hammer_spammer", tasks=20)
        done = self.run_program("aggregate", "crowd/answers.csv", "--without", "spamers", code=64)
        self.assertIn("spammers, copies and colluders", done.stderr)

    @unittest.skipUnless(BIRDS.exists(), "the real data sets are not at hand; set WISECROWD_DATA to their folder")
    def test_bluebird_as_published(self):
        for method, accuracy in (("majority_vote", 0.8519), ("dawid_skene", 0.8981)):
            done = self.run_program("aggregate", str(BIRDS / "labels.csv"), "--gold", str(BIRDS / "gold.csv"), "--gold-for", "evaluation",
                                    "--method", method, "--without", "spammers", "--json")
            found = json.loads(done.stdout)
            self.assertEqual(len(found["without"]["workers"]), 22)
            self.assertAlmostEqual(found["evaluation"]["accuracy"]["value"], accuracy, 4)


if __name__ == "__main__":
    unittest.main()
