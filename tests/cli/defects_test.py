"""What describe says is wrong with the data: gold, repeats, tasks under two names."""
import csv
import json
import unittest

from program import ProgramTest


class Defects(ProgramTest):
    def setUp(self):
        super().setUp()
        self.run_program("simulate", "one_coin_beta", "--set", "a=8", "--set", "b=2", "--tasks", "200", "--workers", "20", "--classes", "3", "--answers-per-task", "9",
                         "--out", "crowd", "--seed", "3", "--quiet")

    def described(self, *options):
        return json.loads(self.run_program("describe", *options, "--json", "--quiet").stdout)

    def test_planted_wrong_gold_is_listed(self):
        with open(self.folder / "crowd/gold.csv", newline="") as file:
            head, *rows = list(csv.reader(file))
        clean = self.described("crowd/answers.csv", "--gold", "crowd/gold.csv")["gold_check"]
        self.assertEqual(clean["tasks"], 200)
        self.assertLess(len(clean["suspects"]), 6)
        names = sorted({row[1] for row in rows})
        planted = {row[0] for row in rows[::20]}
        wrong = [[row[0], names[(names.index(row[1]) + 1) % 3] if row[0] in planted else row[1]] for row in rows]
        self.write("wrong.csv", "\n".join(",".join(row) for row in [head[:2], *wrong]) + "\n")
        found = self.described("crowd/answers.csv", "--gold", "wrong.csv")["gold_check"]
        self.assertGreaterEqual(len(planted & {one["task"] for one in found["suspects"]}), 6)
        self.assertGreater(found["expected_wrong"], clean["expected_wrong"] + 4)
        for one in found["suspects"]:
            self.assertGreaterEqual(one["gold_wrong"], 0.8)
            self.assertGreater(one["for_that"], one["for_gold"])
        shown = self.run_program("describe", "crowd/answers.csv", "--gold", "wrong.csv", "--quiet").stdout
        self.assertIn("gold labels look wrong", shown)
        self.assertIn(found["suspects"][0]["task"], shown)

    def test_contradicting_repeats_are_named(self):
        self.write("twice.csv", "task,worker,label\nt1,w1,yes\nt1,w1,no\nt1,w2,yes\nt2,w1,no\nt2,w2,no\nt2,w2,no\n")
        for duplicates in ("keep-last", "repeat"):
            found = self.described("twice.csv", "--duplicates", duplicates)["contradictions"]
            self.assertEqual(found, [{"task": "t1", "worker": "w1", "said": ["no", "yes"]}])
        self.write("gold.csv", "task,label\nt1,maybe\n")  # a class that nobody said, before those that were
        self.assertEqual(self.described("twice.csv", "--gold", "gold.csv")["contradictions"][0]["said"], ["no", "yes"])
        self.assertIn("1 time a worker answered a task again", self.run_program("describe", "twice.csv", "--quiet").stdout)
        self.assertEqual(self.described("crowd/answers.csv")["contradictions"], [])

    def test_names_of_data_reach_the_screen_as_text(self):
        self.write("odd.csv", "task,worker,label\n\x1b[31mt1,w1,yes\n\x1b[31mt1,w1,no\nt2,w1,no\n")
        self.assertNotIn("\x1b[31m", self.run_program("describe", "odd.csv", "--quiet").stdout)

    def test_tasks_under_two_names(self):
        self.write("answers.csv", "task,worker,label\na,w1,yes\nb,w1,no\nc,w1,no\na,w2,yes\nb,w2,no\nc,w2,no\n")
        self.write("features.csv", "task,x,y\na,1,2\nb,1,2\nc,3,4\n")
        self.assertEqual(self.described("answers.csv", "--features", "features.csv")["twin_tasks"],
                         [{"tasks": ["a", "b"], "contradict": True}])
        self.write("gold.csv", "task,label\na,yes\nb,yes\n")
        self.assertFalse(self.described("answers.csv", "--features", "features.csv", "--gold", "gold.csv")["twin_tasks"][0]["contradict"])
        self.assertNotIn("twin_tasks", self.described("answers.csv"))

    def test_tasks_without_features_are_refused(self):
        failed = self.run_program("describe", "crowd/answers.csv", "--tasks", "crowd/tasks.csv", code=64)
        self.assertIn("--features", failed.stderr)


if __name__ == "__main__":
    unittest.main()
