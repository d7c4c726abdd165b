"""What scikit-learn expects of estimators, as far as it can be seen without it: later answers, rows with their answers, forms of tables."""
import unittest

import numpy as np
import pandas as pd

import wisecrowd
from frames import shuffled_answers


class LaterAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.frame, cls.gold = shuffled_answers()
        cls.fitted = wisecrowd.DawidSkene(pseudo_count=0.1).fit(cls.frame)

    def expected_tables(self):
        """P(label | truth) by worker, with an answer of an ordinary worker added; and that of the ordinary one."""
        fitted = self.fitted
        prior = fitted.priors_.to_numpy()
        tables = {w: fitted.errors_.loc[w].to_numpy().T for w in fitted.skills_.index}  # truth × label
        counts = {w: fitted.worker_summary_.answers[w] * prior for w in tables}
        ordinary = np.full((3, 3), 1 / 3)
        for w, table in tables.items():
            ordinary += counts[w][:, None] * table
        ordinary /= (sum(counts.values()) + 1)[:, None]
        return {w: (counts[w][:, None] * tables[w] + ordinary) / (counts[w] + 1)[:, None] for w in tables}, ordinary

    def test_predictions_by_hand(self):
        tables, ordinary = self.expected_tables()
        later = pd.DataFrame([("x", "w1", "b"), ("x", "w2", "b"), ("x", "stranger", "c"), ("y", "w3", "a")], columns=["task", "worker", "label"])
        prior = self.fitted.priors_.to_numpy()
        x, y = prior * tables["w1"][:, 1] * tables["w2"][:, 1] * ordinary[:, 2], prior * tables["w3"][:, 0]
        probas = self.fitted.predict_proba(later)
        np.testing.assert_allclose(probas.loc["x"], x / x.sum(), rtol=1e-12)
        np.testing.assert_allclose(probas.loc["y"], y / y.sum(), rtol=1e-12)
        self.assertEqual(self.fitted.predict(later).to_dict(), {"x": "abc"[x.argmax()], "y": "abc"[y.argmax()]})
        # A known task is judged by its posterior, a new one by the shares of the classes; answers to one task together.
        hidden = pd.DataFrame([("t00", "w1", "b"), ("t00", "w2", "c"), ("new", "w3", "a")], columns=["task", "worker", "label"])
        known = self.fitted.probas_.loc["t00"].to_numpy()
        by_hand = np.log((known * tables["w1"][:, 1] * tables["w2"][:, 2]).sum()) + np.log((prior * tables["w3"][:, 0]).sum())
        self.assertAlmostEqual(self.fitted.score(hidden), by_hand / 3, places=12)

    def test_every_aggregator_labels_later_answers(self):
        frame, gold = shuffled_answers(seed=4, tasks=60, workers=9, classes=("no", "yes"))
        for name in ("majority_vote", "glad", "mace", "kos", "ibcc", "wawa", "mmsr"):
            with self.subTest(name):
                fitted = wisecrowd.estimator(name).fit(frame)
                self.assertGreater((fitted.predict(frame) == gold).mean(), 0.8)
                self.assertTrue(np.isfinite(fitted.score(frame)))

    def test_scores_by_truth(self):
        self.assertAlmostEqual(self.fitted.score(self.frame, self.gold), (self.fitted.predict(self.frame) == self.gold).mean())
        beside = self.gold.loc[self.frame.task].to_numpy()
        self.assertAlmostEqual(self.fitted.score(self.frame, beside), self.fitted.score(self.frame, self.gold))
        with self.assertRaisesRegex(ValueError, "no task of the answers has a known label"):
            self.fitted.score(self.frame, pd.Series({"elsewhere": "a"}))

    def test_truth_beside_the_rows(self):
        beside = self.gold.loc[self.frame.task].to_numpy()
        by_row = wisecrowd.DawidSkene().fit(self.frame, beside)
        pd.testing.assert_frame_equal(by_row.probas_, wisecrowd.DawidSkene().fit(self.frame, self.gold).probas_)
        with self.assertRaisesRegex(ValueError, "200 rows of answers and 3 known labels"):
            wisecrowd.DawidSkene().fit(self.frame, beside[:3])
        wrong = np.array(beside)
        wrong[0] = "a" if wrong[0] != "a" else "b"
        with self.assertRaisesRegex(ValueError, "occurs more than once, with different labels"):
            wisecrowd.DawidSkene().fit(self.frame, wrong)

    def test_forms_of_tables(self):
        vote = wisecrowd.MajorityVote()
        plain = vote.fit_transform(self.frame)
        self.assertIsInstance(plain, np.ndarray)
        table = vote.set_output(transform="pandas").fit_transform(self.frame)
        self.assertEqual(list(table.columns), ["majorityvote_a", "majorityvote_b", "majorityvote_c"])
        np.testing.assert_array_equal(table, plain)
        with self.assertRaisesRegex(ValueError, "transform='csv': choose one of"):
            vote.set_output(transform="csv")

    def test_notebooks(self):
        odd = self.frame.replace({"worker": {"w1": "<script>"}})
        shown = wisecrowd.DawidSkene(7, classes=["a", "b", "c", "<b>"]).fit(odd)._repr_html_()
        self.assertIn("fitted to 200 answers of 8 workers to 40 tasks, 4 classes", shown)
        self.assertIn("&lt;b&gt;", shown)
        self.assertNotIn("<script>", shown)
        self.assertIn("not fitted", wisecrowd.CCEM()._repr_html_())
        self.assertIn("max_iterations</td><td>7", shown.split("<details>")[0])


