"""Answers that are numbers, as users meet them: every command, every way in, and every refusal."""
import csv
import json
import os
import unittest
from pathlib import Path

from program import ProgramTest

ANSWERS = """task,worker,value
t1,ann,1
t1,bob,2
t1,cid,9
t2,ann,4
t2,bob,6
t3,ann,5
t3,bob,5
t3,cid,8
"""
GOLD = "task,truth\nt1,2\nt2,5\nt3,7\n"
POINTS = "task,worker,x,y\nt1,ann,1,10\nt1,bob,3,30\nt1,cid,8,80\nt2,ann,0,-1\nt2,bob,2,1\n"
NUMBERS = ("--answers", "numbers")


class NumbersTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", ANSWERS)
        self.write("gold.csv", GOLD)

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def json(self, *arguments, **options):
        return json.loads(self.run_program(*arguments, *NUMBERS, "--json", **options).stdout)

    def estimates(self, *arguments, column="estimate", **options):
        self.run_program("aggregate", *arguments, *NUMBERS, "--out", "out", "--quiet", **options)
        return {row["task"]: float(row[column]) for row in self.rows("out/estimates.csv")}

    def refused(self, *arguments, code=65, says=(), **options):
        """Refused with these words; no folder and no file is left."""
        before = self.names()
        error = self.run_program(*arguments, code=code, **options).stderr
        for word in says:
            self.assertIn(word, error)
        self.assertEqual(self.names(), before)


class Boxes(NumbersTest):
    def test_columns_of_boxes_and_points(self):
        """Columns that are called as those of boxes need not be named, nor those of points."""
        for names in (("x1", "y1", "x2", "y2"), ("x", "y", "width", "height"), ("X", "Y", "W", "H"), ("xmin", "ymin", "xmax", "ymax"),
                      ("x", "y"), ("left", "top", "right", "bottom")):
            rows = [("t1", "ann", 1, 2, 3, 4), ("t1", "bob", 3, 4, 5, 6), ("t2", "ann", 0, 0, 1, 1)]
            self.write("boxes.csv", ",".join(("task", "worker", *names)) + "\n" + "".join(",".join(map(str, row[:2 + len(names)])) + "\n" for row in rows))
            self.write("truth.csv", ",".join(("task", *names)) + "\n" + ",".join(("t1", *"2345"[:len(names)])) + "\n")
            self.run_program("aggregate", "boxes.csv", *NUMBERS, "--method", "mean", "--gold", "truth.csv", "--gold-for", "evaluation", "--out", "out", "--quiet")
            row = self.rows("out/estimates.csv")[0]
            self.assertEqual([float(row[f"estimate_{name}"]) for name in names], [2, 3, 4, 5][:len(names)])
        self.write("boxes.csv", "task,worker,value,x,y\nt1,ann,7,1,2\n")  # one number is there by its name
        self.assertEqual(self.estimates("boxes.csv", "--method", "mean"), {"t1": 7})
        self.write("boxes.csv", "task,worker,x,z\nt1,ann,7,1\n")
        self.refused("aggregate", "boxes.csv", *NUMBERS, "--out", "no", says=["'x', 'z'"])
        self.write("boxes.csv", "task,worker,x1,y1,x2,y2\nt1,ann,7,1,q,2\n")
        self.refused("aggregate", "boxes.csv", *NUMBERS, "--out", "no", says=["boxes.csv:2", "'x2'", "'q'"])


