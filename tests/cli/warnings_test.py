"""Warnings reach standard error whatever else is printed, and --fail-on-warning makes them count."""
import json
import unittest

from program import ProgramTest

ALONE = "task,worker,label\n" + "".join(f"t{i},w{i % 4},{'ab'[i % 2]}\n" for i in range(12))  # one answer per task


class Warnings(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("alone.csv", ALONE)

    def warned(self, *arguments, code=0):
        done = self.run_program(*arguments, code=code)
        self.assertIn("wisecrowd: warning: ", done.stderr, arguments)
        return done

    def test_quiet_and_json_hide_none(self):
        for more in ([], ["--quiet"], ["--json"], ["--quiet", "--out", "result"]):
            done = self.warned("aggregate", "alone.csv", *more)
            self.assertNotIn("warning: ", done.stdout.lower())
        for command in (["describe", "alone.csv"], ["select", "--advise", "alone.csv", "--json"]):
            self.warned(*command)

    def test_fail_on_warning(self):
        self.warned("aggregate", "alone.csv", "--out", "result", "--fail-on-warning", code=1)
        self.assertIn("run.json", self.names("result"), "the work is done nevertheless")
        self.warned("describe", "alone.csv", "--fail-on-warning", code=1)
        self.warned("select", "--advise", "alone.csv", "--fail-on-warning", code=1)
        labels = self.simulate("dawid_skene", tasks=300, workers=20)
        done = self.run_program("describe", labels, "--fail-on-warning")
        self.assertEqual(done.stderr, "")

    def test_one_line_each_where_nobody_looks_at_a_screen(self):
        lines = self.warned("aggregate", "alone.csv", "--quiet").stderr.splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertTrue(line.startswith("wisecrowd: warning: "), line)

    def test_few_gold_tasks_prove_little(self):
        self.write("sure.csv", "task,worker,label\n" + "".join(f"t{i},w{j},{'ab'[i % 2]}\n" for i in range(30) for j in range(3)))
        self.write("gold.csv", "task,label\n" + "".join(f"t{i},{'ab'[i % 2]}\n" for i in range(30)))
        printed = self.run_program("aggregate", "sure.csv", "--gold", "gold.csv", "--gold-for", "evaluation", "--out", "result").stdout
        self.assertIn("accuracy 100.0 % (88.6 to 100.0) on 30 gold tasks", printed)
        scored = json.loads(self.run_program("evaluate", "result/labels.csv", "gold.csv", "--json").stdout)
        self.assertAlmostEqual(scored["accuracy"]["low"], 30 / (30 + 1.959964 ** 2), places=5)
        self.run_program("report", "result", "--out", "r.json")
        reported = json.loads((self.folder / "r.json").read_text())["gold"]
        self.assertAlmostEqual(reported["low"], scored["accuracy"]["low"], places=3)


if __name__ == "__main__":
    unittest.main()
