#!/usr/bin/env python3
"""Workers who do not answer independently: what the default does, --trusted and --groups."""
import csv
import json
import unittest

from program import ProgramTest


class GroupsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.run_program("simulate", "colluders", "--set", "alpha=0.4", "--tasks", "400", "--workers", "40", "--classes", "3",
                         "--answers-per-task", "15", "--out", "crowd", "--quiet")
        with open(self.folder / "crowd/workers.csv", newline="", encoding="utf-8") as file:
            self.colluders = {row["worker"] for row in csv.DictReader(file) if row["kind"] == "colluder"}

    def aggregate(self, *words):
        """The record, the rows of workers.csv, and what was printed."""
        done = self.run_program("aggregate", "crowd/answers.csv", "--gold", "crowd/gold.csv", "--gold-for", "evaluation", "--out",
                                "result", *words)
        with open(self.folder / "result/workers.csv", newline="", encoding="utf-8") as file:
            workers = list(csv.DictReader(file))
        return json.loads((self.folder / "result/run.json").read_text()), workers, " ".join((done.stdout + done.stderr).split())

    def test_the_default_counts_colluders_once_and_says_what_cannot_be_known(self):
        run, workers, text = self.aggregate()
        self.assertGreater(run["evaluation"]["accuracy"]["value"], 0.9)
        self.assertIn(f"{len(self.colluders)} workers answer as one and contradict the rest on", text)
        self.assertIn("name one as trusted: --trusted WORKER", text)
        self.assertEqual({row["worker"] for row in workers if row["group"]}, self.colluders)
        # Who counts them one by one is deceived.
        deceived, _, _ = self.aggregate("--method", "dawid_skene")
        self.assertLess(deceived["evaluation"]["accuracy"]["value"], 0.5)

    def test_a_trusted_worker_turns_it_around_and_reports_remember(self):
        trusted = min(self.colluders)
        run, _, text = self.aggregate("--trusted", trusted)
        self.assertLess(run["evaluation"]["accuracy"]["value"], 0.3)
        self.assertNotIn("name one as trusted", text)
        self.run_program("report", "result", "--out", "later.html", "--quiet")
        self.assertIn(trusted, json.dumps(run))

    def test_given_groups(self):
        lines = ["worker,group"] + [f"{worker},them" for worker in sorted(self.colluders)]
        self.write("groups.csv", "\n".join(lines) + "\n")
        run, workers, text = self.aggregate("--groups", "groups.csv", "--method", "group_dawid_skene")
        self.assertGreater(run["evaluation"]["accuracy"]["value"], 0.9)
        self.assertEqual({row["worker"] for row in workers if row["group"]}, self.colluders)
        self.assertNotIn("answer as one", text)
        self.run_program("report", "result", "--out", "later.html", "--quiet")

    def test_mistakes_are_told_and_nothing_is_written(self):
        self.write("two.csv", "worker,group\nworker_000001,a\nworker_000001,b\n")
        self.write("short.csv", "worker,group\nworker_000001\n")
        for words, code, told in (
            (("--trusted", "nobody"), 65, "'nobody' is to be trusted, but no worker of that name answered"),
            (("--groups", "two.csv"), 65, "worker 'worker_000001' is in two groups"),
            (("--groups", "short.csv"), 65, "short.csv:2: the line has 1 field"),
            (("--groups", "none.csv"), 66, "none.csv"),
        ):
            done = self.run_program("aggregate", "crowd/answers.csv", "--out", "nothing", *words, code=code)
            self.assertIn(told, " ".join(done.stderr.split()))
            self.assertFalse((self.folder / "nothing").exists())
        done = self.run_program("aggregate", "crowd/answers.csv", "--answers", "numbers", "--trusted", "x", code=64)
        self.assertIn("--trusted", done.stderr)


if __name__ == "__main__":
    unittest.main()