class Aggregate(NumbersTest):
    def test_files(self):
        self.assertEqual(self.estimates("a.csv"), {"t1": 2, "t2": 5, "t3": 5})
        self.assertEqual(self.names("out"), ["estimates.csv", "run.json", "workers.csv"])
        row = self.rows("out/estimates.csv")[0]
        self.assertEqual(list(row), ["task", "estimate", "deviation", "low", "high"])
        self.assertLess(float(row["low"]), 2)
        self.assertGreater(float(row["high"]), 2)
        self.assertEqual(list(self.rows("out/workers.csv")[0]), ["worker", "answers", "bias", "scale"])
        record = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual(record["answers_kind"], "numbers")
        self.assertEqual(record["method"], "numbers_automatic")
        self.assertIn("too few", record["explanation"])  # so it is the median
        self.assertEqual(self.estimates("a.csv", "--method", "mean"), {"t1": 4, "t2": 5, "t3": 6})

    def test_summary(self):
        text = self.run_program("aggregate", "a.csv", *NUMBERS).stdout
        for words in ("8 answers by 3 workers to 3 tasks, numbers", "numbers_automatic (default)", "Chose the median", "Nothing was written"):
            self.assertIn(words, text)

    def test_gold(self):
        self.assertEqual(self.estimates("a.csv", "--gold", "gold.csv")["t3"], 7)  # known, so it is the estimate
        run = self.json("aggregate", "a.csv", "--gold", "gold.csv", "--gold-for", "evaluation")
        self.assertEqual(run["data"]["gold"]["used_for"], "evaluation")
        text = self.run_program("aggregate", "a.csv", *NUMBERS, "--gold", "gold.csv", "--gold-for", "evaluation").stdout
        self.assertIn("against gold of 3 tasks", text)
        self.assertIn("0.6667", text)  # the mean absolute error
        self.write("other.csv", "task,truth\nx,2\ny,3\n")
        error = self.run_program("aggregate", "a.csv", *NUMBERS, "--gold", "other.csv").stderr
        self.assertIn("none of its 2 gold tasks, for example 'x', has answers", error)

    def test_the_same_answers_in_other_clothes(self):
        expected = self.estimates("a.csv")
        table = [line.split(",") for line in ANSWERS.splitlines()[1:]]
        objects = [{"task": t, "worker": w, "value": float(v)} for t, w, v in table]
        self.assertEqual(self.estimates(self.write("b.jsonl", "\n".join(map(json.dumps, objects)))), expected)
        self.assertEqual(self.estimates(self.write("c.json", json.dumps(objects))), expected)
        self.assertEqual(self.estimates(self.write("d.tsv", ANSWERS.replace(",", "\t"))), expected)
        self.assertEqual(self.estimates(self.write("e.csv", "task,ann,bob,cid\nt1,1,2,9\nt2,4,6,\nt3,5,5,8\n"), "--wide"), expected)
        self.assertEqual(self.estimates("-", input=ANSWERS), expected)
        headless = self.write("f.csv", "\n".join(",".join((v, t, w)) for t, w, v in table[::-1]))  # a name of the first row is none of 1, 2, 3
        self.assertEqual(self.estimates(headless, "--columns", "2,3,1"), expected)
        renamed = self.write("g.csv", ANSWERS.replace("task,worker,value", "q,who,how much"))
        self.assertEqual(self.estimates(renamed, "--columns", "q,who,how much"), expected)

    def test_several_dimensions(self):
        self.write("p.csv", POINTS)
        columns = ("--columns", "task,worker,x,y")
        self.assertEqual(self.estimates("p.csv", *columns, column="estimate_y"), {"t1": 30, "t2": 0})
        self.assertIn("bias_x", self.rows("out/workers.csv")[0])
        record = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual(record["data"]["reading"]["value_columns"], "x\ny\n")
        self.write("pg.csv", "item,right,up\nt1,4,40\nt2,1,0\n")
        self.estimates("p.csv", *columns, "--gold", "pg.csv", "--gold-columns", "item,right,up", column="estimate_x")
        self.assertEqual(self.rows("out/estimates.csv")[0]["estimate_x"], "4")
        self.refused("aggregate", "p.csv", *NUMBERS, *columns, "--gold", "pg.csv", "--gold-columns", "item,up", "--out", "none",
                     code=64, says=("pg.csv", "2 dimensions, but 1 column is named for gold", "--gold-columns"))
        self.refused("aggregate", "p.csv", *NUMBERS, "--columns", "task,worker,x,,", "--out", "none", code=64,
                     says=("--columns cannot be", "one for each column of numbers"))

    def test_workers_who_err_together(self):
        self.run_program("simulate", "gaussian_numbers", "--workers", 10, "--answers-per-task", 8, "--set", "correlated=0.4", "--out", "crowd",
                         "--quiet")
        self.run_program("aggregate", "crowd/answers.csv", *NUMBERS, "--method", "worker_covariance", "--out", "out", "--quiet", "--report", "now.json")
        with open(self.folder / "out/correlated_workers.csv", newline="") as file:
            pairs = list(csv.DictReader(file))
        self.assertEqual({(row["worker_a"], row["worker_b"]) for row in pairs}, {("worker_000000", "worker_000001"), ("worker_000002", "worker_000003")})
        self.assertGreater(float(pairs[1]["correlation"]), 0.6)
        self.run_program("report", "out", "--out", "later.json", "--quiet")
        self.estimates("crowd/answers.csv", "--method", "mean")
        self.assertNotIn("correlated_workers.csv", self.names("out"))

    def test_repeats(self):
        self.write("r.csv", "task,worker,value\nt,a,1\nt,a,3\nt,b,5\n")
        self.assertEqual(self.estimates("r.csv", "--method", "mean"), {"t": 4})
        self.assertEqual(self.estimates("r.csv", "--method", "mean", "--duplicates", "repeat"), {"t": 3})
        self.refused("aggregate", "r.csv", *NUMBERS, "--duplicates", "reject", "--out", "none",
                     says=("r.csv:3", "'a' already answered task 't' in line 2", "keep-last or repeat"))

    def test_the_same_bytes_for_any_number_of_threads(self):
        self.run_program("simulate", "gaussian_numbers", "--tasks", 9000, "--out", "crowd", "--quiet")
        for threads in (1, 3):
            self.run_program("aggregate", "crowd/answers.csv", *NUMBERS, "--threads", threads, "--out", f"out{threads}", "--quiet")
        for name in ("estimates.csv", "workers.csv"):
            self.assertEqual(*((self.folder / f"out{threads}" / name).read_bytes() for threads in (1, 3)))


