"""Answers that say same or different, as users meet them: every command, every way in, and every refusal."""
import csv
import json
import os
import unittest
from pathlib import Path

from program import ProgramTest

ANSWERS = """worker,left,right,label
ann,a,b,same
bob,b,a,same
cid,a,b,different
ann,c,d,same
bob,c,d,same
ann,a,c,different
bob,d,b,different
cid,a,d,different
ann,b,c,different
"""
CLUSTERS = "item,cluster\na,x\nb,x\nc,y\nd,y\n"
PAIRS = "left,right,label\nb,a,yes\na,c,no\n"
SIMILAR = ("--answers", "similarities")
FASHION = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data")) / "learn/fashion/gold.csv"


class SimilaritiesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", ANSWERS)
        self.write("gold.csv", CLUSTERS)

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def json(self, *arguments, **options):
        return json.loads(self.run_program(*arguments, *SIMILAR, "--json", **options).stdout)

    def clusters(self, *arguments):
        self.run_program("aggregate", *arguments, *SIMILAR, "--out", "out", "--quiet")
        return {row["item"]: row["cluster"] for row in self.rows("out/clusters.csv")}

    def refused(self, *arguments, code=65, says=(), **options):
        """Refused with these words; no folder and no file is left."""
        before = self.names()
        error = self.run_program(*arguments, code=code, **options).stderr
        for word in says:
            self.assertIn(word, error)
        self.assertEqual(self.names(), before)


class Aggregate(SimilaritiesTest):
    def test_files(self):
        for method in ("crowd_clusters", "pair_vote"):
            with self.subTest(method):
                self.assertEqual(self.clusters("a.csv", "--method", method), {"a": "1", "b": "1", "c": "2", "d": "2"})
        self.assertEqual(self.names("out"), ["clusters.csv", "pairs.csv", "run.json", "workers.csv"])
        self.assertEqual(list(self.rows("out/clusters.csv")[0]), ["item", "cluster", "probability"])
        self.assertEqual(list(self.rows("out/workers.csv")[0]), ["worker", "answers", "said_same", "false_different", "false_same", "agreement"])
        pair = self.rows("out/pairs.csv")[0]
        self.assertEqual((pair["left"], pair["right"], pair["answers"], pair["said_same"]), ("a", "b", "3", "2"))
        record = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual((record["answers_kind"], record["data"]["items"], record["data"]["tasks"]), ("similarities", 4, 6))

    def test_order_of_rows_and_sides_means_nothing(self):
        head, *rows = ANSWERS.splitlines()
        swapped = [",".join((w, r, l, s)) for w, l, r, s in (row.split(",") for row in reversed(rows))]
        self.write("b.csv", "\n".join([head, *swapped]) + "\n")
        self.clusters("a.csv")
        first = [(self.folder / "out" / name).read_text() for name in ("clusters.csv", "workers.csv", "pairs.csv")]
        self.clusters("b.csv")
        self.assertEqual(first, [(self.folder / "out" / name).read_text() for name in ("clusters.csv", "workers.csv", "pairs.csv")])

    def test_gold(self):
        scored = self.json("aggregate", "a.csv", "--gold", "gold.csv", "--gold-for", "evaluation")
        self.assertEqual(scored["evaluation"]["accuracy"]["value"], 1)
        self.assertEqual(scored["evaluation"]["nmi"], 1)
        self.assertEqual(self.clusters("a.csv", "--gold", "gold.csv"), {"a": "x", "b": "x", "c": "y", "d": "y"})
        self.write("pairs.csv", PAIRS)
        by_pairs = self.json("aggregate", "a.csv", "--gold", "pairs.csv", "--gold-for", "evaluation")["evaluation"]
        self.assertEqual((by_pairs["items"], by_pairs["pairs"], by_pairs["pair_f1"]), (0, 2, 1))

    def test_columns(self):
        self.write("other.csv", ANSWERS.replace("worker,left,right,label", "who,p,q,said"))
        self.assertEqual(self.clusters("other.csv", "--columns", "who,p,q,said"), {"a": "1", "b": "1", "c": "2", "d": "2"})
        self.write("named.csv", CLUSTERS.replace("item,cluster", "thing,group"))
        scored = self.json("aggregate", "a.csv", "--gold", "named.csv", "--gold-columns", "thing,group", "--gold-for", "evaluation")
        self.assertEqual(scored["evaluation"]["items"], 4)

    def test_refusals(self):
        for text, words in ((ANSWERS + "ann,a,a,same\n", ("bad.csv:11", "'a'", "is compared with itself")),
                            (ANSWERS + "ann,a,b,perhaps\n", ("bad.csv:11", "'perhaps'", "same or different")),
                            ("task,worker,label\nt,w,1\n", ("bad.csv", "columns"))):
            self.write("bad.csv", text)
            self.refused("aggregate", "bad.csv", *SIMILAR, "--out", "out", says=words)
        self.refused("aggregate", "a.csv", *SIMILAR, "--method", "dawid_skene", code=64, says=("similarities", "crowd_clusters"))
        self.refused("aggregate", "a.csv", *SIMILAR, "--classes", "x,y", code=64, says=("no classes",))
        self.refused("aggregate", "a.csv", *SIMILAR, "--set", "clusters=-1", code=64, says=("clusters",))


