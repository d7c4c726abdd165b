"""wisecrowd.comparisons: tables of any maker, gold, questions, preferences, losses, and what is refused."""
import json
import tempfile
import unittest
import warnings

import numpy as np
import pandas as pd

from wisecrowd import comparisons

FRAME = pd.DataFrame({"worker": ["u", "v", "w", "u", "v", "w"], "left": ["a", "a", "b", "b", "b", "c"], "right": ["b", "b", "a", "c", "c", "b"],
                      "label": ["a", "a", "b", "b", "tie", "b"]})


def crowd(adversaries=0, items=12, workers=20, each=40, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=items) * 1.5
    rows = []
    for w in range(workers):
        for _ in range(each):
            i, j = rng.choice(items, 2, replace=False)
            left = rng.random() < 1 / (1 + np.exp(truth[j] - truth[i]))
            if w < adversaries:
                left = not left
            rows.append((f"w{w:02}", f"i{i:02}", f"i{j:02}", "left" if left else "right"))
    return pd.DataFrame(rows, columns=["worker", "left", "right", "label"]), pd.Series(truth, index=[f"i{i:02}" for i in range(items)])


class Fit(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def test_closed_form(self):
        frame = pd.DataFrame({"worker": "u", "left": "a", "right": "b", "label": ["a"] * 7 + ["b"] * 3})
        fit = comparisons.BradleyTerry().fit(frame)
        self.assertAlmostEqual(fit.scores_["a"] - fit.scores_["b"], np.log(7 / 3), places=8)
        self.assertAlmostEqual(fit.strengths_["a"], 0.7, places=8)
        self.assertEqual(list(fit.ranking_.columns), ["score", "deviation", "low", "high", "rank", "rank_low", "rank_high"])

    def test_words_names_and_dicts(self):
        expected = comparisons.BradleyTerry().fit_predict(FRAME)
        words = FRAME.assign(label=np.where(FRAME.label == FRAME.left, "model_a", np.where(FRAME.label == FRAME.right, "model_b", "draw")))
        renamed = words.rename(columns={"left": "model_a", "right": "model_b", "label": "winner", "worker": "judge"})
        for table in (renamed, {name: FRAME[name].to_numpy() for name in FRAME}):
            self.assertEqual(comparisons.BradleyTerry().fit_predict(table).to_dict(), expected.to_dict())

    def test_every_method(self):
        answers, truth = crowd()
        for name, cls in comparisons.CLASSES.items():
            with self.subTest(name):
                fit = cls().fit(answers)
                self.assertGreater(fit.evaluate(truth)["kendall"], 0.7)
                self.assertEqual(len(fit.workers_), 20)

    def test_adversaries(self):
        answers, truth = crowd(adversaries=6)
        fit = comparisons.CrowdBt().fit(answers)
        self.assertTrue((fit.workers_.reliability[:6] < 0.5).all())
        self.assertTrue((fit.workers_.reliability[6:] > 0.5).all())
        best = comparisons.compare(answers, ["bradley_terry", "crowd_bt"])
        self.assertEqual(best.index[0], "crowd_bt")

    def test_gold_features_and_groups(self):
        answers, truth = crowd()
        gold = pd.DataFrame({"left": ["i00"], "right": ["i01"], "label": ["tie"]})
        fit = comparisons.BradleyTerry().fit(answers, gold=gold)
        row = fit.pairs_[(fit.pairs_.left == "i00") & (fit.pairs_.right == "i01")]
        self.assertEqual(list(row.label), ["tie"])
        controlled = comparisons.BradleyTerry().fit(answers, features=truth.to_frame("length"))
        self.assertGreater(controlled.feature_effect_["length"], 0.5)
        self.assertEqual(comparisons.PreferenceGroups(groups=2).fit(answers).groups_.shape, (12, 2))

    def test_refusals(self):
        for frame, words in ((FRAME.assign(right=FRAME.left), "compared with itself"), (FRAME.assign(label="x"), "must be the name of one of them"),
                             (FRAME.drop(columns="right"), "no columns 'left' and 'right'"), (FRAME.drop(columns="label"), "no column 'label'")):
            with self.assertRaisesRegex(ValueError, words):
                comparisons.BradleyTerry().fit(frame)
        with self.assertRaisesRegex(TypeError, "nonsense"):
            comparisons.BradleyTerry(nonsense=1)
        with self.assertRaisesRegex(Exception, "not fitted"):
            comparisons.BradleyTerry().scores_


class Preferences(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def test_losses(self):
        margins = np.array([-1.0, 0.0, 2.0])
        np.testing.assert_allclose(comparisons.robust_dpo_loss(margins, 0), comparisons.dpo_loss(margins))
        mixed = 0.8 * comparisons.robust_dpo_loss(margins, 0.2) + 0.2 * comparisons.robust_dpo_loss(-margins, 0.2)
        np.testing.assert_allclose(mixed, comparisons.dpo_loss(margins))
        with self.assertRaises(ValueError):
            comparisons.conservative_dpo_loss(1.0, 0.6)

    def test_questions_and_export(self):
        answers, _ = crowd()
        fit = comparisons.CrowdBt().fit(answers)
        asked = fit.questions(4)
        self.assertEqual(list(asked.columns), ["left", "right", "worker", "gain"])
        self.assertTrue((asked.gain.diff().dropna() <= 1e-12).all())
        texts = pd.DataFrame({"prompt": "p", "text": [f"text of {i}" for i in range(12)]}, index=[f"i{i:02}" for i in range(12)])
        table = fit.preferences(texts)
        self.assertEqual(list(table.columns), ["prompt", "chosen", "rejected", "weight", "probability"])
        self.assertTrue(table.chosen.str.startswith("text of").all())
        self.assertTrue(((table.weight >= 0) & (table.weight <= 1)).all())
        with tempfile.TemporaryDirectory() as folder:
            path = fit.report(f"{folder}/report.json", title="duels")
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["answers_kind"], "comparisons")

    def test_scores_by_features(self):
        rng = np.random.default_rng(2)
        rows = pd.DataFrame(rng.normal(size=(60, 2)), columns=["size", "shine"], index=[f"i{i:02}" for i in range(60)])
        truth = 2 * rows["size"] - rows["shine"]
        left, right = rng.integers(0, 40, 1500), rng.integers(0, 40, 1500)
        left, right = left[left != right], right[left != right]
        worker = rng.integers(0, 10, len(left))
        wins = rng.random(len(left)) < 1 / (1 + np.exp(truth.to_numpy()[right] - truth.to_numpy()[left]))
        answers = pd.DataFrame({"worker": worker, "left": rows.index[left], "right": rows.index[right],
                                "label": np.where(wins != (worker < 3), "left", "right")})
        fit = comparisons.ScoreNetwork(network="linear", learning_rate=0.02, epochs=20).fit(rows, answers)
        self.assertEqual(len(fit.scores_), 40)
        self.assertGreater(fit.row_scores_[40:].corr(truth[40:]), 0.97)  # nobody compared these
        self.assertTrue((fit.workers_.reliability < 0.5).equals(pd.Series(fit.workers_.index < 3, index=fit.workers_.index)))
        np.testing.assert_allclose(fit.predict(rows), fit.row_scores_, atol=1e-5)
        self.assertGreater(fit.evaluate(truth)["kendall"], 0.9)
        self.assertTrue(fit.ranking_.deviation.isna().all())
        with tempfile.TemporaryDirectory() as folder:
            with open(fit.report(f"{folder}/report.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["answers_kind"], "comparisons")
            fit.save_model(folder)
        with self.assertRaisesRegex(ValueError, "no features"):
            comparisons.ScoreNetwork().fit(rows[:20], answers)
        with self.assertRaises(TypeError):
            comparisons.ScoreNetwork(epoch=3)


if __name__ == "__main__":
    unittest.main()
