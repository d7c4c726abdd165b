"""learn and predict with answers that are numbers: files, scores, counts of words as features, and every refusal."""
import csv
import json
import os
import random
import unittest
from pathlib import Path

from program import ProgramTest

NUMBERS = ("--answers", "numbers")
QUICK = ("--model", "linear", "--set", "epochs=30", "--set", "learning_rate=0.03")


class NumberLearningTest(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        features, answers, gold = ["task,split,a,b"], ["task,worker,value"], ["task,truth"]
        for i in range(200):
            a, b = draw.gauss(0, 1), draw.gauss(0, 1)
            truth = 20 + 3 * a - 2 * b
            features.append(f"t{i:03},{'train' if i < 150 else 'test'},{a:.6f},{b:.6f}")
            gold.append(f"t{i:03},{truth:.6f}")
            for w in {i % 4, (i + 1) % 4, (i * 7 + 2) % 4} if i < 150 else ():
                answers.append(f"t{i:03},w{w},{truth + w - 1.5 + draw.gauss(0, 0.2 + 0.2 * w):.4f}")
        self.write("x.csv", "\n".join(features) + "\n")
        self.write("a.csv", "\n".join(answers) + "\n")
        self.write("gold.csv", "\n".join(gold) + "\n")

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def learn(self, *more, **options):
        return self.run_program("learn", "a.csv", "-f", "x.csv", *NUMBERS, *QUICK, *more, **options)

    def refused(self, *more, code=64, says=()):
        before = self.names()
        error = self.learn(*more, "--out", "no", code=code).stderr
        for word in says:
            self.assertIn(word, error)
        self.assertEqual(self.names(), before)


class Learn(NumberLearningTest):
    def test_files(self):
        shown = self.learn("--gold", "gold.csv", "--out", "result").stdout
        for words in ("200 rows of 2 numbers: 150 to train, 50 test", "crowd_regression (default)", "against gold of 50 test rows",
                      "against gold of 150 tasks", "wisecrowd predict result --features NEW"):
            self.assertIn(words, shown)
        self.assertEqual(self.names("result"), ["estimates.csv", "model", "run.json", "workers.csv"])
        estimates = self.rows("result/estimates.csv")
        self.assertEqual(list(estimates[0]), ["task", "estimate", "deviation", "low", "high", "source"])
        self.assertEqual(len(estimates), 200)
        self.assertEqual({row["source"] for row in estimates[:150]}, {"answers+network"})
        self.assertEqual({row["source"] for row in estimates[150:]}, {"network"})
        workers = self.rows("result/workers.csv")
        self.assertEqual(list(workers[0]), ["worker", "answers", "bias", "scale", "slope", "gold_answers", "gold_error"])
        for w, row in enumerate(workers):
            self.assertAlmostEqual(float(row["bias"]), w - 1.5, delta=0.25)
        record = json.loads((self.folder / "result/run.json").read_text())
        self.assertEqual((record["answers_kind"], record["method"]), ("numbers", "crowd_regression"))
        self.assertEqual(record["features"], {"rows": 200, "shape": [2], "train": 150, "valid": 0, "test": 50})
        self.assertEqual(len(record["learning_curve"]["objective"]), 30)
        self.assertGreater(record["evaluation"]["test_rows"]["dimensions"][0]["r_squared"], 0.95)
        self.assertEqual(record["evaluation"]["answered_tasks"]["tasks"], 150)

    def test_evaluate_says_the_same(self):
        self.learn("--gold", "gold.csv", "--out", "result", "--quiet")
        record = json.loads((self.folder / "result/run.json").read_text())
        test = [row for row in self.rows("result/estimates.csv") if row["source"] == "network"]
        self.write("test.csv", "task,estimate\n" + "".join(f"{row['task']},{row['estimate']}\n" for row in test))
        scored = json.loads(self.run_program("evaluate", "test.csv", "gold.csv", *NUMBERS, "--json").stdout)
        self.assertAlmostEqual(scored["dimensions"][0]["squared_error"]["value"],
                               record["evaluation"]["test_rows"]["dimensions"][0]["squared_error"]["value"], places=4)

    def test_predict(self):
        self.learn("--out", "result", "--quiet")
        learned = {row["task"]: row for row in self.rows("result/estimates.csv")}
        self.run_program("predict", "result", "-f", "x.csv", "--out", "p.csv")
        predicted = self.rows("p.csv")
        self.assertEqual(list(predicted[0]), ["task", "estimate", "deviation", "low", "high"])
        for row in predicted[150:]:
            self.assertEqual(row, {key: learned[row["task"]][key] for key in row})
        self.assertIn("task,estimate", self.run_program("predict", "result/model", "-f", "x.csv").stdout)

    def test_report_of_the_folder(self):
        self.learn("--gold", "gold.csv", "--out", "result", "--quiet")
        self.run_program("report", "result", "--out", "r.json")
        self.assertIn("Crowd regression", (self.folder / "r.json").read_text())
        self.learn("--report", "now.json")
        self.assertIn("Crowd regression", (self.folder / "now.json").read_text())

    def test_same_bytes_for_any_threads(self):
        for threads, out in ((1, "one"), (3, "three")):
            self.learn("--out", out, "--seed", 5, "--threads", threads, "--quiet")
        for name in ("estimates.csv", "workers.csv", "model/weights.npy", "model/model.json", "model/numbers.json"):
            self.assertEqual((self.folder / "one" / name).read_bytes(), (self.folder / "three" / name).read_bytes(), name)

    def test_several_dimensions(self):
        rows = self.rows("a.csv")
        self.write("points.csv", "task,worker,x,y\n" + "".join(f"{r['task']},{r['worker']},{r['value']},{-float(r['value'])}\n" for r in rows))
        self.run_program("learn", "points.csv", "-f", "x.csv", *NUMBERS, *QUICK, "--columns", "task,worker,x,y", "--out", "result", "--quiet")
        row = self.rows("result/estimates.csv")[-1]
        self.assertEqual(list(row)[:3], ["task", "estimate_x", "estimate_y"])
        self.assertAlmostEqual(float(row["estimate_x"]), -float(row["estimate_y"]), delta=1)
        self.run_program("predict", "result", "-f", "x.csv", "--out", "p.csv")
        self.assertEqual(self.rows("p.csv")[-1]["estimate_y"], row["estimate_y"])

    def test_json_and_layers(self):
        for layer in ("automatic", "none", "S", "B", "S+B", "B+S"):
            record = json.loads(self.learn("--set", f"layer={layer}", "--json").stdout)
            self.assertEqual(record["parameters"]["layer"], layer)
            self.assertIsNone(record["out"])
            self.assertEqual("Chose layer" in record.get("explanation", ""), layer == "automatic")

    def test_as_in_the_paper(self):
        """Without errors of tasks an estimate is the network's, and nobody knows how far it is off."""
        self.learn("--set", "task_error=false", "--out", "result", "--quiet")
        for row in self.rows("result/estimates.csv"):
            self.assertEqual(row["deviation"], "")
        self.run_program("predict", "result", "-f", "x.csv", "--out", "p.csv")
        for one, other in zip(self.rows("p.csv"), self.rows("result/estimates.csv")):
            self.assertEqual(one["estimate"], other["estimate"])

    def test_methods_and_help(self):
        self.assertIn("crowd_regression", self.run_program("methods").stdout)
        self.assertIn("--answers numbers", self.run_program("methods", "crowd_regression").stdout)
        listed = json.loads(self.run_program("methods", "--json").stdout)
        names = {kind: listed[f"{kind}_learners"][0]["name"] for kind in ("number", "comparison", "similarity")}
        self.assertEqual(names, {"number": "crowd_regression", "comparison": "score_network", "similarity": "pair_network"})
        self.assertTrue(listed["comparison_learners"][0]["is_default"])
        self.assertNotIn("answer_power", [p["name"] for p in listed["number_learners"][0]["parameters"]])
        for name in names.values():
            self.assertIn(name, self.run_program("methods").stdout)
            self.assertIn(name, self.run_program("learn", "--help").stdout)
        self.assertIn("learn ANSWERS --answers similarities --features FILE --method", self.run_program("methods", "pair_network").stdout)


class WordCounts(NumberLearningTest):
    """A table task,word,count instead of texts."""

    def setUp(self):
        super().setUp()
        self.write("words.csv", "task,word,count\n" + "".join(f"t{i:03},{word},{1 + (i * k) % 3}\n" for k, word in
                                                          ((1, "good"), (2, "bad"), (5, "dull")) for i in range(200) if i % (k + 1) == 0))

    def test_learn_and_predict(self):
        self.write("split.csv", "task,split\n" + "".join(f"t{i:03},{'train' if i < 150 else 'test'}\n" for i in range(200)))
        self.run_program("learn", "a.csv", "-f", "words.csv", "-t", "split.csv", *NUMBERS, *QUICK, "--out", "result", "--quiet")
        self.run_program("predict", "result", "-f", "words.csv", "--out", "p.csv")
        learned = {row["task"]: row["estimate"] for row in self.rows("result/estimates.csv") if row["source"] == "network"}
        predicted = {row["task"]: row["estimate"] for row in self.rows("p.csv")}
        self.assertEqual(learned, {task: predicted[task] for task in learned})

    def test_the_same_as_texts(self):
        """Rows in any order, counts in parts: what a text of these words gives, up to its pairs of words."""
        self.write("l.csv", "task,worker,label\n" + "".join(f"t{i},w,{i % 2}\n" for i in range(6)))
        counts = [(f"t{i}", word, 2) for i in range(6) for word in (("up", "so") if i % 2 else ("down", "so"))]
        self.write("whole.csv", "task,word,count\n" + "".join(f"{t},{w},{c}\n" for t, w, c in counts))
        self.write("parts.csv", "task,word,count\n" + "".join(f"{t},{w},1\n" for t, w, c in counts) + "".join(f"{t},{w},1\n" for t, w, c in counts))
        outputs = []
        for name in ("whole.csv", "parts.csv"):
            self.run_program("learn", "l.csv", "-f", name, "--method", "two_stage", *QUICK, "--out", "r", "--quiet")
            outputs.append((self.folder / "r/model/weights.npy").read_bytes())
            self.assertEqual(json.loads((self.folder / "r/model/model.json").read_text())["features"], {"kind": "text", "words": 3})
        self.assertEqual(*outputs)

    def test_bad_counts(self):
        for value, line in (("x", 2), ("1.5", 2), ("-1", 2), ("", 2)):
            self.write("bad.csv", f"task,word,count\nt000,good,{value}\nt001,bad,1\n")
            error = self.run_program("learn", "a.csv", "-f", "bad.csv", *NUMBERS, "--out", "no", code=65).stderr
            self.assertIn(f"bad.csv:{line}", error)
            self.assertFalse((self.folder / "no").exists())


class Refusals(NumberLearningTest):
    def test_flags(self):
        self.refused("--method", "max_mig", says=["max_mig learns from categories", "crowd_regression"])
        self.refused("--method", "crowd_regresion", says=["crowd_regression"])
        self.refused("--torchscript", says=["--torchscript is not for learn --answers numbers"])
        self.refused("--without", "spammers", says=["--without"])
        self.refused("--gold", "gold.csv", "--gold-for", "inference", says=["--gold-for inference"])
        self.refused("--set", "layer=bias", says=["layer"])
        error = self.run_program("learn", "a.csv", "-f", "x.csv", "--method", "crowd_regression", code=64).stderr
        self.assertIn("--answers numbers", error)

    def test_data(self):
        self.write("a.csv", "task,worker,value\nt001,w,two\nt002,w,1e309\nt003,w,nan\n")
        self.refused(code=65, says=["a.csv:2", "'two'", "a.csv:3", "a.csv:4"])
        self.write("a.csv", "task,worker,value\nq1,w,2\n")
        self.refused(code=65, says=["'q1'", "spelled alike"])
        self.write("a.csv", "task,worker,value\nt199,w,2\n")
        self.refused(code=65, says=["nothing to learn from"])

    def test_models(self):
        self.learn("--out", "result", "--quiet")
        path = self.folder / "result/model/numbers.json"
        good = json.loads(path.read_text())
        for change, says in (({"factor": [1, 2]}, "'factor'"), ({"offset": ["x"]}, "'offset'"), ({"deviation": [-1]}, "'deviation'"), ({"factor": 3}, "'factor'")):
            path.write_text(json.dumps({**good, **change}))
            self.assertIn(says, self.run_program("predict", "result", "-f", "x.csv", code=65).stderr)
        path.write_text(json.dumps(good))
        self.assertIn("--draws is for models of classes", self.run_program("predict", "result", "-f", "x.csv", "--draws", 3, code=64).stderr)

    def test_steps_that_are_too_large(self):
        """The network is of no use, which is said; tasks are estimated by their answers all the same."""
        error = self.learn("--set", "learning_rate=100", "--set", "optimizer=sgd", "--gold", "gold.csv", "--out", "result").stderr
        self.assertIn("lower learning_rate (it is 100)", error)
        record = json.loads((self.folder / "result/run.json").read_text())
        self.assertGreater(record["evaluation"]["answered_tasks"]["dimensions"][0]["r_squared"], 0.95)


REVIEWS = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data")) / "regression/movie_reviews"


@unittest.skipUnless(REVIEWS.is_dir() and os.environ.get("WISECROWD_SLOW"), "takes minutes, and needs the real data: set WISECROWD_SLOW and WISECROWD_DATA")
class MovieReviews(ProgramTest):
    """Test RMSE of the stars of film reviews is below that of the same network on the means of the answers, seed by seed."""

    def test_beats_the_means(self):
        common = ("-f", REVIEWS / "features_bow.csv.gz", "-t", REVIEWS / "tasks.csv", "--gold", REVIEWS / "gold.csv", *NUMBERS, "--json")
        self.run_program("aggregate", REVIEWS / "labels.csv", *NUMBERS, "--method", "mean", "--out", "mean", "--quiet")
        with open(self.folder / "mean/estimates.csv", newline="") as file:
            means = [(row["task"], row["estimate"]) for row in csv.DictReader(file)]
        self.write("means.csv", "task,worker,value\n" + "".join(f"{task},mean,{value}\n" for task, value in means))
        plain = ("--set", "layer=none", "--set", "own_noise=false", "--set", "task_error=false")

        def error(*arguments):
            record = json.loads(self.run_program("learn", *arguments, *common, timeout=1800).stdout)
            return record["evaluation"]["test_rows"]["dimensions"][0]["squared_error"]["value"]

        for seed in range(5):
            ours, theirs = error(REVIEWS / "labels.csv", "--seed", seed), error("means.csv", "--seed", seed, *plain)
            print(f"seed {seed}: test RMSE {ours:.4f}, of the same network on mean labels {theirs:.4f}")
            self.assertLess(ours, theirs)


if __name__ == "__main__":
    unittest.main()
