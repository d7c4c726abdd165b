"""Fits without the answers of spammers, copies or colluders."""
import pickle
import unittest

import wisecrowd


class WithoutTest(unittest.TestCase):
    def setUp(self):
        self.crowd = wisecrowd.simulate("hammer_spammer", gamma=0.5, tasks=400, workers=30, classes=3, answers_per_task=15, seed=2)

    def test_spammers(self):
        plain = wisecrowd.MajorityVote().fit(self.crowd.answers)
        self.assertEqual(len(plain.left_out_), 0)
        clean = wisecrowd.MajorityVote().fit(self.crowd.answers, without="spammers")
        planted = set(self.crowd.workers.index[self.crowd.workers["kind"] == "spammer"])
        self.assertEqual(set(clean.left_out_.index), planted)
        self.assertEqual(set(clean.left_out_["reason"]), {"spammer"})
        self.assertGreater((clean.labels_ == self.crowd.gold).mean(), (plain.labels_ == self.crowd.gold).mean())
        self.assertEqual(len(clean.worker_summary_), 30)
        self.assertIn("left_out", [code for code, _ in clean.warnings_])
        self.assertEqual(len(pickle.loads(pickle.dumps(clean)).left_out_), len(planted))
        tables = wisecrowd.DawidSkene().fit(self.crowd.answers, without=["spammers", "copies"])
        self.assertEqual(set(tables.left_out_.index), planted)
        self.assertTrue((tables.errors_.loc[next(iter(planted))].to_numpy().diagonal() < 0.6).all())

    def test_unknown_names_are_refused(self):
        with self.assertRaisesRegex(ValueError, "spammers, copies and colluders"):
            wisecrowd.MajorityVote().fit(self.crowd.answers, without="spamers")


if __name__ == "__main__":
    unittest.main()
