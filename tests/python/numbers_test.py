"""wisecrowd.numbers: tables of any maker, several dimensions, gold, scores, and what is refused."""
import csv
import doctest
import os
import pickle
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import wisecrowd
from wisecrowd import NotFittedError, _engine, _numbers, numbers

ROWS = [("t1", "ann", 1.0), ("t1", "bob", 2.0), ("t1", "cid", 9.0), ("t2", "ann", 4.0), ("t2", "bob", 6.0),
        ("t3", "ann", 5.0), ("t3", "bob", 5.0), ("t3", "cid", 8.0)]
FRAME = pd.DataFrame(ROWS, columns=["task", "worker", "value"])
GOLD = pd.Series({"t1": 2.0, "t2": 5.0, "t3": 7.0})
POINTS = pd.DataFrame(
    [("t1", "ann", 1, 10), ("t1", "bob", 3, 30), ("t1", "cid", 8, 80), ("t2", "ann", 0, -1), ("t2", "bob", 2, 1)], columns=["task", "worker", "x", "y"])


class Fit(unittest.TestCase):
    def test_estimates(self):
        fit = numbers.Median().fit(FRAME)
        self.assertEqual(fit.estimates_.to_dict(), {"t1": 2, "t2": 5, "t3": 5})
        self.assertEqual(fit.estimates_.index.name, "task")
        self.assertEqual(list(fit.intervals_.columns), ["estimate", "deviation", "low", "high"])
        self.assertTrue((fit.intervals_.low < fit.intervals_.estimate).all())
        self.assertEqual(fit.workers_.answers.to_dict(), {"ann": 3, "bob": 3, "cid": 2})
        self.assertGreater(fit.workers_.bias["cid"], 0)
        self.assertEqual((fit.status_, fit.warnings_), ("converged", []))
        self.assertEqual(numbers.Mean().fit_predict(FRAME).to_dict(), {"t1": 4, "t2": 5, "t3": 6})

    def test_tables_of_any_maker(self):
        expected = numbers.Mean().fit_predict(FRAME)
        task, worker, value = (np.array(column) for column in zip(*ROWS))
        tables = {
            "dict of arrays": {"task": task, "worker": worker, "value": value},
            "dict of lists": {"item": list(task), "rater": list(worker), "rating": list(value)},
            "rows": ROWS,
            "structured array": np.array(ROWS, dtype=[("task", "U9"), ("worker", "U9"), ("value", float)]),
            "text": FRAME.astype({"value": str}),
            "nullable": FRAME.astype({"value": "Float64", "task": "category"}),
            "another order": FRAME.sample(frac=1, random_state=1),
        }
        for name, table in tables.items():
            with self.subTest(name):
                self.assertEqual(numbers.Mean().fit_predict(table).to_dict(), expected.to_dict())
        renamed = FRAME.rename(columns={"task": "a", "worker": "b", "value": "c"})
        columns = {"a": "task", "b": "worker", "c": "label"}
        self.assertEqual(numbers.Mean(columns=columns).fit_predict(renamed).to_dict(), expected.to_dict())

    def test_tasks_keep_their_type(self):
        frame = pd.DataFrame({"task": [10, 10, 9], "worker": [1, 2, 1], "value": [1.0, 3.0, 5.0]})
        self.assertEqual(numbers.Mean().fit_predict(frame).to_dict(), {9: 5, 10: 2})

    def test_several_dimensions(self):
        fit = numbers.Median(values=["x", "y"]).fit(POINTS)
        self.assertEqual(fit.estimates_.loc["t1"].to_dict(), {"x": 3, "y": 30})
        self.assertEqual(fit.intervals_["y"].estimate.to_dict(), {"t1": 30, "t2": 0})
        self.assertEqual(list(fit.workers_.columns), ["answers", "bias_x", "bias_y", "scale_x", "scale_y"])
        gold = pd.DataFrame({"y": [31, 1], "x": [2, 1]}, index=["t1", "t2"])
        self.assertEqual(numbers.evaluate(fit, gold).mae.to_dict(), {"x": 0.5, "y": 1})
        known = numbers.Median(values=["x", "y"]).fit(POINTS, gold=gold.rename_axis("task"))
        self.assertEqual(known.estimates_.loc["t1"].to_dict(), {"x": 2, "y": 31})

    def test_boxes_are_found_by_their_columns(self):
        boxes = pd.DataFrame([("t", "a", 1, 2, 3, 4), ("t", "b", 3, 4, 5, 6)], columns=["task", "worker", "X1", "Y1", "X2", "Y2"])
        self.assertEqual(numbers.Mean().fit_predict(boxes).loc["t"].to_dict(), {"X1": 2, "Y1": 3, "X2": 4, "Y2": 5})
        self.assertEqual(numbers.Mean().fit_predict(POINTS).loc["t1"].to_dict(), {"x": 4, "y": 40})
        self.assertEqual(numbers.Mean().fit_predict(POINTS.assign(value=7.0)).loc["t1"], 7)

    def test_gold(self):
        for gold in (GOLD, GOLD.rename("truth").rename_axis("task").reset_index(), {"task": ["t3"], "gold": [7]}):
            self.assertEqual(numbers.Median().fit_predict(FRAME, gold)["t3"], 7)

    def test_repeats(self):
        frame = pd.concat([FRAME, FRAME.iloc[:1].assign(value=4.0)])
        self.assertEqual(numbers.Median().fit_predict(frame)["t1"], 4)
        self.assertEqual(numbers.Median(duplicates="repeat").fit_predict(frame)["t1"], 3)
        with self.assertRaisesRegex(ValueError, "keep-last or repeat"):
            numbers.Median(duplicates="reject").fit(frame)

    def test_warnings(self):
        with self.assertWarnsRegex(wisecrowd.DataWarning, "no task has more than one answer"):
            fit = numbers.Mean().fit({"task": [1, 2], "worker": [1, 2], "value": [3.0, 4.0]})
        self.assertEqual(fit.warnings_[0][0], "one_answer_per_task")

    def test_workers_who_err_together(self):
        rng = np.random.default_rng(4)
        truth, error = rng.normal(0, 4, 400), rng.normal(size=(400, 8))
        error[:, 1] = error[:, 0] + 0.1 * rng.normal(size=400)
        tasks, workers = np.repeat(np.arange(400), 8), np.tile([f"w{j}" for j in range(8)], 400)
        frame = pd.DataFrame({"task": tasks, "worker": workers, "value": (truth[:, None] + error).ravel()})
        with self.assertWarnsRegex(wisecrowd.DataWarning, "w0 and w1"):
            pairs = numbers.WorkerCovariance().fit(frame).correlated_workers_
        self.assertEqual(pairs[["worker_a", "worker_b", "tasks"]].to_numpy().tolist(), [["w0", "w1", 400]])
        self.assertGreater(pairs.correlation[0], 0.8)
        self.assertEqual(list(numbers.Mean().fit(frame).correlated_workers_.columns), ["worker_a", "worker_b", "correlation", "tasks"])

    def test_before_fit(self):
        with self.assertRaises(NotFittedError):
            numbers.Mean().estimates_  # noqa: B018
        with self.assertRaises(AttributeError):
            numbers.Mean().estimate  # noqa: B018

    def test_like_the_command_line(self):
        program = os.environ["WISECROWD_PROGRAM"]
        with tempfile.TemporaryDirectory() as folder:
            run = lambda *words: subprocess.run([program, *words, "--quiet"], check=True, cwd=folder)  # noqa: E731
            run("simulate", "gaussian_numbers", "--tasks", "200", "--workers", "12", "--out", "crowd")
            run("aggregate", "crowd/answers.csv", "--answers", "numbers", "--method", "median", "--out", "out")
            with open(Path(folder) / "out/estimates.csv", newline="") as file:
                written = {row["task"]: float(row["estimate"]) for row in csv.DictReader(file)}
            fitted = numbers.Median().fit_predict(pd.read_csv(Path(folder) / "crowd/answers.csv"))
        self.assertEqual(list(fitted.index), list(written))
        np.testing.assert_allclose(fitted.to_numpy(), list(written.values()), rtol=1e-5)