class OtherCommands(NumbersTest):
    def test_describe(self):
        text = self.run_program("describe", "a.csv", *NUMBERS).stdout
        for words in ("8 answers by 3 workers to 3 tasks, numbers", "alpha", "wisecrowd aggregate a.csv --answers numbers"):
            self.assertIn(words, text)
        found = self.json("describe", "-", input=ANSWERS)
        self.assertEqual((found["answers_kind"], found["tasks"], found["answers"]), ("numbers", 3, 8))
        self.assertEqual(found["dimensions"][0]["values"]["maximum"], 9)
        self.assertEqual(list(found["answers_per_task"]), ["minimum", "lower_quartile", "median", "mean", "upper_quartile", "maximum"])

    def test_compare_with_gold(self):
        found = self.json("compare", "a.csv", "--gold", "gold.csv")
        self.assertEqual(found["gold_tasks"], 3)
        error = {row["method"]: row["dimensions"][0]["absolute_error"]["value"] for row in found["methods"]}
        self.assertAlmostEqual(error["median"], 2 / 3)
        self.assertAlmostEqual(error["mean"], 1)
        self.assertEqual([row["method"] for row in found["methods"]], sorted(error, key=error.get))
        self.assertIn("against gold of 3 tasks", self.run_program("compare", "a.csv", *NUMBERS, "--gold", "gold.csv").stdout)

    def test_compare_without_gold(self):
        self.run_program("simulate", "gaussian_numbers", "--tasks", 300, "--set", "guessers=0.2", "--out", "crowd", "--quiet")
        found = self.json("compare", "crowd/answers.csv", "--methods", "mean,median")
        density = {row["method"]: row["log_density"]["value"] for row in found["methods"]}
        self.assertGreater(density["median"], density["mean"])  # a fifth of the workers guesses
        self.assertEqual(found["methods"][0]["behind_best"]["value"], 0)
        self.assertIn("log density", self.run_program("compare", "crowd/answers.csv", *NUMBERS).stdout)
        self.write("one.csv", "task,worker,value\nt,a,1\ns,b,2\n")
        self.refused("compare", "one.csv", *NUMBERS, says=("no answer can be hidden", "--gold"))

    def test_workers_who_always_agree_are_predicted(self):
        self.write("same.csv", "task,worker,value\n" + "".join(f"t{t},w{w},{7 * t}\n" for t in range(30) for w in range(5)))
        for row in self.json("compare", "same.csv")["methods"]:
            self.assertGreater(row["log_density"]["value"], 5)  # around all answers it would be −5

    def test_simulate(self):
        self.run_program("simulate", "gaussian_numbers", "--tasks", 40, "--workers", 6, "--dimensions", 2, "--out", "crowd", "--quiet")
        self.assertEqual(self.names("crowd"), ["answers.csv", "gold.csv", "simulation.json", "workers.csv"])
        self.assertEqual(list(self.rows("crowd/gold.csv")[0]), ["task", "value_1", "value_2"])
        self.assertEqual(len(self.rows("crowd/answers.csv")), 200)
        first = (self.folder / "crowd/answers.csv").read_bytes()
        self.run_program("simulate", "gaussian_numbers", "--tasks", 40, "--workers", 6, "--dimensions", 2, "--out", "again", "--quiet")
        self.assertEqual((self.folder / "again/answers.csv").read_bytes(), first)
        self.refused("simulate", "gaussian_numbers", "--classes", 3, "--out", "none", code=64, says=("--classes", "numbers"))

    def test_methods(self):
        listed = json.loads(self.run_program("methods", "--json").stdout)["number_methods"]
        self.assertLessEqual({"mean", "median"}, {method["name"] for method in listed})
        self.assertEqual([method["name"] for method in listed if method["is_default"]], ["numbers_automatic"])
        self.assertIn("the default for numbers", self.run_program("methods", "numbers_automatic").stdout)
        self.assertIn("median", self.run_program("methods").stdout)


