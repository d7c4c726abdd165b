"""Workers who do not answer independently, from Python."""
import pickle
import unittest

import pandas as pd
import wisecrowd


class Groups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crowd = wisecrowd.simulate("colluders", tasks=400, workers=40, classes=3, answers_per_task=15, alpha=0.4, seed=0)
        first = wisecrowd.Automatic().fit(cls.crowd.answers)
        cls.found = first
        cls.members = first.worker_groups_.dropna().index

    def right(self, fitted):
        return (fitted.labels_ == self.crowd.gold.reindex(fitted.labels_.index)).mean()

    def test_the_default_counts_them_once(self):
        self.assertEqual(len(self.members), 16)
        self.assertGreater(self.right(self.found), 0.9)
        self.assertIn("dependent_workers", dict(self.found.warnings_))
        again = pickle.loads(pickle.dumps(self.found))
        self.assertTrue((again.worker_summary_ == self.found.worker_summary_).all(axis=None))

    def test_every_estimator_takes_them(self):
        groups = {member: "g" for member in self.members}
        for estimator in (wisecrowd.MajorityVote(), wisecrowd.DawidSkene(), wisecrowd.OneCoinDawidSkene()):
            estimator.fit(self.crowd.answers, trusted=self.members[0], groups=groups)
            with self.assertRaisesRegex(ValueError, "no worker 'nobody' answered"):
                estimator.fit(self.crowd.answers, trusted="nobody")
        # A trusted worker is never left out as one of the colluders.
        for estimator in (wisecrowd.MajorityVote(), wisecrowd.DawidSkene()):
            out = estimator.fit(self.crowd.answers, without="colluders").left_out_
            self.assertIn(self.members[0], out.index)
            out = estimator.fit(self.crowd.answers, trusted=self.members[0], without="colluders").left_out_
            self.assertNotIn(self.members[0], out.index)
        skills = pd.Series(1.0, index=sorted(set(self.crowd.answers["worker"])))
        with self.assertRaisesRegex(ValueError, "do not go together"):
            wisecrowd.MajorityVote().fit(self.crowd.answers, skills, groups=groups)

    def test_trusted(self):
        self.assertLess(self.right(wisecrowd.Automatic().fit(self.crowd.answers, trusted=self.members[0])), 0.3)
        with self.assertRaisesRegex(ValueError, "no worker 'nobody' answered"):
            wisecrowd.Automatic().fit(self.crowd.answers, trusted=["nobody"])

    def test_given_groups(self):
        groups = dict.fromkeys(self.members, "them")
        fitted = wisecrowd.GroupDawidSkene().fit(self.crowd.answers, groups=groups)
        self.assertGreater(self.right(fitted), 0.9)
        self.assertEqual(set(fitted.worker_groups_.dropna().index), set(self.members))


if __name__ == "__main__":
    unittest.main()
