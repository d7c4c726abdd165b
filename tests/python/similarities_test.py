"""wisecrowd.similarities: tables of any maker, gold, scores, and what is refused."""
import doctest
import json
import pickle
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from wisecrowd import similarities

ROWS = [("ann", "a", "b", "same"), ("bob", "b", "a", "same"), ("cid", "a", "b", "different"), ("ann", "c", "d", "same"), ("bob", "c", "d", "same"),
        ("ann", "a", "c", "different"), ("bob", "d", "b", "different"), ("cid", "a", "d", "different"), ("ann", "b", "c", "different")]
FRAME = pd.DataFrame(ROWS, columns=["worker", "left", "right", "label"])


def crowd(items=80, clusters=3, answers=3000, seed=1):
    rng = np.random.default_rng(seed)
    truth = np.arange(items) % clusters
    left, shift = rng.integers(items, size=answers), rng.integers(1, items, size=answers)
    right = (left + shift) % items
    wrong = rng.random(answers) < 0.15
    frame = pd.DataFrame({"worker": rng.integers(6, size=answers), "left": left, "right": right, "label": (truth[left] == truth[right]) ^ wrong})
    return frame, pd.Series(truth, index=np.arange(items))


class Fit(unittest.TestCase):
    def test_clusters(self):
        for cls in similarities.CLASSES.values():
            fit = cls().fit(FRAME)
            self.assertEqual(fit.clusters_.cluster.to_dict(), {"a": "1", "b": "1", "c": "2", "d": "2"})
            self.assertEqual(fit.workers_.answers.to_dict(), {"ann": 4, "bob": 3, "cid": 2})
            self.assertEqual(list(fit.pairs_.columns), ["left", "right", "probability"])
            self.assertEqual((len(fit.pairs_), fit.n_clusters_, fit.status_), (6, 2, "converged"))

    def test_tables_of_any_maker_and_items_of_any_type(self):
        expected = similarities.PairVote().fit_predict(FRAME).to_dict()
        columns = [list(column) for column in zip(*ROWS)]
        renamed = FRAME.rename(columns={"worker": "who", "left": "p", "right": "q", "label": "said"})
        for name, table, options in (("dict", dict(zip(["annotator", "item_a", "item_b", "answer"], columns)), {}),
                                     ("swapped", FRAME.rename(columns={"left": "right", "right": "left"}), {}),
                                     ("words", FRAME.replace({"same": "Yes", "different": "no match"}), {}),
                                     ("columns", renamed, {"columns": {"who": "worker", "p": "left", "q": "right", "said": "label"}})):
            with self.subTest(name):
                self.assertEqual(similarities.PairVote(**options).fit_predict(table).to_dict(), expected)
        frame, truth = crowd()
        fit = similarities.CrowdClusters(clusters=3).fit(frame)
        self.assertEqual(sorted(fit.clusters_.index), list(truth.index))
        self.assertGreater(similarities.evaluate(fit, truth).accuracy, 0.95)

    def test_gold(self):
        frame, truth = crowd(answers=1200)
        names = truth.map({0: "x", 1: "y", 2: "z"})
        fit = similarities.CrowdClusters().fit(frame, gold=names.iloc[:30])
        self.assertEqual(fit.clusters_.cluster.iloc[:30].to_dict(), names.iloc[:30].to_dict())

    def test_report(self):
        frame, truth = crowd()
        fit = pickle.loads(pickle.dumps(similarities.CrowdClusters(clusters=3).fit(frame)))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.json"
            self.assertEqual(fit.report(path, gold=truth, title="Alike"), path)
            page = json.loads(path.read_text())
            self.assertEqual((page["answers_kind"], page["counts"]["items"], page["counts"]["clusters"]), ("similarities", 80, 3))
            self.assertGreater(page["gold"]["accuracy"], 0.95)
        self.assertIn("<html", fit.report())
        with self.assertRaisesRegex(ValueError, "given gold"):
            similarities.CrowdClusters().fit(frame, gold=truth.iloc[:9]).report(gold=truth)
        with self.assertRaisesRegex(AttributeError, "nothing to report"):
            similarities.PairVote().report()

    def test_compare(self):
        table = similarities.compare(crowd()[0], folds=2)
        self.assertEqual(table.index[0], "crowd_clusters")
        self.assertGreater(table.log_probability.iloc[0], -0.6)

    def test_refusals(self):
        for frame, words in ((FRAME.assign(right="a"), "compared with itself"), (FRAME.assign(label="perhaps"), "same or different"),
                             (FRAME.drop(columns="left"), "no column 'left'")):
            with self.assertRaisesRegex(ValueError, words):
                similarities.PairVote().fit(frame)
        with self.assertRaises(TypeError):
            similarities.PairVote(colour=3)
        with self.assertRaisesRegex(AttributeError, "not fitted"):
            similarities.PairVote().clusters_

    def test_examples(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(doctest.testmod(similarities).failed, 0)


if __name__ == "__main__":
    unittest.main()
