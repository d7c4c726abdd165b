"""What a state is used for besides growing: gold, reports, alerts, retired tasks; and files that others changed."""
import csv
import io
import json
import os
import sqlite3
import unittest

from program import ProgramTest


class StateUse(ProgramTest):
    def query(self, sql, state="s", change=False):
        connection = sqlite3.connect(self.folder / state)
        try:
            found = connection.execute(sql).fetchall()
            if change:
                connection.commit()
            return found
        finally:
            connection.close()

    def printed(self, *arguments, code=0):
        return json.loads(self.run_program(*arguments, "--json", code=code).stdout)

    def rows(self, rows, name="more.csv", header="task,worker,label"):
        return self.write(name, header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))

    def crowd(self, tasks=30, good=4, bad=0, answers="ab"):
        """Everybody answers everything; the bad ones always say the first class."""
        rows = [(f"t{i:02d}", f"w{j}", answers[i % len(answers)]) for i in range(tasks) for j in range(good)]
        return rows + [(f"t{i:02d}", f"spam{j}", answers[0]) for i in range(tasks) for j in range(bad)]

    def gold(self, tasks, answers="ab", name="gold.csv"):
        return self.write(name, "task,label\n" + "".join(f"t{i:02d},{answers[i % len(answers)]}\n" for i in tasks))


class Workers(StateUse):
    def test_a_worker_who_forgets_has_one_accuracy(self):
        labels = self.simulate("one_coin_beta", tasks=400, workers=6, answers_per_task=6, classes=2, seed=2)
        lines = (self.folder / labels).read_text().splitlines()
        self.write("first.csv", "\n".join(lines[:601]) + "\n")
        self.write("rest.csv", "\n".join([lines[0], *lines[601:]]) + "\n")
        self.run_program("state", "init", "s", "first.csv", "--set", "update=stochastic", "--set", "memory=20")
        self.run_program("state", "add", "s", "rest.csv", "--refit", "never")
        overview = self.run_program("state", "show", "s").stdout
        for name, answers, accuracy in self.query("SELECT worker, answers, accuracy FROM workers"):
            shown = self.printed("state", "show", "s", "--worker", name)
            self.assertAlmostEqual(shown["accuracy"], accuracy, places=9)
            diagonal = [shown["confusion"][k][k] for k in shown["confusion"]]
            # The tables hold the prior (4 answers, 0.7 right) beside about 20 remembered answers.
            self.assertGreater(accuracy, min(diagonal) - 0.2, name)
            text = self.run_program("state", "show", "s", "--worker", name).stdout
            self.assertIn(f"{100 * accuracy:.1f} % of the last 20 or so", text)
            if name in overview:
                line = next(line for line in overview.splitlines() if name in line)
                self.assertIn(f"{100 * accuracy:.1f} %", line)
        self.run_program("state", "check", "s")

    def test_workers_who_get_worse(self):
        self.run_program("simulate", "drift", "--set", "after=100", "--set", "accuracy=0.9", "--tasks", "600", "--workers", "30", "--classes", "3",
                         "--answers-per-task", "10", "--out", "crowd", "--quiet")
        with open(self.folder / "crowd/workers.csv", newline="", encoding="utf-8") as file:
            tired = {row["worker"] for row in csv.DictReader(file) if row["kind"] != "honest"}
        with open(self.folder / "crowd/answers.csv", newline="", encoding="utf-8") as file:
            answers = sorted(csv.DictReader(file), key=lambda row: float(row["time"]))
        self.assertEqual(len(answers), 6000)
        self.run_program("state", "init", "s")
        raised, said = [], ""
        for first in range(0, 6000, 500):
            # Within a file rows may be in any order: the column has the time.
            batch = self.rows([(row["task"], row["worker"], row["label"], row["time"]) for row in reversed(answers[first:first + 500])],
                              header="task,worker,label,when")
            if first == 0:
                said += self.run_program("state", "add", "s", batch, "--time", "when").stdout
            else:
                raised += self.printed("state", "add", "s", batch, "--time", "when")["added"]["alarms"]
        names = [alarm["worker"] for alarm in raised]
        self.assertEqual(len(names), len(set(names)), "once per episode")
        self.assertGreaterEqual(len(tired & set(names)), len(tired) - 1)
        self.assertLessEqual(len(set(names) - tired), 2)
        self.assertNotIn("Alarm", said)
        for alarm in raised:
            if alarm["worker"] in tired:
                self.assertLess(alarm["accuracy_since"], alarm["accuracy_before"] - 0.1)
        shown = self.printed("state", "show", "s")["alarms"]
        self.assertEqual([alarm["worker"] for alarm in shown], names)
        lasting = [alarm["worker"] for alarm in shown if alarm["recovered"] is None]
        self.assertTrue(set(lasting) & tired)
        one = lasting[0]
        self.assertIn(f"'{one}' right in", " ".join(self.run_program("state", "show", "s").stdout.split()))
        self.assertEqual(self.printed("state", "show", "s", "--worker", one)["alarms"][0]["worker"], one)
        alerts = self.printed("state", "alerts", "s", code=1)["alerts"]
        self.assertEqual(sorted(alert["workers"][0] for alert in alerts if alert["code"] == "worker_worse"), sorted(lasting))
        self.assertEqual(len(self.query("SELECT * FROM alarms")), len(names))
        self.run_program("state", "check", "s")

    def test_an_older_file_is_scaled(self):
        self.run_program("state", "init", "s", self.rows(self.crowd()), "--set", "update=stochastic", "--set", "memory=10")
        self.query("UPDATE worker SET right = 5", change=True)
        for statement in ("DROP TABLE gold", "DROP VIEW alarms", "DROP TABLE alarm", "ALTER TABLE worker DROP COLUMN watch"):
            self.query(statement, change=True)
        self.query("PRAGMA user_version = 2", change=True)
        self.assertEqual(self.printed("state", "show", "s")["schema_version"], 2)
        self.run_program("state", "export", "s", "--out", "old")
        self.run_program("state", "add", "s", self.rows([("t00", "new", "a")], "one.csv"))
        self.assertEqual(self.printed("state", "show", "s")["schema_version"], 4)
        for accuracy, in self.query("SELECT accuracy FROM workers"):
            self.assertGreater(accuracy, 0.9)
        self.run_program("state", "check", "s")


