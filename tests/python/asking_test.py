"""What to ask next: the same choices as the command line, and policies that beat chance."""
import doctest
import fcntl
import json
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
import pandas as pd
from frames import shuffled_answers

import wisecrowd
from wisecrowd import CrowdState, _asking, _dalc_loop

PROGRAM = os.environ.get("WISECROWD_PROGRAM")


class Choosing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.frame, self.truth = shuffled_answers(tasks=60, per_task=3)
        self.state = CrowdState.create(self.folder / "crowd.state", self.frame)
        self.addCleanup(self.state.close)

    def test_nobody_is_asked_twice_and_the_budget_holds(self):
        asked = set(zip(self.frame.task, self.frame.worker))
        for crowd in (self.state, self.frame):
            for policy in ("random", "entropy", "margin", "least_confidence", "expected_information"):
                chosen = wisecrowd.select(crowd, 40, policy=policy)
                self.assertEqual(len(chosen), 40)
                pairs = set(zip(chosen.task, chosen.worker))
                self.assertEqual(len(pairs), 40)
                self.assertFalse(pairs & asked)
                self.assertEqual(chosen.cost.sum(), 40)
                self.assertTrue((chosen.expected_gain >= 0).all())

    def test_offers(self):
        offers = pd.DataFrame({"worker": ["w1", "w2", "stranger"], "cost": [1, 2.5, np.nan], "capacity": [3, None, 5],
                               "available": [True, True, None]})
        for crowd in (self.state, self.frame):
            chosen = wisecrowd.select(crowd, 20, workers=offers)
            self.assertLessEqual(chosen.cost.sum(), 20)
            self.assertLessEqual(set(chosen.worker), {"w1", "w2", "stranger"})
            self.assertLessEqual((chosen.worker == "w1").sum(), 3)
            self.assertLessEqual((chosen.worker == "stranger").sum(), 5)
            self.assertTrue((chosen.cost[chosen.worker == "w2"] == 2.5).all())
            self.assertEqual(set(wisecrowd.select(crowd, 5, workers=["w3"]).worker), {"w3"})
            self.assertEqual(set(wisecrowd.select(crowd, 5, workers=pd.Series([1.5], index=["w4"])).cost), {1.5})
            closed = wisecrowd.select(crowd, 5, workers={"worker": ["w1"], "available": [False]})
            self.assertEqual((len(closed), list(closed.columns)), (0, ["task", "worker", "expected_gain", "cost"]))

    def test_values_come_back_as_they_were_given(self):
        numbers = pd.DataFrame({"task": [1, 1, 2, 3], "worker": [10, 11, 10, 11], "label": [0, 1, 1, 0]})
        chosen = wisecrowd.select(numbers, 2, workers=[10, 11])
        self.assertEqual(chosen.task.dtype.kind, "i")
        self.assertEqual(sorted(zip(chosen.task, chosen.worker)), [(2, 11), (3, 10)])
        self.assertIn(99, set(wisecrowd.select(numbers, 5, workers=[10, 99]).worker))

    def test_what_is_wrong(self):
        for crowd in (self.state, self.frame):
            for budget in (0, -1, np.inf, np.nan):
                with self.assertRaisesRegex(ValueError, "budget"):
                    wisecrowd.select(crowd, budget)
            with self.assertRaisesRegex(ValueError, "expected_information"):
                wisecrowd.select(crowd, 3, policy="nonsense")
            with self.assertRaisesRegex(ValueError, "nonsense"):
                wisecrowd.select(crowd, 3, nonsense=1)
            with self.assertRaisesRegex(ValueError, "needs features"):
                wisecrowd.select(crowd, 3, policy="bald")
        for workers, message in (({"worker": ["a", "a"]}, "named twice"), ({"worker": ["a"], "cost": [0]}, "above 0"),
                                 ({"worker": ["a"], "price": [1]}, "price"), ({"cost": [1]}, "must be 'worker'"),
                                 ({"worker": ["a"], "capacity": [1.5]}, "capacity"), ({"worker": [None]}, "no name")):
            with self.assertRaisesRegex(ValueError, message):
                wisecrowd.select(self.frame, 3, workers=workers)

    def test_parameters_reach_the_policy(self):
        everything = wisecrowd.select(self.state, 60, policy="entropy")
        unsure = wisecrowd.select(self.state, 60, policy="entropy", delta=0.1)
        self.assertLess(unsure.task.nunique(), everything.task.nunique())
        sure = self.state.probas_.max(axis=1)
        self.assertTrue((sure[unsure.task] < 0.9).all())
        draws = [wisecrowd.select(self.state, 20, policy="random", seed=seed).task.tolist() for seed in (1, 1, 2)]
        self.assertEqual(draws[0], draws[1])
        self.assertNotEqual(draws[0], draws[2])

    @unittest.skipUnless(PROGRAM, "WISECROWD_PROGRAM does not say where the program is")
    def test_as_the_command_line(self):
        offers = self.folder / "offers.csv"
        offers.write_text("worker,cost\nw1,1\nw2,2\nstranger,1.5\n")
        run = subprocess.run([PROGRAM, "select", self.state.path, "--budget", "30", "--workers", offers, "--json"], check=True,
                             capture_output=True, text=True)
        expected = pd.DataFrame(json.loads(run.stdout)["choices"])
        chosen = wisecrowd.select(self.state, 30, workers=pd.read_csv(offers))
        pd.testing.assert_frame_equal(chosen, expected, check_dtype=False, atol=1e-12)
        answers = self.folder / "answers.csv"
        self.frame.to_csv(answers, index=False)
        subprocess.run([PROGRAM, "select", "--advise", answers, "--out", self.folder / "advice"], check=True, capture_output=True)
        advice = wisecrowd.advise(self.frame)
        workers = pd.read_csv(self.folder / "advice/workers.csv").set_index("worker").sort_index()
        self.assertEqual(set(advice.workers.columns), set(workers.columns))
        drawn = [column for column in workers if column.endswith(("_low", "_high"))]  # workers are in another order there
        known = workers.columns.drop(drawn)
        pd.testing.assert_frame_equal(advice.workers[known], workers[known], check_dtype=False, atol=1e-5, rtol=1e-5)
        np.testing.assert_allclose(advice.workers[drawn], workers[drawn], atol=0.05)
        tasks = pd.read_csv(self.folder / "advice/tasks.csv").set_index("task")
        pd.testing.assert_series_equal(advice.tasks.expected_gain.sort_index(), tasks.expected_gain.sort_index(), atol=1e-5)

    def test_interruption(self):
        def listen(*_):
            os.kill(os.getpid(), signal.SIGINT)

        crowd = wisecrowd.simulate("dawid_skene", tasks=400, workers=30, seed=1)
        with self.assertRaises(KeyboardInterrupt):
            wisecrowd.replay(crowd.answers, crowd.gold, seeds=1000, progress=listen)