class Refusals(unittest.TestCase):
    def refused(self, frame, *says, kind=ValueError, gold=None, **options):
        with self.assertRaises(kind) as caught:
            numbers.Mean(**options).fit(frame, gold)
        for word in says:
            self.assertIn(word, str(caught.exception))

    def with_value(self, value):
        frame = FRAME.astype({"value": object})
        frame.loc[3, "value"] = value
        return frame

    def test_what_is_no_number(self):
        self.refused(self.with_value("high"), "column 'value', row 3", "'high' is not a number")
        for value in (np.nan, None, np.inf, -np.inf, 1e309):
            self.refused(self.with_value(value), "column 'value', row 3", "is not a finite number")
        self.refused(FRAME.astype({"value": "Float64"}).replace(4.0, pd.NA), "column 'value', row 3", "finite")
        for value in (1e200, -1.1e100):
            self.refused(self.with_value(value), "column 'value', row 3", str(value), "beyond ±1e+100", "another unit")
        self.assertEqual(_engine.largest_number, 1e100)
        largest = numbers.Mean().fit(self.with_value(1e100))
        self.assertTrue(np.isfinite(largest.intervals_.to_numpy(dtype=float)).all())
        self.assertTrue(np.isfinite(largest.workers_.to_numpy(dtype=float)).all())

    def test_gold(self):
        self.refused(FRAME, "gold column", "row 1", "'tall' is not a number", gold=pd.Series({"t1": 1, "t2": "tall"}))
        self.refused(FRAME, "gold of task 1", "1e+200", gold=pd.Series({"t2": 1e200}))
        self.refused(FRAME, "gold of task 1", "not a finite", gold=pd.Series({"t2": np.inf}))
        self.refused(FRAME, "two rows for task 't1'", gold=pd.Series([1.0, 2.0], index=["t1", "t1"]))
        self.refused(POINTS, "gold has no column 'y'", gold=pd.DataFrame({"task": ["t1"], "x": [1]}), values=["x", "y"], kind=KeyError)

    def test_columns(self):
        self.refused(FRAME.drop(columns="worker"), "'worker'", "rename one", kind=KeyError)
        self.refused(FRAME, "'weight'", "'value'", values=["weight"], kind=KeyError)
        self.refused(5, "a DataFrame", kind=TypeError)
        frame = FRAME.copy()
        frame.loc[2, "worker"] = None
        self.refused(frame, "'worker', row 2", "missing")

    def test_parameters(self):
        with self.assertRaisesRegex(TypeError, "Mean has no parameter 'trim'"):
            numbers.Mean(trim=1)
        with self.assertRaisesRegex(ValueError, "keep_last"):
            numbers.Mean(duplicates="first").fit(FRAME)

    def test_the_wrong_kind(self):
        with self.assertRaisesRegex(ValueError, "these answers are numbers"):
            numbers.compare(FRAME, methods=["dawid_skene"])


