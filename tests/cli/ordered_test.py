#!/usr/bin/env python3
"""Ordered classes, and tasks on a graph: --ordered, --graph, --features and --neighbours."""
import csv
import json
import os
import unittest
from pathlib import Path

from program import ProgramTest

DATA = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data"))


class OrderedTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.simulate("ordered_scale", tasks=200, workers=15, classes=4)

    def test_results_say_the_order_and_are_read_back(self):
        done = self.run_program("aggregate", "crowd/answers.csv", "--ordered", "--method", "ordinal_dawid_skene", "--gold", "crowd/gold.csv",
                                "--gold-for", "evaluation", "--out", "result")
        self.assertIn("ranks off on average", done.stdout)
        run = json.loads((self.folder / "result/run.json").read_text())
        self.assertIs(run["data"]["ordered"], True)
        self.assertEqual(run["parameters"]["decision"], "median")
        score = json.loads(self.run_program("evaluate", "result/labels.csv", "crowd/gold.csv", "--ordered", "--json").stdout)
        self.assertAlmostEqual(score["rank_error"]["value"], run["rank_evaluation"]["rank_error"]["value"])
        self.assertGreater(score["quadratic_kappa"]["value"], 0.5)
        self.run_program("report", "result", "--out", "page.html", "--quiet")
        self.assertIn('"rank_error"', (self.folder / "page.html").read_text(encoding="utf-8"))
        self.run_program("aggregate", "crowd/answers.csv", "--out", "plain", "--quiet")
        plain = json.loads((self.folder / "plain/run.json").read_text())
        self.assertNotIn("ordered", plain["data"])
        self.assertNotEqual(plain["data"]["hash"], run["data"]["hash"])

    def test_words_have_the_order_of_the_list(self):
        rows = ["task,worker,label"]
        for t in range(30):
            rows += [f"t{t},w{w},{('low', 'mid', 'high')[(t + (w == 2)) % 3]}" for w in range(4)]
        self.write("words.csv", "\n".join(rows) + "\n")
        done = self.run_program("aggregate", "words.csv", "--ordered", code=65)
        self.assertRegex(" ".join(done.stderr.split()), r"words.csv: classes are to be ordered, but '\w+' is no number.*--classes")
        self.run_program("aggregate", "words.csv", "--ordered", "--classes", "low,mid,high", "-m", "latent_ordinal", "--out", "result", "--quiet")
        run = json.loads((self.folder / "result/run.json").read_text())
        self.assertEqual(run["data"]["classes"], ["low", "mid", "high"])

    def test_methods_refuse_what_they_need(self):
        done = self.run_program("aggregate", "crowd/answers.csv", "-m", "latent_ordinal", code=65)
        self.assertIn("latent_ordinal uses the order of classes, and these have none: read the data with --ordered", " ".join(done.stderr.split()))
        done = self.run_program("aggregate", "crowd/answers.csv", "-m", "minimax_entropy", "--set", "form=ordinal", code=65)
        self.assertIn("--ordered", done.stderr)
        done = self.run_program("aggregate", "crowd/answers.csv", "-m", "graph_dawid_skene", code=65)
        self.assertIn("give their --graph, or --features", " ".join(done.stderr.split()))
        done = self.run_program("aggregate", "crowd/answers.csv", "--answers", "numbers", "--ordered", code=64)
        self.assertIn("--ordered", done.stderr)

    def test_describe_and_compare(self):
        self.assertIn("ordinal alpha", self.run_program("describe", "crowd/answers.csv", "--ordered").stdout)
        self.assertNotIn("ordinal alpha", self.run_program("describe", "crowd/answers.csv").stdout)
        rows = json.loads(self.run_program("compare", "crowd/answers.csv", "--ordered", "--gold", "crowd/gold.csv", "--json", "--methods",
                                           "dawid_skene,ordinal_dawid_skene,latent_ordinal").stdout)["methods"]
        self.assertTrue(all("rank_error" in row for row in rows))
        text = self.run_program("compare", "crowd/answers.csv", "--ordered", "--gold", "crowd/gold.csv", "--methods", "dawid_skene").stdout
        self.assertIn("rank error", text)
        plain = json.loads(self.run_program("compare", "crowd/answers.csv", "--json", "--hide", "0.2", "--folds", "1").stdout)["methods"]
        self.assertNotIn("latent_ordinal", [row["method"] for row in plain])


class GraphTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.simulate("dawid_skene", tasks=200, workers=12, classes=3, answers_per_task=2, gaussian_features=2, seed=3)
        with open(self.folder / "crowd/gold.csv", newline="", encoding="utf-8") as file:
            self.gold = {row["task"]: row["label"] for row in csv.DictReader(file)}

    def accuracy(self, *words):
        self.run_program("aggregate", "crowd/answers.csv", "--gold", "crowd/gold.csv", "--gold-for", "evaluation", "--out", "result", "--quiet", *words)
        return json.loads((self.folder / "result/run.json").read_text())["evaluation"]["accuracy"]["value"]

    def test_a_graph_of_the_truth_helps(self):
        last, edges = {}, ["task,neighbour,weight"]
        for task, label in self.gold.items():
            if label in last:
                edges.append(f"{last[label]},{task},2")
            last[label] = task
        self.write("edges.csv", "\n".join(edges) + "\n")
        plain = self.accuracy("-m", "dawid_skene")
        self.assertGreater(self.accuracy("-m", "graph_dawid_skene", "--graph", "edges.csv"), plain + 0.03)
        with open(self.folder / "result/labels.csv", newline="", encoding="utf-8") as file:
            self.assertIn("neighbour_support", next(csv.DictReader(file)))

    def test_nearest_neighbours(self):
        features = ("--features", "crowd/features.npy", "--tasks", "crowd/tasks.csv")
        self.assertGreater(self.accuracy("-m", "graph_dawid_skene", *features), self.accuracy("-m", "dawid_skene"))
        rows = json.loads(self.run_program("compare", "crowd/answers.csv", *features, "--neighbours", "5", "--gold", "crowd/gold.csv", "--methods",
                                           "dawid_skene,graph_dawid_skene", "--json").stdout)["methods"]
        self.assertGreater(rows[1]["accuracy"]["value"], rows[0]["accuracy"]["value"])

    def test_mistakes_are_told_and_nothing_is_written(self):
        self.write("self.csv", "task,neighbour\ntask_00000001,task_00000001\n")
        self.write("weight.csv", "task,neighbour,weight\ntask_00000001,task_00000002,1\ntask_00000001,task_00000003,-1\n")
        self.write("text.csv", "task,neighbour,weight\ntask_00000001,task_00000002,much\n")
        self.write("one.csv", "task\ntask_00000001\n")
        self.write("bare.csv", "task_00000001,task_00000002\n")
        self.write("strange.csv", "task,neighbour\na,b\n")
        for name, told in (("self.csv", "self.csv:2: column 'neighbour'"), ("weight.csv", "weight.csv:3: column 'weight'"),
                           ("text.csv", "text.csv:2: column 'weight'"), ("one.csv", "Call them 'task' and 'neighbour'"),
                           ("bare.csv", "put 'task,neighbour' above it"), ("strange.csv", "are the tasks spelled alike?")):
            done = self.run_program("aggregate", "crowd/answers.csv", "-m", "graph_dawid_skene", "--graph", name, "--out", "nothing", code=65)
            self.assertIn(told, " ".join(done.stderr.split()))
            self.assertFalse((self.folder / "nothing").exists())
        self.run_program("aggregate", "crowd/answers.csv", "-m", "graph_dawid_skene", "--graph", "weight.csv", "--lenient", "--quiet")
        done = self.run_program("aggregate", "crowd/answers.csv", "--neighbours", "5", code=64)
        self.assertIn("--neighbours needs --features", done.stderr)


@unittest.skipUnless(DATA.is_dir(), "the real data are not at hand (WISECROWD_DATA)")
class RealData(ProgramTest):
    def scores(self, folder, *words):
        folder = DATA / folder
        rows = json.loads(self.run_program("compare", folder / "labels.csv", "--gold", folder / "gold.csv", "--json", *words).stdout)["methods"]
        return {row["method"]: row for row in rows}

    def test_rank_error_of_ordered_data(self):
        for folder, method, words in (("aggregate/adult", "minimax_entropy", ("--classes", "G,P,R,X", "--set", "form=ordinal")),
                                      ("aggregate/relevance", "ordinal_dawid_skene", ())):
            rows = self.scores(folder, "--ordered", *words, "--methods", f"dawid_skene,{method}")
            self.assertLess(rows[method]["rank_error"]["value"], rows["dawid_skene"]["rank_error"]["value"] - 0.01, folder)

    def test_labelme_by_ten_neighbours(self):
        folder = DATA / "learn/labelme"
        rows = self.scores("learn/labelme", "--features", folder / "features.npy", "--tasks", folder / "tasks.csv", "--neighbours", "10",
                           "--methods", "dawid_skene,graph_dawid_skene")
        self.assertGreaterEqual(rows["graph_dawid_skene"]["accuracy"]["value"], 0.87)
        self.assertLess(rows["dawid_skene"]["accuracy"]["value"], 0.8)


if __name__ == "__main__":
    unittest.main()