class AnswersBesideRows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rng = np.random.default_rng(0)
        cls.X = rng.normal(size=(60, 3))
        cls.truth = (cls.X[:, 0] > 0).astype(int)
        rows = [(t, f"w{w}", int(cls.truth[t] if rng.random() < 0.9 else 1 - cls.truth[t])) for t in range(60) for w in range(4) if (t + w) % 3]
        cls.table = pd.DataFrame(rows, columns=["task", "worker", "label"])
        cls.expected = wisecrowd.CCEM(epochs=5).fit(cls.X, cls.table)

    def assert_same(self, y):
        np.testing.assert_array_equal(wisecrowd.CCEM(epochs=5).fit(self.X, y).predict_proba(self.X), self.expected.predict_proba(self.X))

    def test_dicts(self):
        beside = wisecrowd.answers_by_row(self.table, self.X)
        self.assertEqual(beside[1], dict(self.table[self.table.task == 1][["worker", "label"]].to_numpy()))
        self.assert_same(beside)
        self.assert_same(list(beside))
        share = np.mean([label == self.expected.predict(self.X)[task] for task, _, label in self.table.itertuples(index=False)])
        self.assertAlmostEqual(self.expected.score(self.X, beside), share)
        with self.assertRaisesRegex(TypeError, "row 2 is 'a'"):
            wisecrowd.CCEM().fit(self.X[:3], np.array([{}, {"w": 1}, "a"], dtype=object))

    def test_arrays(self):
        wide = self.table.pivot(index="task", columns="worker", values="label").to_numpy()
        self.assertTrue(np.isnan(wide).any())
        self.assert_same(wide)
        self.assert_same(np.ma.masked_invalid(wide))
        self.assert_same(np.where(np.isnan(wide), None, wide.astype(object)))

    def test_one_label_per_row(self):
        fitted = wisecrowd.CCEM(epochs=30).fit(self.X, self.truth)
        self.assertEqual(list(fitted.classes_), [0, 1])
        self.assertGreater(fitted.score(self.X, self.truth), 0.9)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "X has 60 rows and y has 5"):
            wisecrowd.CCEM().fit(self.X, self.truth[:5])
        with self.assertRaisesRegex(ValueError, "these are fractions"):
            wisecrowd.CCEM().fit(self.X, self.X[:, 0])
        with self.assertRaisesRegex(ValueError, "X has 2 features, but CCEM is expecting 3"):
            self.expected.predict(self.X[:, :2])
        named = pd.DataFrame(self.X, columns=["a", "b", "c"])
        fitted = wisecrowd.CCEM(epochs=2).fit(named, self.table)
        self.assertEqual(list(fitted.feature_names_in_), ["a", "b", "c"])
        with self.assertRaisesRegex(ValueError, "feature names should match"):
            fitted.predict(named[["b", "a", "c"]])


if __name__ == "__main__":
    unittest.main()
