"""Ordered classes, and tasks on a graph, from Python."""
import pickle
import unittest

import numpy as np
import pandas as pd

import wisecrowd


class Ordered(unittest.TestCase):
    def setUp(self):
        self.crowd = wisecrowd.simulate("ordered_scale", tasks=200, workers=15, classes=4, seed=2)

    def rank_error(self, labels):
        return float(abs(labels.astype(int) - self.crowd.gold.astype(int)).mean())

    def test_methods_that_use_the_order(self):
        plain = self.rank_error(wisecrowd.MajorityVote().fit_predict(self.crowd.answers))
        for cls in (wisecrowd.OrdinalDawidSkene, wisecrowd.LatentOrdinal):
            self.assertLess(self.rank_error(cls().fit_predict(self.crowd.answers, ordered=True)), plain, cls.__name__)
            with self.assertRaisesRegex(ValueError, "uses the order of classes"):
                cls().fit(self.crowd.answers)

    def test_words_need_a_list(self):
        words = self.crowd.answers.assign(label=["low mid high top".split()[int(k)] for k in self.crowd.answers["label"]])
        with self.assertRaisesRegex(ValueError, "list them from the lowest to the highest with classes="):
            wisecrowd.LatentOrdinal().fit(words, ordered=True)
        fitted = wisecrowd.LatentOrdinal(classes=["low", "mid", "high", "top"]).fit(words, ordered=True)
        same = wisecrowd.LatentOrdinal().fit(self.crowd.answers, ordered=True)
        self.assertTrue(np.array_equal(fitted.probas_.to_numpy(), same.probas_.to_numpy()))
        self.assertEqual(list(fitted.probas_.columns), ["low", "mid", "high", "top"])

    def test_scores_of_ranks(self):
        fitted = wisecrowd.LatentOrdinal().fit(self.crowd.answers, ordered=True)
        score = wisecrowd.evaluate(fitted, self.crowd.gold, ordered=True)
        self.assertAlmostEqual(score.rank_error, self.rank_error(fitted.labels_))
        self.assertGreater(score.quadratic_kappa, 0.5)
        self.assertAlmostEqual(wisecrowd.evaluate(fitted.labels_, self.crowd.gold, ordered=True).rank_error, score.rank_error)
        self.assertNotIn("rank_error", wisecrowd.evaluate(fitted, self.crowd.gold).measures.index)
        found = wisecrowd.describe(self.crowd.answers, ordered=True)
        self.assertGreater(found.ordinal_alpha, found.krippendorff_alpha)
        self.assertIsNone(wisecrowd.describe(self.crowd.answers).weighted_kappa)

    def test_compare(self):
        names = ["dawid_skene", "ordinal_dawid_skene", "latent_ordinal"]
        table = wisecrowd.compare(self.crowd.answers, self.crowd.gold, methods=names, ordered=True)
        self.assertTrue((table["rank_error"] < 1).all())
        hidden = wisecrowd.compare(self.crowd.answers, methods=names, ordered=True, folds=1)
        self.assertTrue((hidden["refusal"] == "").all())
        self.assertIn("uses the order", wisecrowd.compare(self.crowd.answers, methods=names, folds=1).loc["latent_ordinal", "refusal"])

    def test_a_fit_survives_pickling(self):
        fitted = wisecrowd.OrdinalDawidSkene().fit(self.crowd.answers, ordered=True)
        again = pickle.loads(pickle.dumps(fitted))
        self.assertTrue(again.labels_.equals(fitted.labels_))
        self.assertTrue(again._crowd.answers.ordered)


class Graph(unittest.TestCase):
    def setUp(self):
        self.crowd = wisecrowd.simulate("dawid_skene", tasks=200, workers=12, classes=3, answers_per_task=2, seed=1)
        self.gold = self.crowd.gold

    def accuracy(self, labels):
        return float((labels == self.gold).mean())

    def test_graph_and_features(self):
        plain = self.accuracy(wisecrowd.DawidSkene().fit_predict(self.crowd.answers))
        alike = [(a, b) for _, tasks in self.gold.groupby(self.gold) for a, b in zip(tasks.index, tasks.index[1:])]
        self.assertGreater(self.accuracy(wisecrowd.GraphDawidSkene().fit_predict(self.crowd.answers, graph=alike)), plain)
        draws = np.random.default_rng(1).normal(size=(len(self.gold), 2)) + 4 * self.gold.astype(int).to_numpy()[:, None]
        frame = pd.DataFrame(draws, index=self.gold.index)
        fitted = wisecrowd.GraphDawidSkene().fit(self.crowd.answers, features=frame.sample(frac=1, random_state=1), neighbours=5)
        self.assertGreater(self.accuracy(fitted.labels_), plain)
        self.assertEqual(fitted.task_scores_.name, "neighbour_support")
        same = wisecrowd.GraphDawidSkene().fit(self.crowd.answers, features=draws, neighbours=5)
        self.assertTrue(same.probas_.equals(fitted.probas_))

    def test_mistakes_are_told(self):
        make = wisecrowd.GraphDawidSkene()
        for more, told in (({}, "needs to know which tasks are alike"), ({"graph": [("x", "y")]}, "spelled alike"),
                           ({"graph": [(1, 2, 3)]}, "two columns of tasks"), ({"features": np.zeros((3, 2))}, "200 rows are needed"),
                           ({"graph": [("x", "y")], "features": np.zeros((3, 2))}, "give one of them")):
            with self.assertRaisesRegex(ValueError, told):
                make.fit(self.crowd.answers, **more)


if __name__ == "__main__":
    unittest.main()
