"""Answers in blocks of whole tasks: any division gives the same bits, and the engine's methods find the same."""
import unittest

import numpy as np
import pandas as pd

import wisecrowd
from wisecrowd._blocks import Model, State, Tables, pack, run, step


class Blocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crowd = wisecrowd.simulate("dawid_skene", tasks=500, workers=20, classes=3, answers_per_task=4, seed=1)
        cls.answers = cls.crowd.answers.sample(frac=1, random_state=0).reset_index(drop=True)
        cls.codes = [pd.factorize(cls.answers[name], sort=True) for name in ("task", "worker", "label")]

    def blocks(self, count):
        tasks, workers, labels = (np.asarray(found[0]) for found in self.codes)
        made = []
        for part in range(count):
            here = tasks % count == part
            made.append(pack(tasks[here] // count, workers[here], labels[here])[0])
        return made

    def fit(self, count, **settings):
        blocks = self.blocks(count)
        return run(Model(**settings), 3, lambda tables: sum((step(block, 20, 3, tables)[0] for block in blocks[1:]), step(blocks[0], 20, 3, tables)[0]))

    def test_the_same_bits_for_any_division(self):
        one = self.fit(1, max_iterations=20)
        for count in (3, 7):
            other = self.fit(count, max_iterations=20)
            np.testing.assert_array_equal(other.sums.counts, one.sums.counts)
            np.testing.assert_array_equal(other.tables.log_rows, one.tables.log_rows)
            self.assertEqual(other.trace, one.trace)

    def test_as_the_engine(self):
        plain = dict(max_iterations=15, tolerance=0)
        for method, ours in (("dawid_skene", wisecrowd.DawidSkene(pseudo_count=0.01, **plain)), ("one_coin", wisecrowd.OneCoinDawidSkene(**plain)),
                             ("majority_vote", wisecrowd.MajorityVote())):
            with self.subTest(method):
                ours.fit(self.answers)
                state = self.fit(1, method=method, **plain)
                _, posterior = step(self.blocks(1)[0], 20, 3, state.tables, True)
                np.testing.assert_allclose(posterior, ours.probas_, atol=1e-6)
                if method != "majority_vote":
                    np.testing.assert_allclose(np.exp(state.tables.log_rows), np.swapaxes(ours._fit.confusion, 1, 2).ravel(), atol=1e-6)
                    np.testing.assert_allclose(state.trace, ours.loss_history_, rtol=1e-6)

    def test_going_on(self):
        blocks = self.blocks(1)
        total = lambda tables: step(blocks[0], 20, 3, tables)[0]
        half = run(Model(max_iterations=4, tolerance=0), 3, total)
        again = run(Model(max_iterations=9, tolerance=0), 3, total, State(half.iteration, half.sums, half.tables, list(half.trace)))
        self.assertEqual(again.trace, self.fit(1, max_iterations=9, tolerance=0).trace)

    def test_repeated_answers(self):
        tasks, workers, labels = np.array([0, 0, 0, 1]), np.array([5, 5, 2, 5]), np.array([1, 0, 1, 1])
        block, repeated, contradicting = pack(tasks, workers, labels)
        self.assertEqual((block.offsets.tolist(), block.workers.tolist(), block.labels.tolist()), ([0, 2, 3], [2, 5, 5], [1, 1, 1]))
        self.assertEqual((repeated, contradicting), (1, 1))
        self.assertEqual(len(pack(tasks, workers, labels, "repeat")[0].workers), 4)
        with self.assertRaisesRegex(ValueError, "answered the same task before"):
            pack(tasks, workers, labels, "reject")

    def test_damaged_blocks(self):
        block, _, _ = pack(np.array([0]), np.array([9]), np.array([0]))
        with self.assertRaisesRegex(ValueError, "a block of answers is damaged: it names a worker"):
            step(block, 3, 2, Tables())
        block.offsets = np.array([0, 5], np.uint32)
        with self.assertRaisesRegex(ValueError, "differ in length"):
            step(block, 10, 2, Tables())
        with self.assertRaisesRegex(ValueError, "in blocks there are dawid_skene"):
            Model("glad")


if __name__ == "__main__":
    unittest.main()