class Gold(StateUse):
    def test_known_truths_are_certain_and_teach_about_workers(self):
        rows = self.crowd(tasks=20, good=2) + [(f"t{i:02d}", f"wrong{j}", "ba"[i % 2]) for i in range(20) for j in range(3)]
        self.run_program("state", "init", "s", self.rows(rows))
        blind = self.printed("state", "show", "s", "--worker", "w0")["accuracy"]
        self.assertLess(blind, 0.5)
        self.run_program("state", "init", "seen", "more.csv", "--gold", self.gold(range(10)))
        self.assertGreater(self.printed("state", "show", "seen", "--worker", "w0")["accuracy"], 0.9)
        task = self.printed("state", "show", "seen", "--task", "t03")
        self.assertEqual((task["gold"], task["label"], task["probability"]), ("b", "b", 1))
        # The same when it comes later, and by the next refit for all tasks.
        added = self.printed("state", "add", "s", "--gold", "gold.csv")
        self.assertTrue(added["refitted"])
        self.assertEqual(self.query("SELECT task, label FROM labels"), self.query("SELECT task, label FROM labels", "seen"))
        self.assertEqual(self.printed("state", "show", "s")["gold"], {"tasks": 10, "answered": 10, "used_for": "inference"})
        for state in ("s", "seen"):
            self.run_program("state", "check", state)
        self.run_program("state", "export", "seen", "--out", "out")
        run = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual(run["data"]["gold"], {"tasks": 10, "used_for": "inference"})

    def test_truths_that_come_before_the_answers(self):
        self.run_program("state", "init", "s", "--gold", self.gold(range(4)))
        self.printed("state", "add", "s", self.rows([("t01", "w", "a"), ("t01", "v", "a"), ("new", "v", "a")]), "--refit", "never")
        self.assertEqual(self.printed("state", "show", "s", "--task", "t01")["probabilities"], {"a": 0, "b": 1})
        self.run_program("state", "add", "s", "--gold", self.write("other.csv", "task,label\nt01,a\nt09,c\n"), "--refit", "never")
        self.assertEqual(self.printed("state", "show", "s", "--task", "t01")["probabilities"], {"a": 1, "b": 0, "c": 0})
        self.run_program("state", "check", "s")
        self.run_program("state", "refit", "s")
        self.run_program("state", "check", "s")

    def test_for_evaluation_the_fit_does_not_see_it(self):
        self.run_program("state", "init", "plain", self.rows(self.crowd(tasks=30)))
        self.run_program("state", "init", "s", "more.csv", "--gold", self.gold(range(30)), "--gold-for", "evaluation")
        self.assertEqual(self.query("SELECT * FROM labels"), self.query("SELECT * FROM labels", "plain"))
        self.assertIn("accuracy 100.0 % (88.6 to 100.0) on 30 gold tasks", self.run_program("state", "show", "s").stdout)
        refused = self.run_program("state", "add", "s", "--gold", "gold.csv", "--gold-for", "inference", code=64)
        self.assertIn("is for evaluation", refused.stderr)
        self.run_program("state", "export", "s", "--out", "out")
        self.assertAlmostEqual(json.loads((self.folder / "out/run.json").read_text())["evaluation"]["accuracy"]["low"], 0.8865, places=3)
        self.assertIn("--gold FILE", self.run_program("state", "add", "s", "more.csv", "--gold-for", "evaluation", code=64).stderr)


