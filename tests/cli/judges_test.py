#!/usr/bin/env python3
"""Judges from the command line: people and machines in one crowd, files, odd inputs, refusals, the worked example."""
import csv
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from program import ProgramTest, environment

ROOT = Path(__file__).resolve().parents[2]
LLMFAO = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data")) / "pairwise/llmfao"


class JudgesTest(ProgramTest):
    def rows(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def crowd(self, tasks=300):
        self.run_program("simulate", "dawid_skene", "--tasks", str(tasks), "--workers", "8", "--out", "crowd", "--quiet")
        return "worker_000005,worker_000006,worker_000007"


class Everyday(JudgesTest):
    def test_files_and_screen_agree(self):
        machines = self.crowd()
        done = self.run_program("judges", "crowd/answers.csv", "--machines", machines, "--next", "5", "--out", "judged")
        self.assertEqual(self.names("judged"), ["biases.csv", "judges.csv", "labels.csv", "next.csv", "prevalence.csv", "run.json"])
        self.assertTrue(all(len(line) <= 100 for line in done.stdout.splitlines()), done.stdout)
        judges = {row["worker"]: row for row in self.rows("judged/judges.csv")}
        self.assertEqual({name for name, row in judges.items() if row["kind"] == "machine"}, set(machines.split(",")))
        for name in machines.split(","):
            self.assertLess(float(judges[name]["against_people_low"]), float(judges[name]["against_people"]))
            self.assertIn(name, done.stdout)
        self.assertEqual(len(self.rows("judged/next.csv")), 5)
        labels = self.rows("judged/labels.csv")
        gold = {row["task"]: list(row.values())[1] for row in self.rows("crowd/gold.csv")}
        self.assertGreater(sum(gold[row["task"]] == row["label"] for row in labels) / len(labels), 0.8)
        record = json.loads((self.folder / "judged/run.json").read_text())
        self.assertEqual((record["kind"], record["data"]["machines"]), ("judges", 3))
        shown = json.loads(self.run_program("judges", "crowd/answers.csv", "--machines", machines, "--json").stdout)
        self.assertEqual(shown["judges"], record["judges"])
        # A second time to the same place, by one thread: the same bytes.
        before = (self.folder / "judged/judges.csv").read_bytes()
        self.run_program("judges", "crowd/answers.csv", "--machines", machines, "--next", "5", "--threads", "1", "--out", "judged")
        self.assertEqual((self.folder / "judged/judges.csv").read_bytes(), before)
        # Its folder is no result of aggregate.
        self.assertIn("look at judges", self.run_program("report", "judged", code=65).stderr)

    def test_comparisons_leave_a_leaderboard_and_preferences(self):
        lines = ["question,worker,kind,left,right,label"]
        for q in range(40):
            left, right = ("good", "bad") if q % 2 else ("bad", "good")
            for worker, kind in (("ann", "human"), ("gpt", "machine"), ("zed", "machine")):
                winner = "bad" if (q * 7 + len(worker)) % 5 == 0 else "tie" if q % 9 == 0 else "good"
                lines.append(f"q{q},{worker},{kind},{left},{right},{winner}")
        self.write("duels.csv", "\n".join(lines) + "\n")
        done = self.run_program("judges", "duels.csv", "--out", "judged")
        board = [row for row in self.rows("judged/leaderboard.csv") if row["by"] == "everybody"]
        self.assertEqual([row["item"] for row in board], ["good", "bad"])
        self.assertEqual(board[0]["rank_low"], "1")
        pairs = [json.loads(line) for line in (self.folder / "judged/preferences.jsonl").read_text().splitlines()]
        self.assertEqual(set(pairs[0]), {"prompt", "chosen", "rejected", "probability", "margin", "weight"})
        self.assertIn("good", done.stdout)

    def test_probabilities_are_calibrated(self):
        lines = ["task,worker,kind,label,p_yes,p_no"]
        for t in range(120):
            truth = t % 2
            for worker in ("ann", "bob"):
                lines.append(f"t{t},{worker},human,{'yes' if truth else 'no'},,")
            right = t % 4 != 0  # sure of itself, and wrong in every fourth task
            p = 0.999 if bool(truth) == right else 0.001
            lines.append(f"t{t},gpt,machine,,{p},{1 - p:.3f}")
        self.write("soft.csv", "\n".join(lines) + "\n")
        self.run_program("judges", "soft.csv", "--out", "judged")
        judge = {row["worker"]: row for row in self.rows("judged/judges.csv")}["gpt"]
        self.assertGreater(float(judge["temperature"]), 2)
        self.assertLess(float(judge["calibrated_log_loss"]), float(judge["log_loss"]))
        self.assertTrue(self.rows("judged/calibration.csv"))


class Refusals(JudgesTest):
    def test_machines_must_be_named(self):
        self.crowd(30)
        done = self.run_program("judges", "crowd/answers.csv", code=65)
        self.assertIn("none of the 8 workers is a machine", done.stderr)

    def test_bad_tables_are_refused_by_line(self):
        self.write("bad.csv", "task,worker,label,kind\nt,w,a,robot\n")
        self.assertIn("bad.csv:2: column 'kind': value 'robot'", self.run_program("judges", "bad.csv", code=65).stderr)
        self.write("bad.csv", "task,worker,label,kind\nt,w,a,human\nt,\x1bm,b,machine\n")
        self.assertNotIn("\x1b", self.run_program("judges", "bad.csv", "--out", "out").stdout)
        self.assertIn("three names", self.run_program("judges", "bad.csv", "--columns", "a,b", code=64).stderr)
        self.assertIn("no class 'c'", self.run_program("judges", "bad.csv", "--positive", "c", code=64).stderr)
        self.assertIn("standard input", self.run_program("judges", "-", "--gold", "-", code=64).stderr)


@unittest.skipUnless(LLMFAO.is_dir(), "the real data sets are not at hand; set WISECROWD_DATA to their folder")
class WorkedExample(JudgesTest):
    def test_the_page_prints_what_is_printed_today(self):
        """docs/JUDGES.md shows commands over llmfao, which no empty folder has."""
        page = (ROOT / "docs/JUDGES.md").read_text(encoding="utf-8")
        block = re.search(r"<!-- not run: needs the data of llmfao.*?-->\n```console\n(.*?)```", page, re.S)
        self.assertIsNotNone(block)
        commands = re.split(r"^\$ ", block[1], flags=re.M)[1:]
        for command in commands:
            typed, _, expected = command.partition("\n")
            done = subprocess.run(["bash", "-c", typed.replace("llmfao/", f"{LLMFAO}/")], cwd=self.folder, env=environment(),
                                  stdout=subprocess.PIPE, text=True, check=True, timeout=240).stdout
            blanks = lambda text: [re.sub(r"\s+", " ", line).strip() for line in text.strip().splitlines()]
            self.assertEqual(blanks(done), blanks(expected), typed)


if __name__ == "__main__":
    unittest.main()
