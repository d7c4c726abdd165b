"""wisecrowd.sets: tables of any maker, gold, scores, crowd-kit's names, and what is refused."""
import doctest
import json
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import wisecrowd
from wisecrowd import _engine, sets

ROWS = [("t1", "ann", ["cat", "dog"]), ("t1", "bob", ["cat"]), ("t1", "cid", ["dog", "cat"]), ("t2", "ann", []), ("t2", "bob", ["fox"]), ("t2", "cid", []),
        ("t3", "ann", ["fox"]), ("t3", "bob", ["fox"])]
FRAME = pd.DataFrame(ROWS, columns=["task", "worker", "label"])
GOLD = pd.Series({"t1": ["cat", "dog"], "t2": [], "t3": ["cat"]})
WANTED = {"t1": ["cat", "dog"], "t2": [], "t3": ["fox"]}


class Fit(unittest.TestCase):
    def test_sets(self):
        fit = sets.BinaryRelevance(base="majority").fit(FRAME)
        self.assertEqual(fit.labels_.to_dict(), WANTED)
        self.assertEqual(list(fit.probas_.columns), ["cat", "dog", "fox"])
        self.assertAlmostEqual(fit.probas_.loc["t1", "dog"], 2 / 3)
        self.assertEqual(fit.workers_.answers.to_dict(), {"ann": 3, "bob": 3, "cid": 2})
        self.assertEqual(fit.rates_.index.names, ["worker", "class"])
        self.assertEqual(fit.status_, "converged")

    def test_every_way_to_write_a_set(self):
        text = FRAME.assign(label=["|".join(own) or "[]" for own in FRAME.label])
        rows = pd.DataFrame([(t, w, c) for t, w, own in ROWS for c in (own or ["[]"])], columns=["item", "annotator", "tags"])
        arrays = FRAME.assign(label=[np.array(own, dtype=object) for own in FRAME.label])
        records = FRAME.to_dict("list")
        for table in (text, rows, arrays, records, FRAME.assign(label=[set(own) for own in FRAME.label])):
            self.assertEqual(sets.BinaryRelevance(base="majority").fit_predict(table).to_dict(), WANTED)
        self.assertEqual(sets.BinaryRelevance(base="majority", separator=";").fit_predict(text.assign(label=text.label.str.replace("|", ";", regex=False))).to_dict(), WANTED)

    def test_methods_and_default(self):
        self.assertEqual(_engine.default_set_method, "best_relevance")
        for cls in sets.CLASSES.values():
            fit = cls().fit(FRAME)
            self.assertEqual(fit.labels_["t1"], ["cat", "dog"], cls.__name__)
        self.assertIn("relevance", sets.BestRelevance().fit(FRAME).explanation_)

    def test_names_of_crowd_kit(self):
        majority = sets.BinaryRelevance(wisecrowd.MajorityVote()).fit_predict(FRAME)
        self.assertEqual(majority.name, "agg_label")
        self.assertEqual(majority.to_dict(), WANTED)
        self.assertEqual(sets.BinaryRelevance(wisecrowd.DawidSkene()).parameters, {"base": "dawid_skene"})
        with self.assertRaisesRegex(ValueError, "base_aggregator"):
            sets.BinaryRelevance(object())

    def test_gold(self):
        self.assertEqual(sets.SharedRelevance().fit(FRAME, gold=GOLD).labels_["t3"], ["cat"])
        table = pd.DataFrame({"task": ["t1", "t1", "t3"], "truth": ["dog", "cat", "cat"]})
        fit = sets.SharedRelevance().fit(FRAME, gold=table)
        self.assertEqual((fit.labels_["t1"], fit.labels_["t3"]), (["cat", "dog"], ["cat"]))

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "row 1.*missing"):
            sets.SharedRelevance().fit(pd.DataFrame({"task": ["t", "t"], "worker": ["a", "b"], "label": [["x", "y"], None]}))
        with self.assertRaisesRegex(ValueError, "without a name"):
            sets.SharedRelevance().fit(pd.DataFrame({"task": ["t"], "worker": ["a"], "label": ["x||y"]}))
        with self.assertRaisesRegex(ValueError, "'dog' is not one of the classes"):
            sets.SharedRelevance(classes=["cat", "fox"]).fit(FRAME)
        with self.assertRaises(TypeError):
            sets.SharedRelevance(strength=3)
        with self.assertRaises(wisecrowd.NotFittedError):
            _ = sets.SharedRelevance().labels_


class Look(unittest.TestCase):
    def test_evaluate(self):
        fit = sets.BinaryRelevance(base="majority").fit(FRAME)
        scores = sets.evaluate(fit, GOLD)
        self.assertAlmostEqual(scores.exact_match, 2 / 3)
        self.assertAlmostEqual(scores.micro_f1, 2 / 3)
        self.assertEqual(scores.attrs["classes"].loc["cat", "gold"], 2)
        self.assertAlmostEqual(sets.evaluate(GOLD, GOLD).jaccard, 1)

    def test_compare(self):
        table = sets.compare(FRAME, methods=["binary_relevance", "shared_relevance"], share=0.2)
        self.assertEqual(set(table.index), {"binary_relevance", "shared_relevance"})
        self.assertTrue(np.isfinite(table.log_probability).all())

    def test_report(self):
        fit = sets.SharedRelevance().fit(FRAME)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.json"
            fit.report(path, gold=GOLD)
            page = json.loads(path.read_text())
        self.assertEqual(page["answers_kind"], "sets")
        self.assertEqual(page["gold"]["tasks"], 3)

    def test_examples(self):
        self.assertEqual(doctest.testmod(sets).failed, 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