class Evaluate(NumbersTest):
    def setUp(self):
        super().setUp()
        self.run_program("aggregate", "a.csv", *NUMBERS, "--out", "out", "--quiet")

    def score(self, *arguments, **options):
        return self.json("evaluate", *arguments, **options)

    def mae(self, *arguments, **options):
        return self.score(*arguments, **options)["dimensions"][0]["absolute_error"]["value"]

    def test_own_estimates(self):
        found = self.score("out/estimates.csv", "gold.csv")
        self.assertEqual((found["tasks"], found["missing"], found["gold_without_estimate"]), (3, 0, 0))
        self.assertAlmostEqual(found["dimensions"][0]["absolute_error"]["value"], 2 / 3)
        self.assertEqual(found["dimensions"][0]["coverage"], 1)
        text = self.run_program("evaluate", "out/estimates.csv", "gold.csv", *NUMBERS).stdout
        self.assertIn("3 tasks against gold", text)

    def test_standard_input(self):
        table = (self.folder / "out/estimates.csv").read_text()
        self.assertAlmostEqual(self.mae("-", "gold.csv", input=table), 2 / 3)
        self.assertAlmostEqual(self.mae("out/estimates.csv", "-", input=GOLD), 2 / 3)
        self.refused("evaluate", "-", "-", *NUMBERS, code=64, says=("cannot both come from standard input",), input="")

    def test_columns(self):
        self.write("e.csv", "question,guess,low,high\nt1,3,0,9\nt2,5,0,9\nt3,,,\n")
        self.write("g.csv", "question,note,real\nt1,0,2\nt2,0,7\nt9,0,1\n")
        columns = ("--columns", "question,guess", "--gold-columns", "question,real")
        found = self.score("e.csv", "g.csv", *columns)
        self.assertEqual((found["tasks"], found["tasks_without_gold"], found["gold_without_estimate"]), (2, 1, 1))
        self.assertEqual(found["dimensions"][0]["absolute_error"]["value"], 1.5)
        self.assertIsNone(found["dimensions"][0]["coverage"])  # 'low' is not said to belong to 'guess'
        self.refused("evaluate", "e.csv", "g.csv", *NUMBERS, says=("no column 'estimate'", "--columns TASK,ESTIMATE"))
        self.refused("evaluate", "e.csv", "g.csv", *NUMBERS, "--columns", "question", code=64, says=("--columns cannot be 'question'",))
        self.refused("evaluate", "e.csv", "g.csv", *NUMBERS, "--columns", "question,guess", "--gold-columns", "question,real,note", code=64,
                     says=("--gold-columns names 2 columns", "1 dimension"))
        headless = self.write("h.csv", "t1,3\nt2,5\n"), self.write("i.csv", "2.0,t1\n7,t2\n")
        self.assertEqual(self.mae(*headless, "--columns", "1,2", "--gold-columns", "2,1"), 1.5)

    def test_format(self):
        self.write("e.txt", '{"task":"t1","estimate":3}\n{"task":"t2","estimate":null}\n')
        self.write("g.txt", '{"task":"t1","truth":2}\n{"task":"t2","truth":7}\n')
        found = self.score("e.txt", "g.txt", "--format", "jsonl")
        self.assertEqual((found["tasks"], found["missing"], found["dimensions"][0]["bias"]), (1, 1, 1))
        self.refused("evaluate", "e.txt", "g.txt", *NUMBERS, "--format", "csv", says=("e.txt",))

    def test_lenient(self):
        self.write("bad.csv", GOLD + "t4,tall\n")
        self.refused("evaluate", "out/estimates.csv", "bad.csv", *NUMBERS, says=("bad.csv:5", "value 'tall': is not a number"))
        done = self.run_program("evaluate", "out/estimates.csv", "bad.csv", *NUMBERS, "--lenient")
        self.assertIn("bad.csv", done.stderr)
        self.assertIn("3 tasks against gold", done.stdout)
        self.write("blank.csv", GOLD + "t4,\n")
        self.refused("evaluate", "out/estimates.csv", "blank.csv", *NUMBERS, says=("blank.csv:5", "is empty"))
        self.write("twice.csv", GOLD + "t1,8\n")
        self.refused("evaluate", "out/estimates.csv", "twice.csv", *NUMBERS, says=("twice.csv:5", "contradicts line 2"))

    def test_safe_csv(self):
        self.write("f.csv", "task,worker,value\n=t,a,1\n=t,b,3\n")
        self.run_program("aggregate", "f.csv", *NUMBERS, "--safe-csv", "--out", "safe", "--quiet")
        self.write("fg.csv", "task,truth\n=t,1\n")
        self.assertEqual(self.mae("safe/estimates.csv", "fg.csv", "--safe-csv"), 1)
        self.refused("evaluate", "safe/estimates.csv", "fg.csv", *NUMBERS, says=("no task of fg.csv",))

    def test_several_dimensions(self):
        self.write("p.csv", POINTS)
        self.run_program("aggregate", "p.csv", *NUMBERS, "--columns", "task,worker,x,y", "--out", "points", "--quiet")
        self.write("pg.csv", "task,y,x\nt1,31,2\nt2,1,1\n")
        found = self.score("points/estimates.csv", "pg.csv")
        self.assertEqual([(d["name"], d["absolute_error"]["value"]) for d in found["dimensions"]], [("x", 0.5), ("y", 1)])
        self.write("ph.csv", "task,up,right\nt1,31,2\nt2,1,1\n")
        self.assertEqual(self.score("points/estimates.csv", "ph.csv", "--gold-columns", "task,right,up")["dimensions"], found["dimensions"])
        one = self.score("points/estimates.csv", "pg.csv", "--columns", "task,estimate_y")["dimensions"]
        self.assertEqual(one, [found["dimensions"][1]])

    def test_gold_that_was_seen(self):
        self.run_program("aggregate", "a.csv", *NUMBERS, "--gold", "gold.csv", "--out", "told", "--quiet")
        self.assertIn("These estimates were made with gold", self.run_program("evaluate", "told/estimates.csv", "gold.csv", *NUMBERS).stderr)
        self.assertEqual(self.score("told/estimates.csv", "gold.csv")["warnings"][0]["code"], "gold_was_seen")