class Reading(StateUse):
    def test_columns_are_remembered(self):
        odd = lambda rows, name: self.rows(rows, name, header="frage,wer,antwort")
        self.run_program("state", "init", "s", odd([("t1", "a", "x"), ("t1", "b", "y")], "one.csv"), "--columns", "frage,wer,antwort")
        self.assertEqual(self.printed("state", "add", "s", odd([("t2", "a", "x")], "two.csv"))["added"]["answers"], 1)
        refused = self.run_program("state", "add", "s", self.rows([("t3", "a", "x")]), code=65)
        self.assertIn("remembers", refused.stderr)
        self.assertIn("--columns", refused.stderr)
        self.run_program("state", "add", "s", "more.csv", "--columns", "task,worker,label")
        self.run_program("state", "add", "s", odd([("t4", "a", "x")], "four.csv"))
        self.write("gold.csv", "frage,label\nt1,x\n")
        self.run_program("state", "add", "s", "--gold", "gold.csv")
        self.assertEqual(self.printed("state", "show", "s")["gold"]["tasks"], 1)

    def test_those_of_the_first_add_if_there_were_none(self):
        self.run_program("state", "init", "s")
        self.write("wide.csv", "item,ann,bob\nt1,x,y\nt2,x,\n")
        self.run_program("state", "add", "s", "wide.csv", "--wide")
        self.write("wider.csv", "item,ann,bob\nt3,x,y\n")
        self.assertEqual(self.printed("state", "add", "s", "wider.csv")["added"]["answers"], 2)
        self.assertEqual(self.printed("state", "add", "s", self.rows([("t9", "a", "x")]), "--wide=false")["added"]["answers"], 1)


class Reports(StateUse):
    def test_of_a_state_and_of_its_export(self):
        self.run_program("state", "init", "s", self.rows(self.crowd(bad=2)), "--gold", self.gold(range(30)), "--gold-for", "evaluation")
        self.run_program("report", "s", "--out", "direct.json")
        direct = json.loads((self.folder / "direct.json").read_text())
        self.assertEqual((direct["counts"]["tasks"], direct["counts"]["answers"]), (30, 180))
        self.assertEqual(direct["gold"]["tasks"], 30)
        self.run_program("state", "export", "s", "--out", "out")
        self.run_program("report", "out", "--out", "later.json")
        later = json.loads((self.folder / "later.json").read_text())
        for part in ("counts", "verdict", "workers", "tasks", "classes", "warnings", "gold"):
            self.assertEqual(direct.get(part), later.get(part), part)
        self.run_program("report", "s", "--out", "page.html")
        self.assertIn("<html", (self.folder / "page.html").read_text()[:500])
        self.run_program("state", "add", "s", self.rows([("t00", "late", "a")], "late.csv"))
        self.assertIn("has changed since", self.run_program("report", "out", "--out", "x.json", code=65).stderr)
        (self.folder / "s").rename(self.folder / "moved")
        self.assertIn("--answers", self.run_program("report", "out", "--out", "x.json", code=66).stderr)

    def test_gold_for_the_report_alone(self):
        self.run_program("state", "init", "s", self.rows(self.crowd()))
        gold = self.gold(range(10))
        document = self.printed("report", "s", "--gold", gold)
        self.assertEqual(document["gold"]["tasks"], 10)
        self.run_program("state", "export", "s", "--out", "out")
        self.assertEqual(self.printed("report", "out", "--gold", gold)["gold"], document["gold"])
        self.assertIn("same names", self.run_program("report", "s", "--gold", self.write("n.csv", "task,label\nzz,a\n"), code=65).stderr)


