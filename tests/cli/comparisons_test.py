"""Comparisons, as users meet them: every command, every way in, and every refusal."""
import csv
import json
import unittest

from program import ProgramTest

ANSWERS = """worker,left,right,label
ann,a,b,a
bob,b,a,a
cid,a,b,b
ann,b,c,left
bob,b,c,tie
cid,c,b,right
ann,a,c,a
bob,c,a,left
"""
PAIRS = "left,right,label\na,b,a\nc,b,b\n"
ITEMS = "item,score\na,3\nb,2\nc,1\n"
COMPARISONS = ("--answers", "comparisons")


class ComparisonsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", ANSWERS)
        self.write("pairs.csv", PAIRS)
        self.write("items.csv", ITEMS)

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def json(self, *arguments, **options):
        return json.loads(self.run_program(*arguments, *COMPARISONS, "--json", **options).stdout)


class Aggregate(ComparisonsTest):
    def test_files_and_reading_them_back(self):
        self.run_program("aggregate", "a.csv", *COMPARISONS, "-m", "bradley_terry", "--out", "out", "--report", "now.json", "--quiet")
        self.assertEqual(self.names("out"), ["pairs.csv", "ranking.csv", "run.json", "workers.csv"])
        ranking = self.rows("out/ranking.csv")
        self.assertEqual(list(ranking[0]), ["item", "score", "deviation", "low", "high", "rank", "rank_low", "rank_high"])
        self.assertEqual([row["item"] for row in ranking], ["a", "b", "c"])
        self.assertEqual([row["rank"] for row in ranking], ["1", "2", "3"])
        pairs = self.rows("out/pairs.csv")
        self.assertEqual([(row["left"], row["right"]) for row in pairs], [("a", "b"), ("a", "c"), ("b", "c")])
        for row in pairs:
            self.assertAlmostEqual(sum(float(row[key]) for key in ("p_left", "p_right", "p_tie")), 1, places=5)
        workers = self.rows("out/workers.csv")
        self.assertEqual(workers[1]["worker"], "bob")
        self.assertAlmostEqual(float(workers[1]["tie_rate"]), 1 / 3, places=5)
        record = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual(record["answers_kind"], "comparisons")
        self.assertEqual(record["data"]["items"], 3)
        self.run_program("report", "out", "--out", "later.json", "--quiet")
        now, later = (json.loads((self.folder / name).read_text()) for name in ("now.json", "later.json"))
        for key in ("items", "workers", "counts", "verdict"):
            self.assertEqual(now[key], later[key], key)

    def test_bootstrap_of_every_method_that_has_it(self):
        for method in ("bradley_terry", "crowd_bt", "noisy_bradley_terry"):
            fits = [self.json("aggregate", "a.csv", "-m", method, "--set", "replicates=50", "--set", f"resample={drawn}", "--set",
                              f"intervals={intervals}", "--out", f"{method}-{intervals}-{drawn}")
                    for intervals, drawn in (("analytic", "answers"), ("bootstrap", "answers"), ("bootstrap", "workers"))]
            self.assertEqual(len(fits), 3)
            rows = [self.rows(f"{method}-{name}/ranking.csv") for name in ("analytic-answers", "bootstrap-answers", "bootstrap-workers")]
            self.assertEqual(len({tuple((row["item"], row["score"]) for row in own) for own in rows}), 1, method)
            self.assertEqual(len({tuple(row["deviation"] for row in own) for own in rows}), 3, method)

    def test_no_ties_where_nobody_said_tie(self):
        self.write("decided.csv", ANSWERS.replace("tie", "b"))
        for method in ("bradley_terry", "crowd_bt", "davidson", "comparisons_default"):
            self.run_program("aggregate", "decided.csv", *COMPARISONS, "-m", method, "--out", "out", "--quiet")
            self.assertEqual({row["p_tie"] for row in self.rows("out/pairs.csv")}, {"0"}, method)
            self.assertNotIn("tie", {row["label"] for row in self.rows("out/pairs.csv")}, method)

    def test_the_default_says_what_it_chose(self):
        self.assertIn("comparisons_default (default)", self.run_program("aggregate", "a.csv", *COMPARISONS).stdout)

    def test_gold_of_pairs_and_of_items(self):
        found = self.json("aggregate", "a.csv", "--gold", "pairs.csv", "--gold-for", "evaluation", "-m", "bradley_terry")
        self.assertEqual(found["evaluation"]["pairs"], 2)
        self.assertEqual(found["evaluation"]["ordered"]["value"], 1)
        found = self.json("aggregate", "a.csv", "--gold", "items.csv", "--gold-for", "evaluation", "-m", "crowd_bt")
        self.assertEqual(found["evaluation"]["kendall"], 1)
        seen = self.json("aggregate", "a.csv", "--gold", "pairs.csv", "-m", "bradley_terry")
        self.assertEqual(seen["data"]["gold"]["used_for"], "inference")

    def test_item_features(self):
        self.write("lengths.csv", "item,length\na,10\nb,5\nc,1\n")
        text = self.run_program("aggregate", "a.csv", *COMPARISONS, "-m", "bradley_terry", "--item-features", "lengths.csv").stdout
        self.assertIn("each unit of length adds", text)
        self.write("lengths.csv", "item,length\na,10\n")
        self.assertIn("no row for the item 'b'", self.run_program("aggregate", "a.csv", *COMPARISONS, "--item-features", "lengths.csv", code=65).stderr)
        self.run_program("aggregate", "a.csv", "--item-features", "lengths.csv", "--columns", "left,worker,label", code=64)