class Scores(unittest.TestCase):
    def test_evaluate(self):
        fit = numbers.Median().fit(FRAME)
        score = numbers.evaluate(fit, GOLD).loc["value"]
        self.assertEqual((score.tasks, score.missing, score.coverage), (3, 0, 1))
        self.assertAlmostEqual(score.mae, 2 / 3)
        self.assertAlmostEqual(score.rmse, np.sqrt(4 / 3))
        self.assertAlmostEqual(numbers.evaluate(fit.estimates_, GOLD).mae["value"], 2 / 3)
        self.assertEqual(numbers.evaluate(fit, GOLD.drop("t3")).tasks["value"], 2)

    def test_compare(self):
        rng = np.random.default_rng(1)
        rows = [(t, w, 10 * t + (rng.normal() if w < 5 else 100 * rng.normal())) for t in range(80) for w in range(6)]
        frame = pd.DataFrame(rows, columns=["task", "worker", "value"])
        self.assertEqual(numbers.compare(frame, methods=["mean", "median"]).index[0], "median")
        table = numbers.compare(frame)
        self.assertEqual(set(table.index), set(numbers.CLASSES))
        self.assertEqual(table.behind_best.iloc[0], 0)
        self.assertTrue(table.equals(numbers.compare(frame, threads=1)))
        self.assertEqual(list(numbers.compare(frame, methods=["mean"]).index), ["mean"])
        with self.assertRaisesRegex(ValueError, "no answer can be hidden"):
            numbers.compare({"task": [1, 2], "worker": [1, 2], "value": [3.0, 4.0]})