class Attention(StateUse):
    def test_alerts(self):
        self.run_program("state", "init", "calm", self.rows(self.crowd(tasks=60)))
        calm = self.printed("state", "alerts", "calm")
        self.assertEqual((calm["needs_attention"], calm["warnings"]), (False, 0), calm)
        rows = self.crowd(tasks=60, good=5, bad=1)
        rows += [("torn", f"w{j}", "ab"[j % 2]) for j in range(5)] + [("torn", "spam0", "b")]
        self.run_program("state", "init", "s", self.rows(rows))
        found = self.printed("state", "alerts", "s", code=1)
        self.assertTrue(found["needs_attention"])
        by_code = {alert["code"]: alert for alert in found["alerts"]}
        self.assertEqual(by_code["worker_stop"]["workers"], ["spam0"])
        self.assertEqual(by_code["worker_stop"]["severity"], "warning")
        text = self.run_program("state", "alerts", "s", code=1)
        self.assertIn("Stop asking 'spam0'", " ".join(text.stdout.split()))
        for line in text.stdout.splitlines():
            self.assertLessEqual(len(line), 80)
        self.run_program("state", "add", "s", self.rows([("t00", "w9", "c")], "c.csv"), "--refit", "never")
        stale = {alert["code"] for alert in self.printed("state", "alerts", "s", code=1)["alerts"]}
        self.assertIn("refit_due", stale)

    def test_tasks_without_agreement_and_gold_that_nobody_believes(self):
        rows = self.crowd(tasks=40, good=6)
        rows += [(task, f"w{j}", "ab"[j % 2]) for task in ("torn1", "torn2") for j in range(6)]
        self.run_program("state", "init", "s", self.rows(rows), "--gold", self.write("gold.csv", "task,label\nt00,b\nt01,b\n"),
                         "--gold-for", "evaluation")
        by_code = {alert["code"]: alert for alert in self.printed("state", "alerts", "s", code=1)["alerts"]}
        self.assertEqual((by_code["no_agreement"]["count"], by_code["no_agreement"]["tasks"]), (2, ["torn1", "torn2"]))
        self.assertEqual(by_code["gold_contradicted"]["tasks"], ["t00"])

    def test_retired(self):
        self.run_program("state", "init", "s", self.rows(self.crowd(tasks=12) + [("torn", "w0", "a"), ("torn", "w1", "b")]))
        self.query("INSERT INTO task SELECT 99, 'bare', 0, 1.0, 0.0, posterior FROM task WHERE id = 0", change=True)
        table = list(csv.DictReader(io.StringIO(self.run_program("state", "retired", "s", "--sure", 0.9).stdout)))
        self.assertEqual([row["task"] for row in table], [f"t{i:02d}" for i in range(12)], "sure ones that were answered")
        self.assertEqual((table[1]["label"], table[1]["answers"]), ("b", "4"))
        pages, after = [], []
        while True:
            page = self.printed("state", "retired", "s", "--sure", 0.9, "--limit", 5, *after)
            pages += [task["task"] for task in page["tasks"]]
            if page["next"] is None:
                break
            after = ["--after", page["next"]]
        self.assertEqual(pages, [row["task"] for row in table])
        self.run_program("state", "retired", "s", "--sure", 0.9, "--out", "retired.csv")
        self.assertEqual(len((self.folder / "retired.csv").read_text().splitlines()), 13)
        self.assertIn("no task 'zz'", self.run_program("state", "retired", "s", "--after", "zz", code=65).stderr)

    def test_warnings_of_the_fit(self):
        alone = self.rows([(f"t{i}", f"w{i % 4}", "ab"[i % 2]) for i in range(12)])
        for command in (["init", "s", alone], ["add", "s", self.rows([("t99", "w0", "a")], "one.csv"), "--refit", "never"],
                        ["add", "s", self.rows([("t98", "w0", "a")], "two.csv"), "--refit", "always"], ["refit", "s"],
                        ["export", "s", "--out", "out"]):
            done = self.run_program("state", *command, "--quiet")
            self.assertIn("wisecrowd: warning: ", done.stderr, command)
        self.run_program("state", "refit", "s", "--fail-on-warning", code=1)
        self.assertIn("warning: ", self.run_program("select", "s", "--budget", 2).stderr)
        codes = [warning["code"] for warning in self.printed("state", "show", "s")["warnings"]]
        self.assertIn("one_answer_per_task", codes)


