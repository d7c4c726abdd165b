"""Reading as users meet it: other tables, workers left out or merged, gold that does not fit, commands that can be pasted."""
import json
import re
import subprocess
import unittest

from program import ProgramTest, environment


def rows(tasks=20, workers=6):
    """Answers of workers who are right about four times in five, in an order that repeats."""
    return [(f"t{t:02}", f"w{w}", "yes" if (t % 2 == 0) != ((7 * t + 3 * w) % 5 == 0) else "no")
            for t in range(tasks) for w in range(workers)]


def table(rows, head="task,worker,label", comma=","):
    return "\n".join([head.replace(",", comma)] + [comma.join(row) for row in rows]) + "\n"


class Tables(ProgramTest):
    def labels(self, name, *options):
        self.run_program("aggregate", name, "-m", "dawid_skene", "--out", "out", "--quiet", *options)
        return (self.folder / "out/labels.csv").read_text()

    def test_the_same_answers_in_other_clothes(self):
        answers = rows()
        expected = self.labels(self.write("a.csv", table(answers)))
        objects = [dict(zip(("task", "worker", "label"), row)) for row in answers]
        self.assertEqual(self.labels(self.write("b.csv", table(answers, comma=";"))), expected)
        self.assertEqual(self.labels(self.write("c.json", json.dumps(objects))), expected)
        self.assertEqual(self.labels(self.write("d.json", json.dumps(objects, indent=2))), expected)
        self.assertEqual(self.labels(self.write("e.csv", table(answers).replace("\nt10,", "\n,,\n\nt10,") + ",,\n , ,\n")), expected)


class Workers(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", table(rows()))

    def run_json(self, *options):
        return json.loads(self.run_program("aggregate", "a.csv", "-m", "dawid_skene", "--json", *options).stdout)

    def test_exclude(self):
        self.write("out.txt", "w0\nw5\n")
        run = self.run_json("--exclude-workers", "out.txt", "--out", "result")
        self.assertEqual((run["data"]["workers"], run["data"]["answers"]), (4, 80))
        self.assertEqual(run["data"]["reading"]["exclude_workers"], "w0\nw5\n")
        self.write("kept.csv", table([row for row in rows() if row[1] not in ("w0", "w5")]))
        self.run_program("aggregate", "kept.csv", "-m", "dawid_skene", "--out", "same", "--quiet")
        self.assertEqual((self.folder / "result/labels.csv").read_text(), (self.folder / "same/labels.csv").read_text())
        (self.folder / "out.txt").unlink()
        self.run_program("report", "result", "--out", "r.html")  # the record has the names

    def test_advice_can_be_handed_on(self):
        self.run_program("select", "--advise", "a.csv", "--out", "advice")
        everybody = self.run_program("describe", "a.csv", "--exclude-workers", "advice/workers.csv", code=65)
        self.assertIn("all 6 workers are excluded", everybody.stderr)

    def test_merge(self):
        self.write("same.csv", "old,new\nw1,w0\nw2,w0\n")
        run = self.run_json("--merge-workers", "same.csv", "--out", "result")
        self.assertEqual((run["data"]["workers"], run["data"]["answers"]), (4, 80))
        self.assertEqual(run["data"]["reading"]["merge_workers"], "w1,w0\nw2,w0\n")
        self.assertIn("duplicates", [warning["code"] for warning in run["warnings"]])
        self.run_program("report", "result", "--out", "r.html")
        refused = self.run_program("aggregate", "a.csv", "--merge-workers", "same.csv", "--duplicates", "reject", code=65)
        self.assertIn("worker 'w0' already answered task 't00' in line 2", refused.stderr)
        self.write("lines.csv", "w0,w1,w2\n")
        again = self.run_json("--merge-workers", "lines.csv")
        self.assertEqual(again["data"]["hash"], run["data"]["hash"])

    def test_every_command_that_reads_answers(self):
        self.write("out.txt", "w0\n")
        self.write("gold.csv", "task,label\nt00,yes\nt01,no\n")
        for command in (("describe", "a.csv", "--json"), ("compare", "a.csv", "--gold", "gold.csv", "-m", "majority_vote", "--json"),
                        ("select", "a.csv", "--budget", 3, "--json"), ("select", "--advise", "a.csv", "--json")):
            shown = json.loads(self.run_program(*command, "--exclude-workers", "out.txt").stdout)
            if "workers" in shown:
                count = shown["workers"] if isinstance(shown["workers"], int) else len(shown["workers"])
                self.assertEqual(count, 5, command)
        made = self.run_program("state", "init", "s.state", "a.csv", "--exclude-workers", "out.txt", "--json")
        self.assertEqual(json.loads(made.stdout)["summary"]["workers"], 5)
        self.run_program("state", "show", "s.state", "--exclude-workers", "out.txt", code=64)


class Gold(ProgramTest):
    def test_gold_of_no_task(self):
        answers = self.write("a.csv", table(rows()))
        swapped = self.write("swapped.csv", "label,task\nt00,yes\nt01,no\n")
        folded = self.write("folded.csv", "task,label\nT00,yes\nT01,no\n")
        for command in (("aggregate", answers, "-m", "dawid_skene", "--gold-for", "evaluation"), ("aggregate", answers, "-m", "dawid_skene")):
            done = self.run_program(*command, "--gold", swapped)
            self.assertIn("columns seem to be swapped", " ".join((done.stdout + done.stderr).split()))
        more = self.write("more.csv", "label,task\nt00,yes\nt01,no\nt03,no\n")
        done = self.run_program("aggregate", answers, "--gold", more, code=65)
        self.assertIn("are the two columns swapped?", done.stderr)
        for command in (("compare", answers, "-m", "majority_vote"), ("select", "--replay", answers, "--seeds", 1, "--out", "x")):
            done = self.run_program(*command, "--gold", folded, code=65)
            self.assertIn("differ by case or blanks alone", done.stderr)
        self.run_program("aggregate", answers, "-m", "dawid_skene", "--out", "out", "--quiet")
        done = self.run_program("evaluate", "out/labels.csv", swapped, code=65)
        self.assertIn("columns seem to be swapped", done.stderr)
        features = self.write("f.csv", "task,x\n" + "".join(f"t{t:02},{t % 2}\n" for t in range(20)))
        done = self.run_program("learn", answers, "-f", features, "--gold", swapped, code=65)
        self.assertIn("columns seem to be swapped", done.stderr)


class Asking(ProgramTest):
    def test_select_from_answers(self):
        self.simulate("one_coin_beta", tasks=40, workers=10, answers_per_task=3)
        done = self.run_program("select", "crowd/answers.csv", "--budget", 7)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "task,worker,expected_gain,cost")
        self.assertEqual(len(lines), 8)
        answered = {tuple(line.split(",")[:2]) for line in (self.folder / "crowd/answers.csv").read_text().splitlines()}
        self.assertFalse(answered & {tuple(line.split(",")[:2]) for line in lines[1:]}, "nobody is asked twice")
        self.write("w.csv", "worker,cost\nworker_000001,2\n")
        shown = json.loads(self.run_program("select", "crowd/answers.csv", "--budget", 7, "--workers", "w.csv", "--json").stdout)
        self.assertEqual(shown["cost"], 6)
        self.assertEqual({choice["worker"] for choice in shown["choices"]}, {"worker_000001"})
        self.run_program("select", "crowd/answers.csv", code=64)

    def test_advice_keeps_to_its_budget(self):
        self.simulate("one_coin_beta", tasks=40, workers=10, answers_per_task=3)
        whole = json.loads(self.run_program("select", "--advise", "crowd/answers.csv", "--json").stdout)
        self.assertGreater(whole["tasks_worth_asking"], 5)
        part = json.loads(self.run_program("select", "--advise", "crowd/answers.csv", "--budget", 5, "--json", "--out", "a").stdout)
        self.assertEqual((part["tasks_within_budget"], part["cost"]), (5, 5))
        self.assertEqual(part["tasks_worth_asking"], whole["tasks_worth_asking"])
        self.assertEqual(len((self.folder / "a/tasks.csv").read_text().splitlines()), 6)


