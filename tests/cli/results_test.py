"""What is written: complete, parseable, reproducible, the same for any number of threads."""
import csv
import json
import random
import unittest

from program import RESULT_FILES, ProgramTest


class Results(ProgramTest):
    def table(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def record(self, folder="result"):
        return json.loads((self.folder / folder / "run.json").read_text())

    def test_files_and_their_columns(self):
        labels = self.simulate(tasks=200, classes=3, workers=15, seed=5)
        self.run_program("aggregate", labels, "--out", "result", "--gold", "crowd/gold.csv", "--method", "dawid_skene")
        self.assertEqual(self.names("result"), RESULT_FILES)
        rows = self.table("result/labels.csv")
        self.assertEqual(list(rows[0]), ["task", "label", "probability", "p_0", "p_1", "p_2"])
        self.assertEqual(len(rows), 200)
        for row in rows:
            shares = [float(row[f"p_{k}"]) for k in range(3)]
            self.assertAlmostEqual(sum(shares), 1, delta=1e-5)
            self.assertEqual(float(row["probability"]), shares[int(row["label"])])
            self.assertEqual(max(shares), float(row["probability"]))
        workers = self.table("result/workers.csv")
        self.assertEqual(list(workers[0]),
                         ["worker", "answers", "accuracy", "accuracy_low", "accuracy_high", "informativeness",
                          "gold_answers", "gold_accuracy", "gold_accuracy_low", "gold_accuracy_high"])
        self.assertEqual(sum(int(row["answers"]) for row in workers), 1000)
        for row in workers:
            self.assertLessEqual(float(row["accuracy_low"]), float(row["accuracy"]))
            self.assertGreaterEqual(float(row["accuracy_high"]), float(row["accuracy"]))
            self.assertAlmostEqual(float(row["gold_accuracy"]), float(row["accuracy"]), delta=1e-5,
                                   msg="with all gold pinned, the two accuracies are the same")
        confusion = self.table("result/confusion.csv")
        self.assertEqual(len(confusion), 15 * 9)
        sums = {}
        for row in confusion:
            key = row["worker"], row["truth"]
            sums[key] = sums.get(key, 0) + float(row["probability"])
        for total in sums.values():
            self.assertAlmostEqual(total, 1, delta=1e-5)

    def test_the_same_files_for_any_order_of_rows(self):
        labels = self.simulate(tasks=400, classes=3, workers=25, seed=6)
        header, *rows = (self.folder / labels).read_text().splitlines()
        self.run_program("aggregate", labels, "--gold", "crowd/gold.csv", "--gold-for", "evaluation", "--out", "first")
        for seed in (1, 2):
            random.Random(seed).shuffle(rows)
            self.write("shuffled.csv", "\n".join([header, *rows]) + "\n")
            self.run_program("aggregate", "shuffled.csv", "--gold", "crowd/gold.csv", "--gold-for", "evaluation", "--out",
                             f"again{seed}")
            for name in ("labels.csv", "workers.csv", "confusion.csv"):
                self.assertEqual((self.folder / f"again{seed}" / name).read_bytes(),
                                 (self.folder / "first" / name).read_bytes(), name)
            self.assertEqual(self.record(f"again{seed}")["data"]["hash"], self.record("first")["data"]["hash"])
        # A result is read back with its answers in another order.
        self.run_program("report", "first", "--answers", "shuffled.csv", "--out", "page.html")

    def test_init_and_finish(self):
        labels = self.simulate(tasks=200, classes=3, workers=15, seed=5)
        self.run_program("aggregate", labels, "--method", "dawid_skene", "--init", "wawa", "--finish", "em",
                         "--set", "max_iterations=2", "--set", "finish.max_iterations=3", "--set", "finish.tolerance=0",
                         "--out", "result")
        record = self.record()
        self.assertEqual(record["init"]["method"], "wawa")
        self.assertEqual(record["init"]["hands_over"], "posterior")
        self.assertEqual(record["finish"]["method"], "dawid_skene")
        self.assertEqual(record["finish"]["parameters"]["max_iterations"], 3)
        self.assertEqual(record["parameters"]["max_iterations"], 2)
        self.assertEqual(record["iterations"], 3)

    def test_abstention(self):
        labels = self.simulate(tasks=300, classes=3, workers=15, seed=6)
        self.run_program("aggregate", labels, "--method", "dawid_skene", "--abstain-below", "0.99", "--out", "result")
        rows = self.table("result/labels.csv")
        blank = [row for row in rows if row["label"] == ""]
        self.assertTrue(blank and len(blank) < len(rows))
        for row in rows:
            self.assertEqual(row["label"] == "", float(row["probability"]) < 0.99, row)
        self.assertEqual(self.record()["abstention"], {"below": 0.99, "tasks": len(blank)})
        scored = json.loads(self.run_program("evaluate", "result/labels.csv", "crowd/gold.csv", "--json").stdout)
        self.assertEqual((scored["tasks"], scored["abstained"]), (300 - len(blank), len(blank)))
        self.assertAlmostEqual(scored["coverage"], 1 - len(blank) / 300)
        self.run_program("aggregate", labels, "--method", "dawid_skene", "--out", "whole")
        whole = json.loads(self.run_program("evaluate", "whole/labels.csv", "crowd/gold.csv", "--json").stdout)
        again = json.loads(self.run_program("evaluate", "whole/labels.csv", "crowd/gold.csv", "--json",
                                            "--abstain-below", "0.99").stdout)
        self.assertEqual(again["accuracy"], scored["accuracy"])
        self.assertGreater(scored["accuracy"]["value"], whole["accuracy"]["value"])

    def test_comparing_without_gold(self):
        labels = self.simulate(tasks=300, classes=3, workers=15, seed=6)
        compared = json.loads(self.run_program("compare", labels, "--methods", "majority_vote,dawid_skene,sml", "--json",
                                               "--folds", "3", "--hide", "0.2").stdout)
        self.assertEqual(compared["folds"], 3)
        rows = compared["methods"]
        self.assertEqual(rows[-1]["method"], "sml")
        self.assertIn("at most 2 classes", rows[-1]["error"])
        self.assertEqual(rows[0]["behind_best"]["value"], 0)
        self.assertGreater(rows[0]["log_probability"]["value"], rows[1]["log_probability"]["value"])
        self.assertLess(rows[0]["log_probability"]["value"], 0)

    def test_run_record(self):
        labels = self.simulate(tasks=100)
        self.run_program("aggregate", labels, "--method", "dawid_skene", "--set", "pseudo_count=0.5", "--seed", "11",
                         "--threads", "1", "--out", "result")
        record = self.record()
        self.assertEqual(record["program"], "wisecrowd")
        self.assertEqual(record["method"], "dawid_skene")
        self.assertEqual(record["parameters"]["pseudo_count"], 0.5)
        self.assertIn("max_iterations", record["parameters"], "defaults are recorded too")
        self.assertEqual((record["seed"], record["threads"]), (11, 1))
        self.assertIn("--set pseudo_count=0.5", record["command"])
        data = record["data"]
        self.assertEqual((data["tasks"], data["answers"], data["classes"]), (100, 500, ["0", "1"]))
        self.assertEqual(data["inputs"], {"answers": labels})
        self.assertRegex(data["hash"], "^[0-9a-f]{16}$")
        self.assertIn(record["status"], ("converged", "iteration_limit"))
        # One value per iteration, and perhaps the one before the first.
        self.assertIn(len(record["trace"]) - record["iterations"], (0, 1))
        self.assertIsInstance(record["log_likelihood"], float)
        self.assertEqual(sorted(record["files"]), RESULT_FILES)
        for stage in ("read", "fit"):
            self.assertGreaterEqual(record["timings"][stage], 0)

    def test_threads_change_nothing(self):
        methods = json.loads(self.run_program("methods", "--json").stdout)["methods"]
        for info in sorted(methods, key=lambda m: m["max_classes"] or 4):
            method, classes = info["name"], min(4, info["max_classes"] or 4)
            labels = self.simulate("dawid_skene", tasks=3000, workers=60, classes=classes)
            needs = []
            if info["uses_order"]:
                needs = ["--ordered"]
            if info["uses_task_graph"]:
                with open(self.folder / "crowd" / "gold.csv", newline="", encoding="utf-8") as file:
                    tasks = [row["task"] for row in csv.DictReader(file)]
                self.write("graph.csv", "task,neighbour\n" + "".join(f"{a},{b}\n" for a, b in zip(tasks, tasks[1:])))
                needs = ["--graph", "graph.csv"]
            with self.subTest(method):
                for threads in ("1", "2", "3"):
                    self.run_program("aggregate", labels, "--method", method, *needs, "--threads", threads, "--out", f"r{threads}",
                                     "--seed", "4", "--gold", "crowd/gold.csv", "--gold-for", "evaluation")
                for threads in ("2", "3"):
                    for name in ("labels.csv", "workers.csv", "confusion.csv"):
                        self.assertEqual((self.folder / "r1" / name).read_bytes(),
                                         (self.folder / f"r{threads}" / name).read_bytes(), name)
                    one, other = self.record("r1"), self.record(f"r{threads}")
                    for free in ("command", "threads", "timings"):
                        one.pop(free), other.pop(free)
                    self.assertEqual(json.dumps(one), json.dumps(other))

    def test_strange_names_come_back(self):
        tasks = ["a,b", 'say "hi"', "two\nlines", "😀", " blanks ", "tab\there", "plain", "ÄÖ漢字", "=1+1", "'"]
        workers = ["w,1", 'w"2', "w\n3", "🧑‍🔬"]
        classes = ["yes, surely", 'n"o', "🐈"]
        with open(self.folder / "odd.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["task", "worker", "label"])
            for i, task in enumerate(tasks):
                for worker in workers:
                    writer.writerow([task, worker, classes[i % 3]])
        shown = self.run_program("aggregate", "odd.csv", "--out", "result").stdout
        self.assertNotIn("w\n3", shown, "control characters are escaped on screen")
        rows = self.table("result/labels.csv")
        self.assertEqual(sorted(row["task"] for row in rows), sorted(tasks))
        for row in rows:
            self.assertEqual(row["label"], classes[tasks.index(row["task"]) % 3])
        self.assertEqual(set(list(rows[0])[3:]), {"p_" + name for name in classes})
        self.assertEqual(sorted(row["worker"] for row in self.table("result/workers.csv")), sorted(workers))
        score = json.loads(self.run_program("evaluate", "result/labels.csv", "result/labels.csv", "--json").stdout)
        self.assertEqual((score["tasks"], score["accuracy"]["value"]), (10, 1.0))

    def test_gold_in_inference_is_no_test(self):
        labels = self.simulate("one_coin_beta", tasks=100)
        seen = self.run_program("aggregate", labels, "--gold", "crowd/gold.csv", "--out", "seen", "-m", "dawid_skene")
        self.assertIn("no test", seen.stdout)
        self.assertNotIn("accuracy 1", seen.stdout)
        self.assertEqual(self.record("seen")["data"]["gold"], {"tasks": 100, "used_for": "inference"})
        self.assertNotIn("evaluation", self.record("seen"))
        self.assertIn("no test", self.run_program("evaluate", "seen/labels.csv", "crowd/gold.csv").stderr)

        self.run_program("aggregate", labels, "--gold", "crowd/gold.csv", "--gold-for", "evaluation", "--out", "unseen",
                         "-m", "dawid_skene")
        self.run_program("aggregate", labels, "--out", "plain", "-m", "dawid_skene")
        self.assertEqual((self.folder / "unseen/labels.csv").read_bytes(), (self.folder / "plain/labels.csv").read_bytes(),
                         "gold kept for evaluation must not change the labels")
        score = self.record("unseen")["evaluation"]
        again = json.loads(self.run_program("evaluate", "plain/labels.csv", "crowd/gold.csv", "--json").stdout)
        self.assertEqual(score["accuracy"]["value"], again["accuracy"]["value"])
        self.assertAlmostEqual(score["log_loss"]["value"], again["log_loss"]["value"], delta=1e-4)

    def test_replacing_results(self):
        labels = self.simulate(tasks=50)
        self.run_program("aggregate", labels, "--out", "result", "--method", "majority_vote")
        self.run_program("aggregate", labels, "--out", "result/", "--method", "wawa")
        self.assertEqual(self.record()["method"], "wawa")
        self.write("result/notes.txt", "mine")
        refused = self.run_program("aggregate", labels, "--out", "result", code=73)
        self.assertIn("notes.txt", refused.stderr)
        self.assertEqual((self.folder / "result/notes.txt").read_text(), "mine")

    def test_nothing_is_written_without_out(self):
        labels = self.simulate(tasks=50)
        before = self.names()
        shown = self.run_program("aggregate", labels).stdout
        self.assertIn("Nothing was written", shown)
        self.assertIn(f"wisecrowd aggregate {labels} --out result", shown)
        self.assertEqual(self.names(), before)

    def test_standard_input_and_compression(self):
        import gzip
        labels = self.simulate(tasks=50)
        text = (self.folder / labels).read_text()
        plain = json.loads(self.run_program("aggregate", labels, "--json").stdout)
        piped = json.loads(self.run_program("aggregate", "-", "--json", input=text).stdout)
        (self.folder / "labels.csv.gz").write_bytes(gzip.compress(text.encode()))
        packed = json.loads(self.run_program("aggregate", "labels.csv.gz", "--json").stdout)
        for other in (piped, packed):
            self.assertEqual(other["data"]["hash"], plain["data"]["hash"])
            self.assertEqual(other["trace"], plain["trace"])


class Json(ProgramTest):
    def test_json_is_one_object_and_nothing_else(self):
        labels = self.simulate(tasks=60, classes=3)
        self.run_program("aggregate", labels, "--out", "result", "--quiet")
        for command in (["aggregate", labels], ["aggregate", labels, "--out", "again"], ["describe", labels],
                        ["evaluate", "result/labels.csv", "crowd/gold.csv"], ["methods"], ["methods", "wawa"],
                        ["compare", labels, "--gold", "crowd/gold.csv"], ["simulate", "copies", "--out", "copies"]):
            with self.subTest(command):
                done = self.run_program(*command, "--json")
                self.assertIsInstance(json.loads(done.stdout), dict)
                self.assertEqual(done.stderr, "")

    def test_compare(self):
        labels = self.simulate("dawid_skene", tasks=150, classes=3)
        asked = ["wawa", "dawid_skene", "majority_vote"]
        done = json.loads(self.run_program("compare", labels, "--gold", "crowd/gold.csv", "--methods", ",".join(asked),
                                           "--set", "dawid_skene.max_iterations=3", "--json").stdout)
        self.assertEqual([row["method"] for row in done["methods"]], asked)
        for row in done["methods"]:
            for measure in ("accuracy", "macro_f1", "log_loss", "brier", "ece"):
                self.assertLessEqual(row[measure]["low"], row[measure]["value"] + 1e-12)
                self.assertGreaterEqual(row[measure]["high"], row[measure]["value"] - 1e-12)
        self.assertLessEqual(done["methods"][1]["iterations"], 3)
        everything = json.loads(self.run_program("compare", labels, "--gold", "crowd/gold.csv", "--json").stdout)
        methods = json.loads(self.run_program("methods", "--json").stdout)["methods"]
        able = [method["name"] for method in methods if not method["uses_order"] and not method["uses_task_graph"]]
        self.assertEqual([row["method"] for row in everything["methods"]], able)

    def test_evaluate_counts_what_does_not_match(self):
        self.write("predicted.csv", "task,label\na,x\nb,y\nc,x\n")
        self.write("gold.csv", "task,label\nb,y\nc,z\nd,x\n")
        score = json.loads(self.run_program("evaluate", "predicted.csv", "gold.csv", "--json").stdout)
        self.assertEqual((score["tasks"], score["tasks_without_gold"], score["gold_without_label"]), (2, 1, 1))
        self.assertEqual(score["accuracy"]["value"], 0.5)
        self.assertIsNone(score["log_loss"], "no probabilities, no log-loss")
        self.write("odd.csv", "id,said\nb,y\nc,z\n")
        score = json.loads(self.run_program("evaluate", "odd.csv", "odd.csv", "--columns", "id,said", "--gold-columns",
                                            "id,said", "--json").stdout)
        self.assertEqual((score["tasks"], score["accuracy"]["value"]), (2, 1.0))

    def test_describe_counts(self):
        self.write("small.csv", "task,worker,label\n1,a,x\n1,b,x\n2,a,y\n2,c,x\n")
        described = json.loads(self.run_program("describe", "small.csv", "--json").stdout)
        self.assertEqual((described["tasks"], described["workers"], described["answers"]), (2, 3, 4))
        self.assertEqual(described["pairwise_agreement"], 0.5)


if __name__ == "__main__":
    unittest.main()
