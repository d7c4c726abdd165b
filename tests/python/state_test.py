"""A persistent crowd in one SQLite file: what goes in comes out, and it follows the batch fit."""
import doctest
import json
import os
import signal
import sqlite3
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
import pandas as pd
from frames import shuffled_answers

import wisecrowd
from wisecrowd import CrowdState, _state


class StateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "crowd.state"
        self.frame, self.truth = shuffled_answers(tasks=60)


class Contents(StateTest):
    def test_what_goes_in_comes_out(self):
        with CrowdState.create(self.path, self.frame) as state:
            summary = state.summary()
            self.assertEqual((summary.tasks, summary.workers, summary.answers, summary.classes), (60, 8, 300, ["a", "b", "c"]))
            self.assertEqual(summary.staleness["answers_since"], 0)
            self.assertEqual(summary.advice, "")
            self.assertAlmostEqual(summary.class_prior.sum(), 1)
            self.assertIn("300 answers by 8 workers", str(summary))
            task = state.task("t03")
            given = self.frame[self.frame.task == "t03"].set_index("worker").label
            pd.testing.assert_series_equal(task.answers.set_index("worker").label.sort_index(), given.sort_index())
            self.assertEqual(task.label, state.labels_["t03"])
            self.assertAlmostEqual(task.probas[task.label], task.probability)
            np.testing.assert_allclose(task.probas, state.probas_.loc["t03"])
            worker = state.worker("w2")
            self.assertEqual(worker.answers, int((self.frame.worker == "w2").sum()))
            np.testing.assert_allclose(worker.errors.sum(), 1)
            self.assertAlmostEqual(worker.counts.to_numpy().sum(), worker.answers)
            self.assertAlmostEqual(state.workers.loc["w2", "accuracy"], worker.accuracy)
            self.assertAlmostEqual(np.trace(worker.counts) / worker.answers, worker.accuracy)
            self.assertEqual(state.workers.answers.sum(), 300)
            for missing in (lambda: state.task("nobody"), lambda: state.worker("nobody")):
                with self.assertRaisesRegex(KeyError, "nobody"):
                    missing()

    def test_gold_pins_or_scores(self):
        gold = self.truth.iloc[:30]
        with CrowdState.create(self.path, self.frame, gold=gold, gold_for="evaluation") as state:
            summary = state.summary()
            self.assertEqual((summary.gold_tasks, summary.gold_for), (30, "evaluation"))
            labels = state.labels_.reindex(gold.index)
            value, low, high = summary.gold_accuracy
            self.assertAlmostEqual(value, (labels == gold).mean())
            self.assertLess(low, value)
            self.assertEqual(json.loads(Path(state.report(self.folder / "r.json")).read_text())["gold"]["tasks"], 30)
        with CrowdState.create(self.folder / "seen", self.frame) as state:
            self.assertEqual(state.summary().gold_tasks, 0)
            with self.assertRaisesRegex(ValueError, "nothing to add"):
                state.add()
            state.add(gold=gold)
            self.assertTrue((state.labels_.reindex(gold.index) == gold).all())
            self.assertEqual(state.summary().gold_for, "inference")
            self.assertEqual(state.check(), [])
            self.assertIn("gold_answers", state.result().worker_summary_.columns)
            with self.assertRaisesRegex(ValueError, "is for inference"):
                state.add(gold=gold, gold_for="evaluation")

    def test_retired_tasks_and_alerts(self):
        spam = pd.DataFrame({"task": sorted(set(self.frame.task)), "worker": "spam", "label": "a"})
        with CrowdState.create(self.path, pd.concat([self.frame, spam])) as state:
            settled = state.settled(0.9)
            top = state.probas_.max(axis=1)
            self.assertEqual(sorted(settled.index), sorted(top[top >= 0.9].index))
            pages = pd.concat([state.settled(0.9, limit=7), state.settled(0.9, after=settled.index[6])])
            pd.testing.assert_frame_equal(pages, settled)
            alerts = state.alerts()
            self.assertEqual(list(alerts.columns), ["code", "severity", "message", "count", "workers", "tasks"])
            self.assertIn(["spam"], list(alerts[alerts.code == "worker_stop"].workers))

    def test_a_worker_who_forgets_has_one_accuracy(self):
        with CrowdState.create(self.path, self.frame, update="stochastic", memory=5) as state:
            state.add(self.frame.assign(task="again " + self.frame.task), refit="never")
            for name in state.workers.index:
                worker = state.worker(name)
                self.assertAlmostEqual(state.workers.loc[name, "accuracy"], worker.accuracy)
                self.assertAlmostEqual(np.trace(worker.counts) / worker.counts.to_numpy().sum(), worker.accuracy)

    def test_result_is_as_of_an_estimator(self):
        with CrowdState.create(self.path, self.frame) as state:
            result = state.result()
        self.assertGreater((result.labels_ == self.truth.reindex(result.labels_.index)).mean(), 0.8)
        self.assertEqual(result.errors_.shape, (24, 3))
        self.assertEqual(list(result.worker_summary_.columns)[:2], ["answers", "accuracy"])
        self.assertEqual(result.priors_.index.tolist(), ["a", "b", "c"])
        report = json.loads(Path(result.report(self.folder / "report.json", gold=self.truth)).read_text())
        self.assertEqual(report["counts"]["tasks"], 60)
        # The state follows this batch fit.
        batch = wisecrowd.DawidSkene(**result._method_parameters()).fit(self.frame)
        np.testing.assert_allclose(result.probas_.sort_index(), batch.probas_, atol=1e-6)

    def test_candidates_are_the_most_uncertain(self):
        with CrowdState.create(self.path, self.frame) as state:
            probas = state.probas_
            for by, doubt in (("entropy", lambda q: -(q * np.log(q)).sum(axis=1)), ("least_confidence", lambda q: 1 - q.max(axis=1))):
                found = state.candidates(10, by=by)
                expected = doubt(probas.clip(lower=1e-300)).sort_values(ascending=False)
                np.testing.assert_allclose(found.uncertainty, expected.iloc[:10], atol=1e-12)
                np.testing.assert_allclose(found[["a", "b", "c"]], probas.loc[found.index])
            with self.assertRaisesRegex(ValueError, "entropy, margin"):
                state.candidates(10, by="nonsense")

    def test_any_table_and_any_values(self):
        numbers = pd.DataFrame({"item": [1, 1, 2], "annotator": [7, 8, 7], "answer": [True, False, True]})
        with CrowdState.create(self.path, numbers) as state:
            state.add([(2, 8, False), (3, 9, True)])
            self.assertEqual(state.labels_.index.tolist(), ["1", "2", "3"])
            self.assertEqual(state.summary().classes, ["False", "True"])