class Refusals(NumbersTest):
    def test_what_is_no_number(self):
        for value, says in (("high", ("is not a number", "leave the row out")), ("nan", ("is not a finite number",)), ("inf", ("is not a finite number",)),
                            ("-inf", ("is not a finite number",)), ("1e309", ("is beyond ±1e+100", "choose another unit")),
                            ("1e200", ("is beyond ±1e+100", "choose another unit")), ("3,5", ("is not a number",))):
            self.write("bad.csv", ANSWERS + f't4,ann,"{value}"\n')
            for command in (("aggregate", "bad.csv", "--out", "none"), ("describe", "bad.csv"), ("compare", "bad.csv")):
                with self.subTest(value=value, command=command[0]):
                    self.refused(*command, *NUMBERS, says=("bad.csv:10", "'value'", f"'{value}'", *says))
            self.write("badgold.csv", f't4,"{value}"\n'.join(("task,truth\n", "")))
            with self.subTest(value=value, command="gold"):
                self.refused("aggregate", "a.csv", *NUMBERS, "--gold", "badgold.csv", "--out", "none", says=("badgold.csv:2", f"'{value}'", *says))

    def test_lenient_leaves_them_out(self):
        self.write("bad.csv", ANSWERS + "t3,dan,1e200\nt3,eve,high\n")
        self.assertEqual(self.estimates("bad.csv", "--lenient"), {"t1": 2, "t2": 5, "t3": 5})

    def test_the_largest_numbers_do_not_overflow(self):
        self.write("large.csv", "task,worker,value\nt,a,1e100\nt,b,-1e100\ns,a,1e100\ns,b,1e100\n")
        self.run_program("aggregate", "large.csv", *NUMBERS, "--out", "out", "--quiet")
        for name in ("estimates.csv", "workers.csv"):
            self.assertNotRegex((self.folder / "out" / name).read_text(), "inf|nan|,,|,\n")
        self.assertNotIn("null", self.run_program("describe", "large.csv", *NUMBERS, "--json").stdout)

    def test_the_wrong_kind(self):
        out = ("--out", "none")
        self.refused("aggregate", "a.csv", *NUMBERS, "--method", "dawid_skene", *out, code=64,
                     says=("dawid_skene is for answers that are categories", "these answers are numbers", "mean, median"))
        self.refused("aggregate", "a.csv", "--method", "median", *out, code=64, says=("these answers are categories", "--answers numbers"))
        self.refused("compare", "a.csv", *NUMBERS, "--methods", "mean,dawid_skene", code=64, says=("these answers are numbers",))
        self.refused("aggregate", "a.csv", *NUMBERS, "--method", "medium", *out, code=64, says=("no method 'medium'", "median"))
        self.refused("aggregate", "a.csv", "--answers", "colours", *out, code=64, says=("categories", "numbers"))
        self.refused("aggregate", "a.csv", *NUMBERS, "--classes", "1,2", *out, code=64, says=("have no classes",))
        for flag in ("--init", "--finish"):
            self.refused("aggregate", "a.csv", *NUMBERS, flag, "mean", *out, code=64, says=(flag, "categories"))
        self.refused("evaluate", "a.csv", "gold.csv", *NUMBERS, "--abstain-below", "0.5", code=64, says=("--abstain-below", "categories"))

    def test_missing_columns(self):
        self.refused("aggregate", "a.csv", *NUMBERS, "--columns", "task,worker,weight", "--out", "none", says=("a.csv", "'weight'", "'value'"))
        self.refused("aggregate", "a.csv", *NUMBERS, "--columns", "task,worker,value,weight", "--out", "none", says=("a.csv", "'weight'", "'value'"))
        self.refused("aggregate", "a.csv", *NUMBERS, "--columns", "task,worker,value,value", "--out", "none", says=("'value' is named twice",), code=64)
        self.write("p.csv", POINTS)
        self.refused("aggregate", "p.csv", *NUMBERS, "--columns", "task,worker,x,y", "--wide", "--out", "none", code=64,
                     says=("one number per cell",))


DATA = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data")) / "regression"


@unittest.skipUnless(DATA.is_dir(), "the public data sets are not here")
class RealData(NumbersTest):
    def test_figures_of_the_method_pages(self):
        figures = {"age": (4.270, 5.915, 4.028, 5.826), "emotion": (12.022, 17.835, 13.529, 21.264),
                   "movie_reviews": (.0607, .0755, .0588, .0789), "metaphor_novelty": (.655, .801, .577, .839)}
        for name, (mean_mae, mean_rmse, median_mae, median_rmse) in figures.items():
            run = self.json("compare", DATA / name / "labels.csv", "--gold", DATA / name / "gold.csv", "--methods", "mean,median")
            found = {row["method"]: row["dimensions"][0] for row in run["methods"]}
            for method, mae, rmse in (("mean", mean_mae, mean_rmse), ("median", median_mae, median_rmse)):
                with self.subTest(name=name, method=method):
                    self.assertAlmostEqual(found[method]["absolute_error"]["value"], mae, delta=0.0006)
                    self.assertAlmostEqual(found[method]["squared_error"]["value"], rmse, delta=0.0006)


if __name__ == "__main__":
    unittest.main()