class AskingWithFeatures(unittest.TestCase):
    def test_a_loop_learns_as_it_asks(self):
        crowd = wisecrowd.simulate("lftc", tasks=120, workers=12, test_tasks=20, seed=1)
        rows = crowd.features.loc[crowd.splits == "train"]
        with tempfile.TemporaryDirectory() as folder, CrowdState.create(os.path.join(folder, "crowd.state"), crowd.answers) as state:
            quick = {"policy": "dalc", "features": rows, "hidden": 8, "epochs": 3, "first_epochs": 3, "round_epochs": 2}
            asked = wisecrowd.select(state, 4, **quick)
            self.assertEqual(asked.columns.tolist(), ["task", "worker", "uncertainty", "reliability", "cost"])
            self.assertTrue(asked.attrs["trained"])
            state.add(pd.DataFrame({"task": asked["task"], "worker": asked["worker"], "label": "1"}))
            again = wisecrowd.select(state, 4, workers={"worker": ["new"], "cost": [2], "response": [0.5]}, **quick)
            self.assertEqual((again["worker"].tolist(), again.attrs["new_answers"]), (["new", "new"], 4))
            for wrong, words in (({"policy": "entropy"}, "'entropy' is none"), ({"features": None}, "needs features"),
                                 ({"hidden": 9}, "began with hidden=8"), ({"nonsense": 1}, "nonsense")):
                with self.assertRaisesRegex(ValueError, words):
                    wisecrowd.select(state, 4, **{**quick, **wrong})
            with self.assertRaisesRegex(TypeError, "CrowdState"):
                wisecrowd.select(crowd.answers, 4, **quick)
            with open(os.path.join(folder, "crowd.state.loop.lock"), "w") as other:
                fcntl.flock(other, fcntl.LOCK_EX)
                with self.assertRaisesRegex(OSError, "is in use by another program"):
                    wisecrowd.select(state, 4, **quick)

    def test_the_loop_is_replayed_as_on_the_command_line(self):
        crowd = wisecrowd.simulate("lftc", tasks=120, workers=12, test_tasks=40, seed=2)
        quick = {"policies": ["rd", "dalc"], "seeds": 2, "hidden": 8, "first_answers": 20, "round_answers": 60, "first_epochs": 4,
                 "round_epochs": 2, "epochs": 4, "seed": 3}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            test = crowd.splits.index[crowd.splits == "test"]
            played = wisecrowd.dalc_loop(crowd.answers, crowd.features, crowd.gold, test=test, out=folder / "python", **quick)
            self.assertLessEqual({"curves.svg", "curves.csv", "summary.json"}, {path.name for path in (folder / "python").iterdir()})
            self.assertEqual((played.test_rows, played.repetitions, played.past_tasks), (40, 2, 60))
            self.assertEqual(played.savings.index.tolist(), ["rd", "dalc"])
            for _, row in played.curves.iterrows():
                own = played.seeds[(played.seeds["policy"] == row["policy"]) & (played.seeds["answers"] == row["answers"])]
                self.assertAlmostEqual(row["accuracy"], own["accuracy"].mean())
            if PROGRAM:
                subprocess.run([PROGRAM, "simulate", "lftc", "--tasks", "120", "--workers", "12", "--test-tasks", "40", "--seed", "2", "--out",
                                folder / "crowd", "--quiet"], check=True)
                settings = [f"{key}={value}" for key, value in quick.items() if "_" in key or key == "epochs"]
                subprocess.run([PROGRAM, "dalc-loop", folder / "crowd/answers.csv", "-f", folder / "crowd/features.npy", "-t",
                                folder / "crowd/tasks.csv", "-g", folder / "crowd/gold.csv", "--policies", "rd,dalc", "--seeds", "2", "--hidden",
                                "8", "--seed", "3", "--quiet", "--out", folder / "program",
                                *[word for setting in settings for word in ("--set", setting)]], check=True)
                self.assertEqual((folder / "python/seeds.csv").read_text(), (folder / "program/seeds.csv").read_text())
            unanswered = set(crowd.features.index) - set(crowd.answers["task"])  # the test rows, and perhaps some others
            self.assertEqual(wisecrowd.dalc_loop(crowd.answers, crowd.features, crowd.gold, **quick).test_rows, len(unanswered))
            for wrong, words in (({"policies": ["best"]}, "no policy 'best'"), ({"nonsense": 1}, "nonsense"),
                                 ({"past": 2}, "past"), ({"test": []}, "there are none")):
                with self.assertRaisesRegex(ValueError, words):
                    wisecrowd.dalc_loop(crowd.answers, crowd.features, crowd.gold, **{**quick, **wrong})