class Learn(ComparisonsTest):
    """Items with a feature that says how good they are; the last ones nobody compared."""

    def setUp(self):
        super().setUp()
        self.write("features.csv", "item,size\n" + "".join(f"i{i:02},{i}\n" for i in range(24)))
        self.write("gold.csv", "item,score\n" + "".join(f"i{i:02},{i}\n" for i in range(24)))
        rows = [f"w{w},i{a:02},i{b:02},{'left' if (a > b) != (w == 3) else 'right'}"
                for w in range(4) for a in range(20) for b in range(20) if a != b and (a * 7 + b * 3 + w) % 8 == 0]
        self.write("duels.csv", "worker,left,right,label\n" + "\n".join(rows) + "\n")
        self.learn = ("learn", "duels.csv", "--features", "features.csv", "--set", "epochs=40", "--set", "learning_rate=0.05", "--model", "linear")

    def test_files_model_and_report(self):
        found = self.json(*self.learn, "--gold", "gold.csv", "--out", "out")
        self.assertEqual(self.names("out"), ["model", "pairs.csv", "ranking.csv", "run.json", "scores.csv", "workers.csv"])
        self.assertEqual((found["method"], found["evaluation"]["items"], found["uncompared"]["items"]), ("score_network", 20, 4))
        self.assertGreater(found["evaluation"]["kendall"], 0.99)
        self.assertGreater(found["uncompared"]["kendall"], 0.99)
        scores = self.rows("out/scores.csv")
        self.assertEqual([row["item"] for row in scores][:2], ["i23", "i22"])
        self.assertEqual((len(scores), scores[0]["comparisons"]), (24, "0"))
        ranking = self.rows("out/ranking.csv")
        self.assertEqual((ranking[0]["item"], ranking[0]["deviation"], len(ranking)), ("i19", "", 20))
        reliability = [float(row["reliability"]) for row in self.rows("out/workers.csv")]
        self.assertLess(reliability[3], 0.5)
        self.assertGreater(min(reliability[:3]), 0.5)
        predicted = self.run_program("predict", "out", "--features", "features.csv").stdout.splitlines()
        self.assertEqual(predicted[0].split(",")[:2], ["task", "estimate"])
        for line, row in zip(sorted(predicted[1:]), sorted(scores, key=lambda row: row["item"])):
            self.assertAlmostEqual(float(line.split(",")[1]), float(row["score"]), places=4)
        self.run_program("report", "out", "--out", "later.json", "--quiet")
        page = json.loads((self.folder / "later.json").read_text())
        self.assertEqual(page["counts"]["items"], 20)
        text = self.run_program(*self.learn, *COMPARISONS, "--gold", "gold.csv").stdout
        self.assertIn("items that nobody compared", text)
        self.assertNotIn("95 %", text)  # a network does not know

    def test_refusals(self):
        before = self.names()
        for flags, code, words in ((("--method", "crowd_bt"), 64, "there is no learner of comparisons 'crowd_bt': choose score_network"),
                                   (("--report", "r.html"), 64, "--report is not for"),
                                   (("--gold-for", "inference"), 64, "--gold-for inference is not for"),
                                   (("--set", "epoch=3"), 64, "epochs")):
            self.assertIn(words, self.run_program(*self.learn, *COMPARISONS, *flags, "--out", "out", code=code).stderr)
        self.write("few.csv", "item,size\ni00,1\ni01,2\n")
        error = self.run_program("learn", "duels.csv", *COMPARISONS, "--features", "few.csv", "--out", "out", code=65).stderr
        self.assertIn("18 of 20 items have no features, 'i02' among them", error)
        (self.folder / "few.csv").unlink()
        self.assertEqual(self.names(), before)


