"""Reports of fitted estimators."""
import doctest
import json
import os
import pickle
import tempfile
import unittest

import numpy as np
import pandas as pd

import wisecrowd
from wisecrowd import _report, numbers


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.crowd = wisecrowd.simulate("one_coin_beta", tasks=120, workers=12, answers_per_task=5, seed=2)

    def document(self, fitted, **more):
        path = os.path.join(self.folder, "report.json")
        self.assertEqual(fitted.report(path, **more), path)
        self.assertEqual(os.listdir(self.folder), ["report.json"])
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def test_what_was_fitted_is_shown(self):
        fitted = wisecrowd.DawidSkene().fit(self.crowd.answers)
        document = self.document(fitted, gold=self.crowd.gold, title="Birds")
        self.assertEqual(document["title"], "Birds")
        self.assertEqual(document["run"]["method"], "dawid_skene")
        self.assertIn("max_iterations", [parameter["name"] for parameter in document["run"]["parameters"]])
        right = (fitted.labels_ == self.crowd.gold).mean()
        self.assertAlmostEqual(document["gold"]["accuracy"], right, places=3)
        table = dict(zip(document["workers"]["name"], document["workers"]["accuracy"]))
        for worker, row in fitted.worker_summary_.iterrows():
            self.assertAlmostEqual(table[worker], row["accuracy"], places=3)
        self.assertEqual(len(document["convergence"]["trace"]), len(fitted.loss_history_))

    def test_numbers(self):
        rows = [(f"t{t}", f"w{w}", 10 * t + (w - 2) * 0.5 + (40 if t == w == 3 else 0)) for t in range(30) for w in range(5)]
        answers = pd.DataFrame(rows, columns=["task", "worker", "value"])
        gold = pd.Series({f"t{t}": 10.0 * t for t in range(0, 30, 2)}, name="value").rename_axis("task")
        with self.assertRaises(wisecrowd.NotFittedError):
            numbers.Median().report()
        fitted = numbers.Median().fit(answers)
        document = self.document(fitted, gold=gold, title="Lengths")
        self.assertEqual((document["answers_kind"], document["title"]), ("numbers", "Lengths"))
        self.assertEqual(document["gold"]["tasks"], 15)
        self.assertAlmostEqual(document["gold"]["dimensions"][0]["absolute_error"]["value"], numbers.evaluate(fitted, gold)["mae"].iloc[0], places=5)
        for name, (estimate,) in zip(document["tasks"]["name"], document["tasks"]["estimate"]):
            self.assertAlmostEqual(estimate, fitted.estimates_[name], places=3)
        self.assertEqual(document["counts"]["outlying_answers"], 1)
        self.assertEqual(document, self.document(pickle.loads(pickle.dumps(fitted)), gold=gold, title="Lengths"))
        self.assertNotIn("gold", self.document(fitted))
        seen = numbers.Mean().fit(answers, gold)
        self.assertEqual(self.document(seen)["run"]["gold_use"], "inference")
        with self.assertRaises(ValueError):
            seen.report(gold=gold)
        points = answers.assign(y=answers["value"] * 2)
        self.assertEqual(len(self.document(numbers.Mean(values=["value", "y"]).fit(points))["dimensions"]), 2)

    def test_the_same_after_pickling(self):
        fitted = wisecrowd.DawidSkene().fit(self.crowd.answers)
        again = pickle.loads(pickle.dumps(fitted))
        self.assertEqual(self.document(fitted, compare=False), self.document(again, compare=False))

    def test_known_labels_are_no_test(self):
        fitted = wisecrowd.DawidSkene().fit(self.crowd.answers, self.crowd.gold.iloc[:30])
        document = self.document(fitted)
        self.assertNotIn("gold", document)
        self.assertEqual(document["run"]["gold_use"], "inference")
        with self.assertRaisesRegex(ValueError, "no test"):
            fitted.report("x.json", gold=self.crowd.gold)

    def test_integers_as_names(self):
        answers = pd.DataFrame({"task": [1, 1, 2, 2, 3, 3], "worker": [7, 8, 7, 8, 7, 8], "label": [0, 0, 1, 1, 0, 1]})
        document = self.document(wisecrowd.MajorityVote().fit(answers), gold=pd.Series({1: 0, 3: 1}))
        self.assertEqual(document["gold"]["tasks"], 2)
        self.assertEqual(sorted(document["workers"]["name"]), ["7", "8"])

    def test_learner(self):
        X = np.random.default_rng(0).normal(size=(60, 4)).astype("f4")
        truth = (X[:, 0] > 0).astype(int)
        answers = pd.DataFrame({"task": np.repeat(np.arange(60), 3), "worker": np.tile(list("abc"), 60),
                                "label": np.repeat(truth, 3)})
        document = self.document(wisecrowd.TwoStage(epochs=4).fit(X, answers), gold=pd.Series(truth))
        self.assertEqual(document["kind"], "learn")
        self.assertEqual(len(document["learning"]["curves"][0]["epochs"]), 4)
        self.assertEqual(document["gold"]["accuracy"], 1)
        self.assertLess(document["gold"]["low"], 0.97)  # 60 right labels do not prove that all are

    def test_refusals(self):
        with self.assertRaises(wisecrowd.NotFittedError):
            wisecrowd.DawidSkene().report("x.json")
        fitted = wisecrowd.DawidSkene().fit(self.crowd.answers)
        with self.assertRaises(OSError):
            fitted.report(os.path.join(self.folder, "no", "x.json"))
        with self.assertRaisesRegex(ValueError, "classes"):
            fitted.report("x.json", gold=pd.Series({self.crowd.gold.index[0]: "no such class"}))

    def test_page(self):
        fitted = wisecrowd.DawidSkene().fit(self.crowd.answers)
        try:
            page = fitted.report(title="<b>")
        except ValueError as error:
            self.assertIn("built without the report's page", str(error))
            self.skipTest(str(error))
        self.assertIn('id="wisecrowd-data"', page)
        self.assertIn("&lt;b&gt;", page)
        answers = pd.DataFrame({"task": ["a", "a", "b"], "worker": ["u", "v", "u"], "value": [1, 2, 3]})
        self.assertIn('id="wisecrowd-data"', numbers.Mean().fit(answers).report())

    def test_example(self):
        found = doctest.testmod(_report)
        self.assertGreater(found.attempted, 0)
        self.assertEqual(found.failed, 0)


if __name__ == "__main__":
    unittest.main()
