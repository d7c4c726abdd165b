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

    def test_remedies_and_severities_are_kept(self):
        self.write("twice.csv", ALONE + "t0,w0,b\n")
        said = self.warned("aggregate", "twice.csv", "--out", "result").stderr
        warnings = {warning["code"]: warning for warning in json.loads((self.folder / "result/run.json").read_text())["warnings"]}
        alone, twice = warnings["one_answer_per_task"], warnings["duplicates"]
        self.assertEqual((alone["severity"], twice["severity"]), ("serious", "note"))
        self.assertIn(f"{alone['message']} {alone['remedy']}\n", said)
        # The engine names options; the command line its flags.
        self.assertIn("`duplicates=repeat`", twice["remedy"])
        self.assertIn("read them with --duplicates repeat; if none", said)
        self.run_program("report", "result", "--out", "r.json")
        reported = {warning["title"]: warning for warning in json.loads((self.folder / "r.json").read_text())["warnings"]}
        self.assertEqual(reported["Only one answer per task"]["remedy"], alone["remedy"])
        self.assertIn("--duplicates repeat", reported["Repeated answers"]["remedy"])
        listed = json.loads(self.run_program("describe", "alone.csv", "--json").stdout)["warnings"]
        self.assertEqual(list(listed[0]), ["code", "message", "remedy", "severity"])

    def test_a_result_of_an_older_version_is_read(self):
        self.warned("aggregate", "alone.csv", "--out", "result")
        path = self.folder / "result/run.json"
        record = json.loads(path.read_text())
        for warning in record["warnings"]:
            warning["message"] += " " + warning.pop("remedy")
            del warning["severity"]
        path.write_text(json.dumps(record))
        self.run_program("report", "result", "--out", "r.json")
        reported = json.loads((self.folder / "r.json").read_text())["warnings"]
        self.assertIn("Ask more workers", next(w for w in reported if w["title"] == "Only one answer per task")["words"])

    def test_errors_name_flags(self):
        self.write("bad.csv", "task,worker,label\nt,w\n")
        self.assertIn("read it with --lenient, which drops such rows", self.run_program("aggregate", "bad.csv", code=65).stderr)
        self.write("odd.csv", "a,b\n1,2\n")
        self.assertIn("by position (--columns 1,2,3)", self.run_program("aggregate", "odd.csv", code=65).stderr)

    def test_answers_under_their_old_name(self):
        self.simulate("dawid_skene", tasks=30, workers=5)
        done = self.run_program("aggregate", "crowd/labels.csv", code=66)
        self.assertIn("answers of simulations are in crowd/answers.csv", done.stderr)
        (self.folder / "crowd/answers.csv").rename(self.folder / "crowd/labels.csv")
        self.run_program("aggregate", "crowd/labels.csv")

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