class Others(ComparisonsTest):
    def test_describe(self):
        found = self.json("describe", "a.csv")
        self.assertEqual((found["items"], found["pairs"], found["answers"]), (3, 3, 8))
        self.assertEqual(found["item_groups"], 1)
        self.assertAlmostEqual(found["tie_share"], 1 / 8)
        self.assertIn("3 items in 3 pairs", self.run_program("describe", "a.csv", *COMPARISONS).stdout)

    def test_compare(self):
        self.run_program("simulate", "compared_items", "--items", "10", "--tasks", "100", "--out", "duels", "--quiet")
        by_hidden = self.json("compare", "duels/answers.csv")
        self.assertEqual({row["method"] for row in by_hidden["methods"]},
                         {"bradley_terry", "davidson", "crowd_bt", "noisy_bradley_terry", "preference_groups", "comparisons_default"})
        by_gold = self.json("compare", "duels/answers.csv", "--gold", "duels/gold_pairs.csv", "-m", "bradley_terry,crowd_bt")
        self.assertGreater(by_gold["methods"][0]["ordered"]["value"], 0.8)

    def test_evaluate_a_ranking(self):
        self.write("ranking.csv", "item,score\na,1\nb,0\nc,-1\n")
        self.assertEqual(self.json("evaluate", "ranking.csv", "pairs.csv")["ordered"]["value"], 1)
        self.assertEqual(self.json("evaluate", "ranking.csv", "items.csv")["kendall"], 1)

    def test_pairs_and_preferences(self):
        text = self.run_program("pairs", "a.csv", "--next", "2", "--preferences", "p.jsonl").stdout
        self.assertIn("Ask next", text)
        lines = [json.loads(line) for line in (self.folder / "p.jsonl").read_text().splitlines()]
        self.assertTrue(lines)
        self.assertEqual(list(lines[0]), ["prompt", "chosen", "rejected", "weight", "probability"])
        found = json.loads(self.run_program("pairs", "a.csv", "--next", "2", "--json").stdout)
        self.assertEqual(len(found["questions"]), 2)
        self.assertGreaterEqual(found["questions"][0]["gain"], found["questions"][1]["gain"])

    def test_simulate(self):
        self.run_program("simulate", "compared_items", "--items", "6", "--tasks", "30", "--set", "adversaries=0.5", "--out", "duels", "--quiet")
        self.assertEqual(self.names("duels"), ["answers.csv", "gold.csv", "gold_pairs.csv", "simulation.json", "workers.csv"])
        self.assertEqual(len(self.rows("duels/answers.csv")), 150)
        self.assertIn("adversary", {row["kind"] for row in self.rows("duels/workers.csv")})
        self.run_program("simulate", "compared_items", "--classes", "3", "--out", "more", code=64)
        self.run_program("simulate", "dawid_skene", "--items", "3", "--out", "more", code=64)


class Refusals(ComparisonsTest):
    def test_bad_rows_name_file_line_value_and_remedy(self):
        for rows, words in (("ann,a,a,a\n", ["bad.csv:2", "'a'", "compared with itself"]), ("ann,a,b,c\n", ["bad.csv:2", "'c'", "must be the name of one of them"]),
                            ("ann,a,b,\n", ["bad.csv:2"]), ("ann,a,b,1\n", ["bad.csv:2", "left, right or tie"])):
            self.write("bad.csv", "worker,left,right,label\n" + rows)
            for command in (("aggregate", "bad.csv", "--out", "none"), ("describe", "bad.csv"), ("compare", "bad.csv")):
                before = self.names()
                error = self.run_program(*command, *COMPARISONS, code=65).stderr
                for word in words:
                    self.assertIn(word, error)
                self.assertEqual(self.names(), before)

    def test_what_is_of_another_kind(self):
        self.run_program("aggregate", "a.csv", *COMPARISONS, "-m", "dawid_skene", code=64)
        self.run_program("aggregate", "a.csv", *COMPARISONS, "--wide", code=64)
        self.run_program("aggregate", "a.csv", *COMPARISONS, "--classes", "a,b", code=64)
        self.assertIn("bradley_terry", self.run_program("aggregate", "a.csv", "-m", "bradley_terry", code=64).stderr)
        error = self.run_program("aggregate", "a.csv", code=65).stderr
        self.assertIn("'left' and 'right' are columns of pairs: read them with --answers comparisons, or with --answers similarities", error)


if __name__ == "__main__":
    unittest.main()