class OtherCommands(SimilaritiesTest):
    def test_describe(self):
        found = self.json("describe", "a.csv")
        self.assertEqual((found["items"], found["pairs"], found["answers"], found["components"]), (4, 6, 9, 1))
        self.assertEqual((found["triangles"], found["contradicting_triangles"], found["coverage"]), (4, 0, 1))
        self.write("odd.csv", "worker,left,right,label\nw,a,b,same\nw,b,c,same\nw,a,c,different\n")
        self.assertEqual(self.json("describe", "odd.csv")["contradictions"], [["a", "b", "c"]])
        self.assertIn("a = b, b = c, but a ≠ c", self.run_program("describe", "odd.csv", *SIMILAR).stdout)

    def test_evaluate(self):
        self.clusters("a.csv")
        found = self.json("evaluate", "out/clusters.csv", "gold.csv")
        self.assertEqual((found["items"], found["accuracy"]["value"], found["adjusted_rand"]), (4, 1, 1))
        self.write("pairs.csv", PAIRS)
        self.assertEqual(self.json("evaluate", "out/clusters.csv", "pairs.csv")["pair_f1"], 1)
        self.write("others.csv", "item,cluster\nq,x\n")
        self.refused("evaluate", "out/clusters.csv", "others.csv", *SIMILAR, says=("same items",))

    def test_simulate_and_compare(self):
        self.run_program("simulate", "noisy_clusters", "--tasks", "80", "--classes", "3", "--answers-per-task", "60", "--workers", "6", "--out", "crowd",
                         "--quiet")
        self.assertEqual(self.names("crowd"), ["answers.csv", "gold.csv", "simulation.json", "workers.csv"])
        by_gold = self.json("compare", "crowd/answers.csv", "--gold", "crowd/gold.csv")["methods"]
        self.assertEqual(by_gold[0]["method"], "crowd_clusters")
        self.assertGreater(by_gold[0]["accuracy"]["value"], 0.95)
        hidden = self.json("compare", "crowd/answers.csv", "--folds", "2")["methods"]
        self.assertEqual({row["method"] for row in hidden}, {"crowd_clusters", "pair_vote"})
        self.assertGreater(hidden[0]["log_probability"]["value"], -0.64)
        self.run_program("simulate", "noisy_clusters", "--gold", "crowd/gold.csv", "--out", "again", "--quiet")
        self.assertEqual((self.folder / "again/gold.csv").read_text(), (self.folder / "crowd/gold.csv").read_text())

    def test_methods_list_the_kind(self):
        listed = json.loads(self.run_program("methods", "--json").stdout)["similarity_methods"]
        self.assertEqual([m["name"] for m in listed], ["crowd_clusters", "pair_vote"])
        self.assertTrue(listed[0]["is_default"])


class FashionPairs(SimilaritiesTest):
    """Clusters of real gold, seen by workers who err in three pairs of ten."""

    @unittest.skipUnless(FASHION.exists(), "the real data sets are not at hand; set WISECROWD_DATA to their folder")
    def test_thirty_percent_noise(self):
        with open(FASHION) as file:
            self.write("fashion.csv", "".join(line for _, line in zip(range(401), file)))
        self.run_program("simulate", "noisy_clusters", "--gold", "fashion.csv", "--answers-per-task", "350", "--workers", "30", "--set",
                         "false_different=0.3", "--set", "false_same=0.3", "--set", "spread=0", "--out", "noisy", "--quiet")
        found = self.json("aggregate", "noisy/answers.csv", "--gold", "fashion.csv", "--gold-for", "evaluation", "--set", "clusters=10")
        self.assertGreaterEqual(found["evaluation"]["accuracy"]["value"], 0.95)

    @unittest.skipUnless(FASHION.exists(), "the real data sets are not at hand; set WISECROWD_DATA to their folder")
    def test_thirty_percent_noise_with_features(self):
        """A third of the answers that are needed without features; clean answers give at most 1."""
        with open(FASHION) as file:
            self.write("fashion.csv", "".join(line for _, line in zip(range(501), file)))
        self.run_program("simulate", "noisy_clusters", "--gold", "fashion.csv", "--answers-per-task", "120", "--workers", "30", "--set",
                         "false_different=0.3", "--set", "false_same=0.3", "--set", "spread=0", "--out", "noisy", "--quiet")
        found = [self.json("learn", "noisy/answers.csv", "--features", str(FASHION.parent / "images.npy"), "--tasks",
                           str(FASHION.parent / "tasks.csv"), "--gold", "fashion.csv", "--set", "restarts=2", "--set", "rounds=10", "--set",
                           "start_steps=300", "--seed", seed) for seed in "123"]
        self.assertGreaterEqual(sum(one["evaluation"]["accuracy"]["value"] for one in found) / 3, 0.95)
        for one in found:
            self.assertGreater(one["learned"]["hidden_log_probability"], one["learned"]["hidden_log_probability_without_features"])


if __name__ == "__main__":
    unittest.main()