class Strangers(StateUse):
    def test_triggers_do_not_run_and_are_named(self):
        self.run_program("state", "init", "s", self.rows(self.crowd()))
        self.query("CREATE TRIGGER evil AFTER INSERT ON answer BEGIN DELETE FROM answer WHERE worker = 0; END", change=True)
        self.query("CREATE VIEW spying AS SELECT * FROM worker", change=True)
        self.query("CREATE INDEX mine ON answer(worker)", change=True)
        self.run_program("state", "add", "s", self.rows([("t00", "new", "a")], "one.csv"))
        self.assertEqual(self.query("SELECT count(*) FROM answer"), [(121,)])
        checked = self.run_program("state", "check", "s", code=65).stderr
        self.assertIn("trigger 'evil'", checked)
        self.assertIn("view 'spying'", checked)
        self.assertNotIn("mine", checked)
        self.query("DROP TRIGGER evil", change=True)
        self.query("DROP VIEW spying", change=True)
        self.run_program("state", "check", "s")

    def test_a_table_that_became_something_else(self):
        self.run_program("state", "init", "s", self.rows(self.crowd()))
        self.query("ALTER TABLE task RENAME TO hidden", change=True)
        self.query("CREATE VIEW task AS SELECT * FROM hidden", change=True)
        for command in (["show", "s"], ["check", "s"], ["add", "s", "more.csv"]):
            self.assertIn("damaged", self.run_program("state", *command, code=65).stderr)

    def test_names_that_no_reader_takes(self):
        self.run_program("state", "init", "s", self.rows(self.crowd()))
        good = (self.folder / "s").read_bytes()
        for table, what in (("worker", "worker"), ("task", "task"), ("class", "class")):
            for value in ("''", "CAST(x'ff41' AS TEXT)", "CAST(x'410042' AS TEXT)"):
                self.write("s", good)
                self.query(f"UPDATE {table} SET name = {value} WHERE id = 0", change=True)
                for command in (["state", "check", "s"], ["state", "export", "s", "--out", "out"], ["report", "s", "--out", "r.json"]):
                    failed = self.run_program(*command, code=65)
                    self.assertIn(f"the {what} '", failed.stderr, command)
                    self.assertIn("damaged", failed.stderr)
        self.assertNotIn("out", self.names())

    def test_a_link_in_the_way_of_init_is_not_followed(self):
        self.write("victim", "precious")
        labels = self.rows(self.crowd())
        place = self.folder / ".s.tmp-"
        trap = lambda: os.symlink("victim", f"{place}{os.getpid()}")
        self.run_program("state", "init", "s", labels, preexec_fn=trap)
        self.assertEqual((self.folder / "victim").read_bytes(), b"precious")
        self.assertFalse((self.folder / "s").is_symlink())

    def test_more_classes_than_a_row_holds(self):
        many = self.rows([(f"t{i}", "w", f"c{i:05d}") for i in range(12000)])
        refused = self.run_program("state", "init", "s", many, code=65)
        self.assertIn("12000 classes are too many for a state, which holds at most", refused.stderr)
        self.assertEqual(self.names(), ["more.csv"])
        self.run_program("state", "init", "s")
        self.assertIn("at most", self.run_program("state", "add", "s", many, code=65).stderr)
        self.assertEqual(self.query("SELECT count(*) FROM class"), [(0,)])


if __name__ == "__main__":
    unittest.main()