class Growing(StateTest):
    def test_adding_and_refitting_gives_the_batch_fit(self):
        with CrowdState.create(self.path) as state:
            for begin in range(0, 300, 60):
                state.add(self.frame[begin:begin + 60], refit="never")
            self.assertEqual(state.summary().answers, 300)
            self.assertTrue(state.summary().advice)
            outcome = state.refit()
            self.assertEqual(outcome["status"], "converged")
            ours = state.probas_.sort_index()[["a", "b", "c"]]
        with CrowdState.create(self.folder / "batch.state", self.frame) as batch:
            theirs = batch.probas_.sort_index()[["a", "b", "c"]]
        np.testing.assert_allclose(ours, theirs, atol=1e-6)

    def test_alarms_about_workers_who_get_worse(self):
        random = np.random.default_rng(1)
        at = np.arange(6000)  # in rounds: every worker of 30 once
        worker, task, truth = at % 30, at // 10, at // 10 % 3
        guesses = (worker % 6 == 0) & (at >= 3000)
        right = random.random(6000) < np.where(guesses, 1 / 3, 0.9)
        said = np.where(right, truth, (truth + random.integers(1, 3, 6000)) % 3)
        answers = pd.DataFrame({"task": [f"t{t}" for t in task], "worker": [f"w{w}" for w in worker], "label": list(map(str, said)), "time": at})
        tired = {f"w{w}" for w in range(0, 30, 6)}
        with wisecrowd.CrowdState.create(self.folder / "tired.state") as state:
            raised = []
            for first in range(0, len(answers), 500):
                batch = answers[first:first + 500].sort_values("worker")  # the column has the order
                raised.append(state.add(batch, time="time").alarms)
            raised = pd.concat(raised)
            self.assertFalse(raised["worker"].duplicated().any(), "once per episode")
            self.assertGreaterEqual(len(tired & set(raised["worker"])), len(tired) - 1)
            self.assertLessEqual(len(set(raised["worker"]) - tired), 2)
            self.assertEqual(list(state.alarms()["worker"]), list(raised["worker"]))
            self.assertTrue(state.alarms()["recovered"].isna().any())
            with self.assertRaisesRegex(ValueError, "no column 'when'"):
                state.add(batch, time="when")
        with wisecrowd.CrowdState(self.folder / "tired.state", read_only=True) as state:
            self.assertEqual(list(state.alarms()["raised"]), list(raised["raised"]))

    def test_what_add_tells(self):
        with CrowdState.create(self.path, self.frame[:250]) as state:
            told = state.add([("t00", "newcomer", "d"), ("fresh", "newcomer", "a"), ("t00", self.frame.worker[0], "b")], refit="never")
            self.assertEqual((told.new_workers, told.new_tasks, told.new_classes), (1, 1, ["d"]))
            self.assertEqual(told.tasks_touched, 2)
            self.assertFalse(told.refitted)
            self.assertIn("refit", state.summary().advice)
            self.assertTrue(state.add(self.frame[250:]).refitted)  # a class is new, and the state is small
            self.assertEqual(state.summary().advice, "")
            self.assertTrue(state.add([("t01", "newcomer", "a")], refit="always").refitted)
            with self.assertRaisesRegex(ValueError, "auto, always or never"):
                state.add(self.frame, refit="maybe")

    def test_repeated_answers(self):
        with CrowdState.create(self.path, self.frame) as state:
            first = self.frame.iloc[0]
            told = state.add([(first.task, first.worker, "a" if first.label == "b" else "b")])
            self.assertEqual((told.answers, told.replaced, told.contradicting), (0, 1, 1))
        with CrowdState.create(self.folder / "strict.state", self.frame, duplicates="reject") as state:
            with self.assertRaisesRegex(ValueError, "has answered task .* before"):
                state.add(self.frame[:3])
            self.assertEqual(state.summary().answers, 300)

    def test_fixed_classes(self):
        with CrowdState.create(self.path, classes=["a", "b", "c"]) as state:
            state.add(self.frame)
            with self.assertRaisesRegex(ValueError, "'z' is not one of the classes"):
                state.add([("t00", "w1", "z")])
            self.assertTrue(state.summary().classes_are_fixed)

    def test_parameters(self):
        with CrowdState.create(self.path, self.frame, prior_answers=2, update="stochastic") as state:
            self.assertEqual(state.summary().parameters["prior_answers"], 2)
            self.assertEqual(state.summary().parameters["update"], "stochastic")
        self.assertEqual(CrowdState.parameters().loc["prior_accuracy", "default"], 0.7)
        with self.assertRaisesRegex(ValueError, "prior_answers"):
            CrowdState.create(self.folder / "other.state", self.frame, prior_answers=-1)
        with self.assertRaisesRegex(ValueError, "nonsense"):
            CrowdState.create(self.folder / "other.state", self.frame, nonsense=1)
        self.assertFalse((self.folder / "other.state").exists())


