"""Answers that are sets of classes, as users meet them: every command, every way in, and every refusal."""
import csv
import json
import unittest

from program import ProgramTest

ANSWERS = """task,worker,label
t1,ann,cat|dog
t1,bob,cat
t1,cid,dog|cat
t2,ann,[]
t2,bob,fox
t2,cid,[]
t3,ann,fox
t3,bob,fox
"""
GOLD = "task,truth\nt1,cat|dog\nt2,[]\nt3,cat\n"
SETS = ("--answers", "sets")
MAJORITY = ("--method", "binary_relevance", "--set", "base=majority")


class SetsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", ANSWERS)
        self.write("gold.csv", GOLD)

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def json(self, *arguments, **options):
        return json.loads(self.run_program(*arguments, *SETS, "--json", **options).stdout)

    def sets(self, *arguments, **options):
        self.run_program("aggregate", *arguments, *SETS, *MAJORITY, "--out", "out", "--quiet", **options)
        return {row["task"]: row["set"] for row in self.rows("out/sets.csv")}

    def refused(self, *arguments, code=65, says=(), **options):
        """Refused with these words; no folder and no file is left."""
        before = self.names()
        error = self.run_program(*arguments, code=code, **options).stderr
        for word in says:
            self.assertIn(word, error)
        self.assertEqual(self.names(), before)


class Aggregate(SetsTest):
    def test_files(self):
        self.assertEqual(self.sets("a.csv"), {"t1": "cat|dog", "t2": "[]", "t3": "fox"})
        self.assertEqual(self.names("out"), ["run.json", "sets.csv", "workers.csv"])
        row = self.rows("out/sets.csv")[0]
        self.assertEqual(list(row), ["task", "set", "p_cat", "p_dog", "p_fox"])
        self.assertEqual([row[key] for key in ("p_cat", "p_dog", "p_fox")], ["1", "0.666667", "0"])
        self.assertEqual(list(self.rows("out/workers.csv")[0])[:6],
                         ["worker", "answers", "set_size", "sensitivity", "specificity", "sensitivity_cat"])
        record = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual(record["answers_kind"], "sets")
        self.assertEqual(record["data"]["classes"], ["cat", "dog", "fox"])

    def test_every_way_to_write_a_set(self):
        wanted = {"t1": "cat|dog", "t2": "[]", "t3": "fox"}
        self.write("rows.csv", "task,worker,label\nt1,ann,cat\nt1,ann,dog\nt1,bob,cat\nt1,cid,dog\nt1,cid,cat\nt2,ann,[]\nt2,bob,fox\nt2,cid,[]\n"
                   "t3,ann,fox\nt3,bob,fox\n")
        self.assertEqual(self.sets("rows.csv"), wanted)
        self.write("semicolon.csv", ANSWERS.replace("|", ";").replace("[]", "none"))
        self.assertEqual(self.sets("semicolon.csv", "--set-separator", ";", "--empty-set", "none"), wanted)
        self.write("blank.csv", ANSWERS.replace("[]", ""))
        self.assertEqual(self.sets("blank.csv", "--blank-is-empty"), wanted)
        self.write("wide.csv", "task,ann,bob,cid\nt1,cat|dog,cat,dog|cat\nt2,[],fox,[]\nt3,fox,fox,\n")
        self.assertEqual(self.sets("wide.csv", "--wide"), wanted)
        lines = [json.dumps({"task": t, "worker": w, "tags": [] if s == "[]" else s.split("|")})
                 for t, w, s in (line.split(",") for line in ANSWERS.splitlines()[1:])]
        self.write("lines.jsonl", "\n".join(lines) + "\n")
        self.assertEqual(self.sets("lines.jsonl"), wanted)

    def test_names_that_would_not_come_back_are_written_as_json(self):
        self.write("odd.csv", 'task,worker,label\nt,a,"[""x|y"", ""z""]"\nt,b,"[""x|y"", ""z""]"\n')
        self.assertEqual(self.sets("odd.csv"), {"t": '["x|y", "z"]'})
        again = self.json("evaluate", "out/sets.csv", "out/sets.csv")
        self.assertEqual(again["exact_match"]["value"], 1)

    def test_many_classes_are_listed_as_candidates(self):
        self.run_program("aggregate", "a.csv", *SETS, "--set", "candidates=named", "--out", "out", "--quiet")
        rows = {row["task"]: row for row in self.rows("out/sets.csv")}
        self.assertEqual(list(rows["t1"]), ["task", "set", "candidates", "probabilities"])
        self.assertEqual(rows["t1"]["candidates"], "cat|dog")
        self.assertEqual(len(rows["t1"]["probabilities"].split("|")), 2)
        report = json.loads(self.run_program("report", "out", "--json").stdout)
        self.assertEqual(report["answers_kind"], "sets")

    def test_gold_is_scored_or_learned_from(self):
        scored = self.json("aggregate", "a.csv", *MAJORITY, "--gold", "gold.csv", "--gold-for", "evaluation")["evaluation"]
        self.assertAlmostEqual(scored["exact_match"]["value"], 2 / 3)
        self.assertAlmostEqual(scored["micro_f1"]["value"], 2 * 2 / (3 + 3))
        self.assertEqual(self.sets("a.csv", "--gold", "gold.csv")["t3"], "cat")

    def test_the_default_says_what_it_chose(self):
        self.assertIn("relevance", self.json("aggregate", "a.csv")["explanation"])


