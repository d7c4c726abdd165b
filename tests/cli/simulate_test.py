"""Crowds over tasks that exist, and crowds with features: what is written, and that it fits together."""
import ast
import csv
import json
import struct
import unittest

from program import ProgramTest


def read_npy(path):
    """Shape and values of a float32 array, by the letter of the format."""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    assert header["descr"] == "<f4" and header["fortran_order"] is False
    values = struct.unpack(f"<{(len(data) - 10 - length) // 4}f", data[10 + length:])
    return header["shape"], values


class Simulate(ProgramTest):
    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_given_tasks_are_answered(self):
        self.write("gold.csv", "task,label\n" + "".join(f"t{i},{'dog' if i % 3 else 'cat'}\n" for i in range(90)))
        table = "task,row,split,note\n" + "".join(f"t{i},{i},{'test' if i >= 60 else 'train'},kept\n" for i in range(91))
        self.write("tasks.csv", table)
        done = self.run_program("simulate", "max_mig", "--set", "case=4.3", "--gold", "gold.csv", "--tasks-file", "tasks.csv",
                                "--out", "crowd", "--seed", 4)
        self.assertIn("900 answers by 10 workers to 91 tasks, 2 classes", done.stdout)
        self.assertIn("1 task without gold got no answers", done.stdout)
        self.assertEqual((self.folder / "crowd/tasks.csv").read_text(), table)
        train, test = self.rows("crowd/answers.csv"), self.rows("crowd/answers_test.csv")
        self.assertEqual({row["task"] for row in train}, {f"t{i}" for i in range(60)})
        self.assertEqual({row["task"] for row in test}, {f"t{i}" for i in range(60, 90)})
        self.assertEqual({row["label"] for row in train}, {"cat", "dog"})
        said = {(row["task"], row["worker"]): row["label"] for row in train + test}
        self.assertEqual(len(said), 900)
        for i in range(90):
            for junior, senior in ((6, 1), (7, 1), (8, 3), (9, 3), (10, 3)):
                self.assertEqual(said[f"t{i}", f"worker_{junior:06}"], said[f"t{i}", f"worker_{senior:06}"])
        self.assertEqual(self.rows("crowd/gold.csv"), self.rows("gold.csv"))
        record = json.loads((self.folder / "crowd/simulation.json").read_text())
        self.assertEqual((record["gold"], record["tasks_file"]), ("gold.csv", "tasks.csv"))
        # Without a tasks file everything is for training.
        self.run_program("simulate", "one_coin_beta", "--gold", "gold.csv", "--out", "all", "--quiet")
        self.assertEqual(self.names("all"), ["answers.csv", "confusion.csv", "gold.csv", "simulation.json", "workers.csv"])
        self.assertEqual(len(self.rows("all/answers.csv")), 450)

    def test_drawn_features(self):
        done = self.run_program("simulate", "max_mig", "--set", "experts=cifar10", "--tasks", 50, "--test-tasks", 20,
                                "--gaussian-features", 3, "--feature-columns", 12, "--out", "crowd")
        self.assertIn("wisecrowd learn crowd/answers.csv --features crowd/features.npy --tasks crowd/tasks.csv", done.stdout)
        shape, values = read_npy(self.folder / "crowd/features.npy")
        self.assertEqual(shape, (70, 12))
        tasks, gold = self.rows("crowd/tasks.csv"), self.rows("crowd/gold.csv")
        self.assertEqual([int(row["row"]) for row in tasks], list(range(70)))
        self.assertEqual([row["split"] for row in tasks], ["train"] * 50 + ["test"] * 20)
        right = 0
        for i, row in enumerate(gold):
            scores = values[12 * i:12 * i + 10]
            right += scores.index(max(scores)) == int(row["label"])
        self.assertGreater(right, 50)

    def test_machines_read_given_features(self):
        self.run_program("simulate", "deep_bp", "--tasks", 400, "--workers", 300, "--gaussian-features", 2,
                         "--test-tasks", 100, "--out", "first", "--quiet")
        common = ["simulate", "machines", "--gold", "first/gold.csv", "--tasks-file", "first/tasks.csv", "--features",
                  "first/features.npy", "--workers", 10, "--answers-per-task", 10]
        printed = json.loads(self.run_program(*common, "--out", "crowd", "--json").stdout)
        self.assertEqual((printed["answers"], printed["held_out_answers"]), (4000, 1000))
        self.assertEqual(printed["features"], "first/features.npy")
        gold = {row["task"]: row["label"] for row in self.rows("first/gold.csv")}
        for name in ("answers.csv", "answers_test.csv"):
            answers = self.rows(f"crowd/{name}")
            right = sum(row["label"] == gold[row["task"]] for row in answers) / len(answers)
            self.assertGreater(right, 0.9)  # the best possible is .977
        self.assertEqual((self.folder / "first/tasks.csv").read_bytes(), (self.folder / "crowd/tasks.csv").read_bytes())
        self.run_program(*common, "--threads", 1, "--out", "again", "--quiet")
        for name in self.names("crowd"):
            self.assertEqual((self.folder / "crowd" / name).read_bytes(), (self.folder / "again" / name).read_bytes())


if __name__ == "__main__":
    unittest.main()