class Files(StateTest):
    def test_opening(self):
        CrowdState.create(self.path, self.frame).close()
        with CrowdState(self.path) as state:
            state.add([("t00", "newcomer", "a")])
        looking = CrowdState(str(self.path), read_only=True)
        self.assertEqual(looking.summary().answers, 301)
        with self.assertRaisesRegex(OSError, "looking only"):
            looking.add([("t01", "newcomer", "a")])
        looking.close()
        with self.assertRaisesRegex(ValueError, "was closed"):
            looking.summary()

    def test_files_that_are_no_states(self):
        with self.assertRaisesRegex(OSError, "missing.state"):
            CrowdState(self.folder / "missing.state")
        self.path.write_text("no database")
        with self.assertRaises((OSError, ValueError)):
            CrowdState(self.path)
        with self.assertRaises(OSError):
            CrowdState.create(self.path, self.frame)
        self.assertEqual(self.path.read_text(), "no database")

    def test_export_and_check(self):
        with CrowdState.create(self.path, self.frame) as state:
            self.assertEqual(state.check(), [])
            state.export(self.folder / "result")
            labels = pd.read_csv(self.folder / "result/labels.csv").set_index("task")
            self.assertEqual(labels.label.to_dict(), state.labels_.to_dict())
            self.assertTrue((self.folder / "result/run.json").is_file())
        with sqlite3.connect(self.path) as database:
            database.execute("UPDATE worker SET answers = answers + 1 WHERE id = 0")
        database.close()
        self.assertTrue(CrowdState(self.path).check())

    def test_several_threads_take_turns(self):
        with CrowdState.create(self.path) as state:
            def add(part):
                for row in self.frame[part::4].itertuples(index=False):
                    state.add([tuple(row)], refit="never")

            threads = [threading.Thread(target=add, args=(part,)) for part in range(4)]
            frame, self.frame = self.frame, self.frame[:40]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.frame = frame
            self.assertEqual(state.summary().answers, 40)
            self.assertEqual(state.check(), [])

    def test_interruption_leaves_the_state_as_it_was(self):
        """The fit does not end by itself within any reasonable time; Ctrl-C comes with the first report."""
        with CrowdState.create(self.path, tolerance=0, max_iterations=1_000_000_000) as state:
            state.add(self.frame, refit="never")
            before = state.probas_

            def listen(stage, done, total, objective):
                os.kill(os.getpid(), signal.SIGINT)

            with self.assertRaises(KeyboardInterrupt):
                state.refit(progress=listen)
            pd.testing.assert_frame_equal(state.probas_, before)
            self.assertEqual(state.check(), [])


class Documentation(unittest.TestCase):
    def test_examples_in_docstrings(self):
        found = doctest.testmod(_state)
        self.assertGreater(found.attempted, 0)
        self.assertEqual(found.failed, 0)


if __name__ == "__main__":
    unittest.main()