class Advising(unittest.TestCase):
    def test_spammers_are_stopped(self):
        crowd = wisecrowd.simulate("hammer_spammer", tasks=2000, workers=20, answers_per_task=6, seed=3)
        advice = wisecrowd.advise(crowd.answers)
        joined = advice.workers.join(crowd.workers.kind)
        self.assertEqual(set(joined.advice[joined.kind == "spammer"]), {"stop"})
        self.assertEqual(set(joined.advice[joined.kind == "hammer"]), {"keep"})
        self.assertTrue(advice.tasks.expected_gain.is_monotonic_decreasing)
        self.assertLessEqual(advice.tasks.probability.max(), 1)
        self.assertIn("stop", str(advice))


class Replaying(unittest.TestCase):
    def test_recorded_answers(self):
        crowd = wisecrowd.simulate("hammer_spammer", tasks=100, workers=20, answers_per_task=8, seed=1)
        played = wisecrowd.replay(crowd.answers, crowd.gold, policies=["random", ("expected_information", {})],
                                  seeds=3, answers_per_round=50, method=wisecrowd.DawidSkene())
        self.assertEqual((played.all_answers, played.scored_tasks, played.repetitions), (800, 100, 3))
        fitted = wisecrowd.DawidSkene().fit(crowd.answers)
        self.assertAlmostEqual(played.target, (fitted.labels_ == crowd.gold[fitted.labels_.index]).mean(), delta=0.01)
        last = played.curves.groupby("policy").last()
        np.testing.assert_allclose(last.answers, 800)
        np.testing.assert_allclose(last.accuracy, played.target)
        self.assertEqual(played.seeds.groupby("policy").seed.nunique().tolist(), [3, 3])
        mean = played.seeds[played.seeds.policy == "random"].groupby("seed").accuracy.last().mean()
        self.assertAlmostEqual(mean, last.accuracy["random"])
        self.assertGreater(played.areas["expected_information"], played.areas["random"])
        self.assertIn("expected_information", played.words)
        again = wisecrowd.replay(crowd.answers, crowd.gold, policies=["random", "expected_information"], seeds=3, answers_per_round=50,
                                 method="dawid_skene", threads=1)
        pd.testing.assert_frame_equal(played.curves, again.curves)

    def test_a_simulated_crowd(self):
        crowd = wisecrowd.simulate("hammer_spammer", tasks=50, workers=12, seed=1)
        played = wisecrowd.replay(crowd, seeds=2, most_answers=200, answers_per_round=50,
                                  policies={"random": {}, "margin/thompson": {"delta": 0.02}})
        self.assertLessEqual(played.curves.answers.max(), 200)
        self.assertEqual(played.curves.policy.unique().tolist(), ["random", "margin/thompson"])

    def test_what_is_wrong(self):
        frame, truth = shuffled_answers()
        with self.assertRaisesRegex(ValueError, "gold"):
            wisecrowd.replay(frame)
        with self.assertRaisesRegex(ValueError, "no policy 'nonsense'"):
            wisecrowd.replay(frame, truth, policies=["nonsense"])
        with self.assertRaisesRegex(ValueError, "each once"):
            wisecrowd.replay(frame, truth, policies=["random", "random"])
        with self.assertRaisesRegex(TypeError, "'nonsense'"):
            wisecrowd.replay(frame, truth, nonsense=1)


class Documentation(unittest.TestCase):
    def test_examples_in_docstrings(self):
        for module in (_asking, _dalc_loop):
            found = doctest.testmod(module)
            self.assertGreater(found.attempted, 0)
            self.assertEqual(found.failed, 0)

    def test_policies_are_listed(self):
        table = wisecrowd.policies()
        self.assertIn("delta", table.loc["entropy", "parameters"])


if __name__ == "__main__":
    unittest.main()