class Suggestions(ProgramTest):
    def suggested(self, text):
        return [line.strip() for line in text.splitlines() if re.match("  wisecrowd ", line) and "GOLD.csv" not in line]

    def paste(self, line):
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=environment(), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_they_run_when_pasted(self):
        name = "it's; odd $(x).csv"
        self.write(name, table(rows(), head="my question,who,what was said") + "broken\n")
        self.write("gold file.csv", "id,right\nt00,yes\nt01,no\n")
        self.write("skip.txt", "w5\n")
        reading = ("--columns", "my question,who,what was said", "--lenient", "--duplicates", "repeat", "--exclude-workers", "skip.txt")
        described = self.run_program("describe", name, *reading)
        lines = self.suggested(described.stdout)
        self.assertEqual(len(lines), 1)
        self.paste(lines[0])
        done = self.run_program("aggregate", name, *reading, "--gold", "gold file.csv", "--gold-columns", "id,right",
                                "--gold-for", "evaluation", "-m", "dawid_skene", "--out", "my result")
        lines = self.suggested(done.stdout)
        self.assertEqual([line.split()[1] for line in lines], ["report", "compare"])
        for line in lines:
            self.paste(line)
        nothing = self.run_program("aggregate", name, *reading, "-m", "dawid_skene")
        self.paste(self.suggested(nothing.stdout)[0])

    def test_standard_input_is_not_suggested(self):
        done = self.run_program("describe", "-", input=table(rows()))
        self.assertEqual(self.suggested(done.stdout), [])
        done = self.run_program("aggregate", "-", "-m", "dawid_skene", "--out", "out", input=table(rows()))
        self.assertEqual(self.suggested(done.stdout), ["wisecrowd report out --answers FILE"])


class NamesInTables(ProgramTest):
    def test_cut_in_the_middle(self):
        prefix = "contributor-of-the-second-campaign-" + "x" * 60
        answers = [(t, f"{prefix}-{w}", label) for t, w, label in rows(workers=4)]
        self.write("long.csv", table(answers))
        shown = self.run_program("aggregate", "long.csv", "-m", "dawid_skene").stdout
        for w in range(4):
            self.assertRegex(shown, rf"contributor\S*…x*-w{w}\b")
        self.assertTrue(all(len(line) <= 80 for line in shown.splitlines()), shown)


if __name__ == "__main__":
    unittest.main()