class Learning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        random = np.random.default_rng(1)
        cls.X = pd.DataFrame(random.normal(size=(260, 3)), index=[f"t{i:03}" for i in range(260)], columns=["a", "b", "c"])
        cls.truth = 5 + cls.X["a"] + 2 * cls.X["b"] - cls.X["c"]
        rows = [(task, f"w{w}", cls.truth[task] + (w - 1.5) + 0.3 * random.normal()) for i, task in enumerate(cls.X.index[:200])
                for w in (i % 4, (i + 1) % 4, (i + 2) % 4)]
        cls.answers = pd.DataFrame(rows, columns=["task", "worker", "value"])
        cls.settings = {"network": "linear", "epochs": 40, "learning_rate": 0.02, "seed": 1}
        cls.fitted = numbers.CrowdRegression(**cls.settings).fit(cls.X, cls.answers)

    def test_what_it_finds(self):
        self.assertEqual(len(self.fitted.estimates_), 200)
        self.assertEqual(len(self.fitted.row_estimates_), 260)
        self.assertGreater(self.fitted.score(self.X.iloc[200:], self.truth.iloc[200:]), 0.98)
        self.assertLess(numbers.evaluate(self.fitted, self.truth).loc["value", "rmse"], 0.3)
        np.testing.assert_allclose(self.fitted.workers_["bias"], [-1.5, -0.5, 0.5, 1.5], atol=0.15)
        self.assertEqual(list(self.fitted.workers_), ["answers", "bias", "scale", "slope"])
        self.assertEqual(len(self.fitted.curve_), 40)
        self.assertTrue(1 <= self.fitted.chosen_epoch_ <= 40)

    def test_rows_as_an_array(self):
        numbered = self.answers.assign(task=self.answers.task.str[1:].astype(int))
        fitted = numbers.CrowdRegression(**self.settings).fit(self.X.to_numpy(), numbered)
        np.testing.assert_allclose(fitted.predict(self.X.to_numpy()), self.fitted.predict(self.X), atol=1e-6)

    def test_model_folder_and_pickle(self):
        with tempfile.TemporaryDirectory() as folder:
            self.fitted.save_model(folder)
            again = _engine.load_regressor(folder, False)
            np.testing.assert_array_equal(again.predict(self.X.to_numpy(np.float32), 1)[:, 0], self.fitted.predict(self.X))
            with self.assertRaisesRegex(ValueError, "predicts numbers"):
                _engine.load_classifier(folder)
        again = pickle.loads(pickle.dumps(self.fitted))
        np.testing.assert_array_equal(again.predict(self.X), self.fitted.predict(self.X))
        pd.testing.assert_frame_equal(again.workers_, self.fitted.workers_)

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.fitted.report(f"{folder}/report.json", gold=self.truth.iloc[:200])
            text = Path(path).read_text()
        self.assertIn("Crowd regression", text)

    def test_refusals(self):
        with self.assertRaisesRegex(NotFittedError, "call CrowdRegression.fit first"):
            numbers.CrowdRegression().predict(self.X)
        with self.assertRaisesRegex(ValueError, "has a row of features"):
            numbers.CrowdRegression().fit(self.X, self.answers.assign(task="x" + self.answers.task))
        with self.assertRaisesRegex(TypeError, "no parameter 'aggregator'"):
            numbers.CrowdRegression(aggregator="mean")
        with self.assertRaisesRegex(ValueError, "layer"):
            numbers.CrowdRegression(layer="bias").fit(self.X, self.answers)


class Package(unittest.TestCase):
    def test_a_class_for_every_method(self):
        self.assertEqual(list(numbers.CLASSES), [info["name"] for info in _engine.number_methods()])
        for name, cls in numbers.CLASSES.items():
            self.assertIs(getattr(numbers, cls.__name__), cls)
            self.assertIn(cls.__name__, numbers.__all__)
            self.assertIn(name, (numbers.CLASSES[name]._method,))
            self.assertTrue(cls.__doc__)

    def test_examples(self):
        for module in (numbers, _numbers):
            found = doctest.testmod(module)
            self.assertEqual(found.failed, 0)
        self.assertGreater(doctest.testmod(numbers).attempted, 0)

    def test_stub_names_every_class(self):
        stub = (Path(__file__).resolve().parents[2] / "python/wisecrowd/numbers.pyi").read_text()
        for cls in numbers.CLASSES.values():
            self.assertIn(f"class {cls.__name__}(NumberAggregator)", stub)
        for cls in numbers.LEARNERS.values():
            self.assertIn(f"class {cls.__name__}(NumberLearner)", stub)


if __name__ == "__main__":
    warnings.simplefilter("error", ResourceWarning)
    unittest.main()
