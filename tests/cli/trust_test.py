"""wisecrowd trust: what it prints, writes and refuses."""
import csv
import json
import random
import unittest

from program import ProgramTest


class TrustTest(ProgramTest):
    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def record(self, folder):
        return json.loads((self.folder / folder / "run.json").read_text())

    def tired(self):
        """Ten workers, three classes; 'tired' guesses from its 150th answer on. Rows are shuffled."""
        rng = random.Random(5)
        lines = []
        for task in range(300):
            truth = task % 3
            for worker in range(10):
                tired = worker == 0 and task >= 150
                right = rng.random() < (1 / 3 if tired else 0.9)
                said = truth if right else (truth + rng.choice((1, 2))) % 3
                name = "tired" if worker == 0 else f"w{worker}"
                lines.append(f"t{task},{name},{said},2024-01-{1 + task // 24:02}T{task % 24:02}:00:00Z")
        rng.shuffle(lines)
        return self.write("answers.csv", "task,worker,label,when\n" + "\n".join(lines) + "\n")

    def test_colluders(self):
        answers = self.simulate("colluders", tasks=400, workers=30)
        out = self.run_program("trust", answers, "--out", "out").stdout
        self.assertIn("Who answers as one", out)
        self.assertIn("Answers alone cannot tell which side is right", " ".join(out.split()))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        self.assertEqual(self.names("out"),
                         ["alarms.csv", "attacked_tasks.csv", "groups.csv", "pairs.csv", "run.json", "workers.csv"])
        record = self.record("out")
        self.assertEqual(sorted(record["files"]), self.names("out"))
        groups = self.rows("out/groups.csv")
        self.assertEqual(groups[0]["kind"], "colluders")
        workers = self.rows("out/workers.csv")
        stopped = {row["worker"] for row in workers if row["collusion_set"] == "1"}
        self.assertEqual(stopped, set(groups[0]["members"].split(", ")))
        self.assertTrue(all(row["advice"] == "stop" for row in workers if row["worker"] in stopped))
        # One of them is trusted: then they are no group that contradicts the rest.
        again = self.run_program("trust", answers, "--trusted", sorted(stopped)[0]).stdout
        self.assertNotIn("name one as trusted", " ".join(again.split()))

    def test_report(self):
        """The page says what the files say, whoever writes it and whenever."""
        answers = self.tired()
        self.run_program("trust", answers, "--time", "when", "--out", "out", "--report", "trust.json")
        page = json.loads((self.folder / "trust.json").read_text())
        lines = page["trust"]["timelines"]["workers"]
        alarms = self.rows("out/alarms.csv")
        self.assertEqual([line["worker"] for line in lines if line["alarms"]], [row["worker"] for row in alarms])
        self.assertEqual(str(lines[0]["alarms"][0]["raised"]), alarms[0]["at_answer"])
        self.assertRegex(lines[0]["when"], r"^From 2024-01-01 to 2024-01-13 11:00:00\.$")
        advice = {row["worker"]: row["advice"] for row in self.rows("out/workers.csv")}
        self.assertEqual(dict(zip(page["workers"]["name"], page["workers"]["advice"])), advice)
        # aggregate is told the column and remembers it; report can be told it, too.
        self.run_program("aggregate", answers, "--time", "when", "--out", "told", "--report", "told.json")
        told = json.loads((self.folder / "told.json").read_text())["trust"]
        self.assertEqual(told["timelines"]["workers"][0]["worker"], "tired")
        self.run_program("report", "told", "--out", "later.json")
        self.assertEqual(json.loads((self.folder / "later.json").read_text())["trust"], told)
        self.run_program("aggregate", answers, "--out", "untold", "--report", "untold.json")
        untold = json.loads((self.folder / "untold.json").read_text())["trust"]
        self.assertNotIn("timelines", untold)
        self.assertIn("--time COLUMN", untold["limits"][-1])
        self.run_program("report", "untold", "--time", "when", "--out", "later.json", "--force")
        self.assertEqual(json.loads((self.folder / "later.json").read_text())["trust"], told)
        self.run_program("report", "untold", "--time", "then", "--out", "never.json", code=65)

    def test_drift_by_time(self):
        answers = self.tired()
        self.run_program("trust", answers, "--time", "when", "--method", "dawid_skene", "--out", "out")
        alarms = self.rows("out/alarms.csv")
        self.assertEqual([row["worker"] for row in alarms], ["tired"])
        self.assertTrue(150 <= int(alarms[0]["at_answer"]) <= 190, alarms)
        self.assertRegex(alarms[0]["time"], r"^2024-01-0[78] ")
        self.assertEqual(self.record("out")["trust"]["order"], "dates")
        # Without the column the rows, which are shuffled, are taken for the order; and that is said.
        out = self.run_program("trust", answers, "--method", "dawid_skene").stdout
        self.assertIn("There is no time column", out)

    def test_refusals(self):
        answers = self.tired()
        for arguments, code, words in (
            (("--time", "nothing"), 65, "there is no column 'nothing' for the time"),
            (("--time", "label"), 64, "cannot be both the label and the time"),
            (("--trusted", "nobody"), 65, "nobody"),
        ):
            failed = self.run_program("trust", answers, *arguments, code=code)
            self.assertIn(words, failed.stderr)
        bad = self.write("bad.csv", "task,worker,label,when\nt1,w1,a,1\nt2,w1,b,noon\n")
        failed = self.run_program("trust", bad, "--time", "when", code=65)
        self.assertIn("bad.csv:3", failed.stderr)
        self.assertIn("noon", failed.stderr)

    def test_json(self):
        record = json.loads(self.run_program("trust", self.tired(), "--json").stdout)
        self.assertEqual(sum(record["trust"]["advice"].values()), 10)


if __name__ == "__main__":
    unittest.main()
