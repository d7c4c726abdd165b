"""Torch modules trained on answers: gradients, every learner, what stays as it was."""
import sys
import unittest
import warnings

import numpy as np

try:
    import torch
except ImportError:
    print("skipped: there is no torch (Debian: python3-torch)")
    sys.exit(77)

import wisecrowd
import wisecrowd.torch

TRAINING = {"epochs": 6, "learning_rate": 0.02, "batch": 32}


def crowd_with_rows(seed=1, tasks=150):
    crowd = wisecrowd.simulate("dawid_skene", tasks=tasks, workers=12, classes=3, answers_per_task=4, gaussian_features=3.0, seed=seed)
    return crowd, torch.tensor(crowd.features.to_numpy(), dtype=torch.float32)


def head(columns, hidden=16, dropout=0.2):
    return lambda outputs: torch.nn.Sequential(torch.nn.Linear(columns, hidden), torch.nn.ReLU(), torch.nn.Dropout(dropout),
                                               torch.nn.Linear(hidden, outputs))


class Losses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crowd, cls.X = crowd_with_rows()
        cls.names = cls.crowd.features.index

    def criterion(self, method, **more):
        return wisecrowd.torch.CrowdLoss(method, self.crowd.answers, tasks=self.names, features=self.X, **more)

    def test_gradients(self):
        torch.manual_seed(0)
        methods = wisecrowd.torch.losses()
        self.assertGreaterEqual(len(methods), 17)
        for method in methods:
            for steps in (0, 3):  # as it begins, and after the workers have moved
                with self.subTest(method, steps=steps):
                    criterion = self.criterion(method)
                    outputs = torch.randn(len(self.X), criterion.outputs, dtype=torch.float64)
                    rows = torch.arange(0, 21)
                    for step in range(steps):
                        criterion.begin_epoch(step, steps + 1, lambda: outputs)
                        criterion(outputs[rows], rows)
                        criterion.step()
                        criterion.end_epoch()
                    criterion.begin_epoch(steps, steps + 1, lambda: outputs)
                    logits = outputs[rows].clone().requires_grad_()
                    criterion(logits, rows).backward()
                    self.assertTrue(method == "doctor_net" and steps == 0 or float(logits.grad.abs().max()) > 0)  # its heads begin at 0
                    # conal holds its gates, which are further outputs, still while the tables do not move.
                    last = 2 if steps == 0 else criterion.outputs - 1
                    for place in ((0, 0), (3, 1), (11, last), (20, 2)):
                        moved = []
                        for sign in (1, -1):
                            other = outputs[rows].clone()
                            other[place] += sign * 1e-5
                            moved.append(float(criterion(other, rows)))
                        self.assertAlmostEqual(float(logits.grad[place]), (moved[0] - moved[1]) / 2e-5, delta=1e-7)

    def test_logits_are_read_where_they_lie(self):
        criterion = self.criterion("ccem")
        values = torch.randn(8, 3, dtype=torch.float64)
        seen = np.from_dlpack(values)
        self.assertEqual(seen.__array_interface__["data"][0], values.data_ptr())
        criterion.begin_epoch(0, 1)
        single = criterion(values.float(), torch.arange(8))
        self.assertEqual(single.dtype, torch.float32)
        self.assertAlmostEqual(float(single), float(criterion(values, torch.arange(8))), places=5)

    def test_rows_without_answers(self):
        some = self.crowd.answers[self.crowd.answers.task != self.names[0]]
        criterion = wisecrowd.torch.CrowdLoss("ccem", some, tasks=self.names)
        criterion.begin_epoch(0, 1)
        logits = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
        criterion(logits, torch.arange(3)).backward()
        self.assertEqual(float(logits.grad[0].abs().sum()), 0)
        self.assertGreater(float(logits.grad[1].abs().sum()), 0)
        nothing = torch.ones(1, 3, requires_grad=True)
        loss = criterion(nothing, torch.tensor([0]))
        loss.backward()
        self.assertEqual(float(loss), 0)

    def test_a_loop_of_ones_own(self):
        for method in ("crowd_layer", "aggnet", "max_mig", "dalc"):
            with self.subTest(method):
                torch.manual_seed(0)
                module = head(self.X.shape[1])(3)
                criterion = self.criterion(method, hidden=range(0, 150, 10))
                optimiser = torch.optim.Adam(module.parameters(), lr=0.01)
                for epoch in range(20):
                    criterion.begin_epoch(epoch, 20, lambda: module(self.X))
                    for rows in torch.randperm(150).split(30):
                        optimiser.zero_grad()
                        criterion(module(self.X[rows]), rows).backward()
                        optimiser.step()
                        criterion.step()
                    criterion.end_epoch()
                module.eval()
                criterion.end_training()
                result = criterion.result(module(self.X))
                # Answers of three classes, to rows that it was not trained on.
                self.assertGreater(criterion.held_out(module(self.X)), criterion.held_out(torch.zeros(150, 3)))
                self.assertGreater((result.labels_ == self.crowd.gold[result.labels_.index]).mean(), 0.85)
                self.assertEqual(result.errors_.shape, (36, 3))
                np.testing.assert_allclose(criterion.predict_proba(module(self.X)), result.row_probas_, atol=1e-12)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "trains networks by itself.*crowd_layer"):
            self.criterion("mbem")
        with self.assertRaisesRegex(ValueError, "there is no learner 'nonsense'"):
            self.criterion("nonsense")
        with self.assertRaisesRegex(ValueError, "dalc learns on which rows.*features="):
            wisecrowd.torch.CrowdLoss("dalc", self.crowd.answers, tasks=self.names)
        criterion = self.criterion("aggnet", warm_up=0)
        with self.assertRaisesRegex(RuntimeError, "begin_epoch"):
            criterion(torch.zeros(2, 3), torch.arange(2))
        with self.assertRaisesRegex(ValueError, "give predict="):
            criterion.begin_epoch(0, 1)
        criterion.begin_epoch(0, 1, lambda: torch.zeros(150, 3))
        with self.assertRaisesRegex(ValueError, r"shape \(2, 4\).*aggnet needs 3"):
            criterion(torch.zeros(2, 4), torch.arange(2))
        with self.assertRaisesRegex(ValueError, "no row with answers is hidden"):
            criterion.held_out(torch.zeros(150, 3))


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crowd, cls.X = crowd_with_rows(seed=2)
        cls.names = cls.crowd.features.index

    def fit(self, module, method="ccem", **more):
        return wisecrowd.torch.fit(module, self.X, self.crowd.answers, method, tasks=self.names, **{**TRAINING, **more})

    def test_every_learner(self):
        for info in wisecrowd._engine.learning_methods():
            if info["linear_only"]:
                continue
            with self.subTest(info["name"]), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = self.fit(head(self.X.shape[1]), info["name"], epochs=30)
                ours = wisecrowd.estimator(info["name"], hidden=16, dropout=0.2, **{**TRAINING, "epochs": 30}).fit(self.crowd.features, self.crowd.answers)
                for theirs, own in (((result.labels_ == self.crowd.gold).mean(), (ours.labels_ == self.crowd.gold).mean()),
                                    (result.score(self.X, self.crowd.gold), ours.score(self.crowd.features, self.crowd.gold))):
                    self.assertGreater(own, 0.75)
                    self.assertGreater(theirs, own - 0.06)
                np.testing.assert_allclose(result.predict_proba(self.X), result.row_probas_, atol=1e-6)

    def test_the_same_seed_gives_the_same_network(self):
        one, other, another = (self.fit(head(self.X.shape[1]), seed=seed).predict_proba(self.X) for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, other)
        self.assertGreater(np.abs(one - another).max(), 0)

    def test_what_is_not_ours_stays(self):
        module = head(self.X.shape[1])(3)
        module[0].weight.requires_grad_(False)
        module[2].eval()
        before, state = module[0].weight.clone(), torch.get_rng_state()
        last = module[3].weight.clone()
        result = self.fit(module)
        self.assertTrue(torch.equal(module[0].weight, before))
        self.assertFalse(torch.equal(module[3].weight, last))
        self.assertTrue(torch.equal(torch.get_rng_state(), state))
        self.assertFalse(module[2].training)
        self.assertTrue(module[3].training)
        self.assertIs(result.module, module)
        module.eval()
        with torch.no_grad():
            np.testing.assert_allclose(torch.softmax(module(self.X), 1), result.predict_proba(self.X), atol=1e-6)

    def test_a_module_begins_with_its_own_weights(self):
        module = head(self.X.shape[1], dropout=0.0)(3)
        start = {name: value.clone() for name, value in module.state_dict().items()}
        first = self.fit(module).row_probas_
        module.load_state_dict(start)
        np.testing.assert_array_equal(self.fit(module).row_probas_, first)

    def test_items_of_all_sorts(self):
        class Pairs(torch.utils.data.Dataset):
            def __init__(self, X):
                self.X = X

            def __len__(self):
                return len(self.X)

            def __getitem__(self, i):
                return {"left": self.X[i, :1], "right": self.X[i, 1:]}

        class Both(torch.nn.Module):
            def __init__(self, columns):
                super().__init__()
                self.norm = torch.nn.BatchNorm1d(columns)
                self.inner = torch.nn.Linear(columns, 3)

            def forward(self, left, right):
                return self.inner(self.norm(torch.cat([left, right], 1)))

        module = Both(self.X.shape[1])
        result = wisecrowd.torch.fit(module, Pairs(self.X), self.crowd.answers, "aggnet", tasks=self.names, **TRAINING)
        self.assertGreater(result.score(Pairs(self.X), self.crowd.gold), 0.8)
        self.assertGreater(float(module.norm.running_mean.abs().sum()), 0)
        np.testing.assert_allclose(result.predict_proba(Pairs(self.X)), result.row_probas_, atol=1e-6)
        with_labels = torch.utils.data.TensorDataset(self.X, torch.zeros(len(self.X)))
        self.assertGreater(wisecrowd.torch.fit(head(self.X.shape[1]), with_labels, self.crowd.answers, "ccem", tasks=self.names,
                                               **TRAINING).score(with_labels, self.crowd.gold), 0.8)

    def test_answers_that_come_later(self):
        result = self.fit(head(self.X.shape[1]), "dalc", epochs=10)
        numbered = self.crowd.answers.assign(task=self.crowd.answers.task.map({name: row for row, name in enumerate(self.names)}))
        np.testing.assert_allclose(result.posterior(self.X, numbered).to_numpy(), result.probas_.to_numpy(), atol=1e-6)
        self.assertEqual(result.reliability(self.X).shape, (150, 12))
        drawn = result.draw(self.X, 10)
        self.assertGreater(drawn.mutual_information.max(), 0)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, r"shape \(\d+, 5\)"):
            self.fit(torch.nn.Linear(self.X.shape[1], 5))
        with self.assertRaisesRegex(TypeError, "float32, module.float"):
            self.fit(torch.nn.Linear(self.X.shape[1], 3).double())
        with self.assertRaisesRegex(ValueError, "tasks has 149 names"):
            wisecrowd.torch.fit(head(2), self.X, self.crowd.answers, "ccem", tasks=self.names[1:])
        with self.assertRaisesRegex(TypeError, "ccem has no parameter 'epoch'"):
            self.fit(head(self.X.shape[1]), epoch=3)
        with self.assertRaisesRegex(ValueError, "linear"):
            wisecrowd.torch.fit(head(self.X.shape[1]), self.X, self.crowd.answers, "raykar", tasks=self.names)

        class Broken(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(2, 3)

            def forward(self, x):
                raise RuntimeError("out of order")

        with self.assertRaisesRegex(RuntimeError, "out of order"):
            self.fit(Broken())


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