class Look(SetsTest):
    def test_describe(self):
        told = self.json("describe", "a.csv")
        self.assertEqual((told["answers"], told["empty_answers"]), (8, 2))
        self.assertEqual([row["named"] for row in told["classes"]], [3, 2, 3])
        self.assertLess(told["masi_alpha"], told["jaccard_alpha"])
        self.assertIn("MASI alpha", self.run_program("describe", "a.csv", *SETS).stdout)

    def test_compare(self):
        hidden = self.json("compare", "a.csv")
        self.assertEqual(hidden["answers_kind"], "sets")
        self.assertEqual({row["method"] for row in hidden["methods"]},
                         {"best_relevance", "binary_relevance", "shared_relevance", "profile_relevance"})
        by_gold = self.json("compare", "a.csv", "--gold", "gold.csv", "--methods", "binary_relevance,shared_relevance")
        self.assertEqual(by_gold["gold_tasks"], 3)
        self.assertIn("jaccard", by_gold["methods"][0])

    def test_evaluate(self):
        self.write("mine.csv", "task,set\nt1,cat|dog\nt2,fox\nt3,cat\nt9,cat\n")
        scores = self.json("evaluate", "mine.csv", "gold.csv")
        self.assertEqual(scores["tasks"], 3)
        self.assertEqual(scores["tasks_without_gold"], 1)
        self.assertAlmostEqual(scores["jaccard"]["value"], 2 / 3)
        self.assertAlmostEqual(scores["hamming"]["value"], 1 / 9)
        self.assertEqual({row["name"]: row["predicted"] for row in scores["classes"]}, {"cat": 2, "dog": 1, "fox": 1})

    def test_report(self):
        self.run_program("aggregate", "a.csv", *SETS, "--gold", "gold.csv", "--gold-for", "evaluation", "--out", "out", "--report", "r.json", "--quiet")
        first = json.loads((self.folder / "r.json").read_text())
        later = json.loads(self.run_program("report", "out", "--json").stdout)
        for part in ("tasks", "classes", "workers", "gold", "headlines", "verdict"):
            self.assertEqual(first[part], later[part], part)
        self.assertEqual(first["tasks"]["rows"][0]["why"][0], "not as gold")

    def test_simulate(self):
        self.run_program("simulate", "profile_sets", "--tasks", "50", "--classes", "4", "--out", "crowd", "--quiet")
        self.assertEqual(self.names("crowd"), ["answers.csv", "gold.csv", "simulation.json", "workers.csv"])
        self.assertEqual(self.json("describe", "crowd/answers.csv")["tasks"], 50)
        self.refused("simulate", "profile_sets", "--dimensions", "2", "--out", "x", code=64, says=["--dimensions is for gaussian_numbers alone"])


class Refusals(SetsTest):
    def test_bad_cells(self):
        for cell, says in (("cat||dog", "without a name"), ("", "write [] for none"), ('"[cat, dog]"', "no list of classes"), ("cat|[]", "beside others")):
            self.write("bad.csv", f"task,worker,label\nt,ann,cat|dog\nt,bob,{cell}\n")
            self.refused("aggregate", "bad.csv", *SETS, "--out", "out", says=["bad.csv:3: column 'label'", says])

    def test_methods_of_other_kinds(self):
        self.refused("aggregate", "a.csv", *SETS, "--method", "dawid_skene", code=64, says=["these answers are sets"])
        self.refused("aggregate", "a.csv", "--method", "shared_relevance", code=64, says=["--answers sets"])

    def test_flags_of_categories(self):
        self.refused("aggregate", "a.csv", *SETS, "--abstain-below", "0.9", code=64, says=["--answers sets"])

    def test_another_separator_is_warned_of(self):
        self.write("semicolon.csv", ANSWERS.replace("|", ";"))
        self.assertIn("--set-separator ';'", self.run_program("aggregate", "semicolon.csv", *SETS).stderr)


if __name__ == "__main__":
    unittest.main()
