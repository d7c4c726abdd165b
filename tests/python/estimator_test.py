"""What every estimator promises: parameters as in scikit-learn, pickling, progress, interruption, errors."""
import inspect
import os
import pickle
import re
import signal
import threading
import time
import unittest
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from frames import needs_of, shuffled_answers

import wisecrowd
from wisecrowd import _engine

ALL = [*wisecrowd.aggregation.CLASSES.values(), *wisecrowd.learning.CLASSES.values()]


ROOT = Path(__file__).resolve().parents[2]


class FitValues(unittest.TestCase):
    def fit(self):
        return wisecrowd.GLAD(5).fit(shuffled_answers(classes=("a", "b"))[0])._fit

    def test_no_field_is_lost(self):
        declared = set()
        for header, start in (("fit_summary.hpp", "struct FitSummary {"), ("category_fit.hpp", "struct CategoryFit : FitSummary {")):
            body = (ROOT / "include/wisecrowd" / header).read_text().split(start)[1].split("\n};")[0]
            declared |= set(re.findall(r"^  [\w:<>, ]+ (\w+)(?: = [^;]+)?;", body, re.MULTILINE))
        self.assertIn("tie_rule", declared)
        # A likelihood that is not there is None; of the search for dependent workers the voices are kept.
        own = (declared - {"has_log_likelihood", "dependence", "kNoGroup"}) | {"voices"}
        self.assertEqual(set(self.fit().fields()), own)

    def test_copies_and_pickles_are_the_same(self):
        fit = self.fit()
        for again in (fit.replaced(), pickle.loads(pickle.dumps(fit))):
            for name, value in fit.fields().items():
                np.testing.assert_array_equal(getattr(again, name), value, err_msg=name)
        changed = fit.replaced(iterations=0, status="iteration_limit", skill=None)
        self.assertEqual((changed.iterations, changed.status, changed.skill), (0, "iteration_limit", None))
        self.assertGreater(fit.iterations, 0)
        with self.assertRaisesRegex(TypeError, "no field nonsense"):
            fit.replaced(nonsense=1)

    def test_an_array_outlives_its_fit(self):
        posterior = self.fit().posterior
        self.assertTrue(np.allclose(posterior.sum(axis=1), 1))

    def test_warnings_say_message_and_remedy(self):
        fitted = wisecrowd.MajorityVote(classes=["a", "b", "never"]).fit(shuffled_answers(classes=("a", "b"))[0])
        said = dict(fitted.warnings_)["unused_classes"]
        code, message, remedy, severity = next(w for w in fitted._fit.warnings if w[0] == "unused_classes")
        self.assertEqual((said, severity), (f"{message}; {remedy}", "note"))


class Parameters(unittest.TestCase):
    def test_defaults_are_those_of_the_engine(self):
        # Where crowd-kit has the same estimator, the same call means the same model.
        theirs = {("dawid_skene", "pseudo_count"): 0.0, ("kos", "many_classes"): "refuse"}
        for info in [*_engine.aggregation_methods(), *_engine.learning_methods()]:
            made = wisecrowd.estimator(info["name"])
            for spec in info["parameters"]:
                expected = theirs.get((info["name"], spec["name"]), spec["default"])
                self.assertEqual(getattr(made, spec["name"]), expected, f"{info['name']}.{spec['name']}")

    def test_signature_shows_all_parameters(self):
        for cls in ALL:
            shown = inspect.signature(cls).parameters
            self.assertEqual({name: p.default for name, p in shown.items()}, cls().get_params(), cls.__name__)

    def test_docstring_explains_all_parameters(self):
        for cls in ALL:
            for name in cls().get_params():
                self.assertIn(f"\n{name} : ", cls.__doc__, cls.__name__)

    def test_set_params(self):
        made = wisecrowd.DawidSkene().set_params(max_iterations=5, tol=0.5)
        self.assertEqual((made.max_iterations, made.tolerance), (5, 0.5))
        with self.assertRaisesRegex(TypeError, "no parameter 'iterations'"):
            made.set_params(iterations=3)

    def test_repr_shows_what_was_changed(self):
        self.assertEqual(repr(wisecrowd.DawidSkene(20, ties="random")), "DawidSkene(max_iterations=20, ties='random')")
        self.assertEqual(repr(wisecrowd.Wawa()), "Wawa()")

    def test_wrong_values_are_refused_in_fit(self):
        frame, _ = shuffled_answers()
        for wrong in ({"max_iterations": -1}, {"max_iterations": False}, {"max_iterations": 2.5}, {"max_iterations": "many"}, {"tolerance": None}, {"ties": "first"},
                      {"ties": 3}, {"tolerance": True}, {"seed": -1}, {"seed": "x"}, {"threads": 1.5}):
            with self.assertRaises(ValueError) as caught:
                wisecrowd.DawidSkene(**wrong).fit(frame)
            self.assertIn(next(iter(wrong)), str(caught.exception))

    def test_numbers_of_numpy_will_do(self):
        frame, _ = shuffled_answers()
        wisecrowd.DawidSkene(np.int32(5), np.float32(0.1)).fit(frame)
        wisecrowd.DawidSkene(5.0).fit(frame)

    def test_clone_of_scikit_learn(self):
        try:
            from sklearn.base import clone
        except ImportError:
            self.skipTest("scikit-learn is not installed")
        for cls in ALL:
            made = cls(seed=3)
            copy = clone(made)
            self.assertIsNot(copy, made)
            self.assertEqual(copy.get_params(), made.get_params())

    def test_every_name_is_exported(self):
        for cls in ALL:
            self.assertIs(getattr(wisecrowd, cls.__name__), cls)
            self.assertIn(cls.__name__, wisecrowd.__all__)


class Fits(unittest.TestCase):
    def setUp(self):
        self.frame, self.gold = shuffled_answers()

    def test_not_fitted(self):
        for name in ("labels_", "probas_", "errors_", "skills_", "priors_", "loss_history_", "worker_summary_", "classes_"):
            with self.assertRaisesRegex(wisecrowd.NotFittedError, "call DawidSkene.fit first"):
                getattr(wisecrowd.DawidSkene(), name)
        self.assertFalse(hasattr(wisecrowd.DawidSkene(), "labels_"))

    def test_refit_forgets(self):
        fitted = wisecrowd.DawidSkene().fit(self.frame)
        self.assertEqual(len(fitted.labels_), 40)
        fitted.fit(self.frame[self.frame.task < "t05"])
        self.assertEqual((len(fitted.labels_), len(fitted.probas_)), (5, 5))

    def test_seed_and_threads(self):
        one = wisecrowd.Gibbs(seed=1, threads=1).fit(self.frame).probas_
        pd.testing.assert_frame_equal(wisecrowd.Gibbs(seed=1, threads=3).fit(self.frame).probas_, one)
        self.assertFalse(wisecrowd.Gibbs(seed=2).fit(self.frame).probas_.equals(one))

    def test_gold(self):
        fitted = wisecrowd.DawidSkene().fit(self.frame, self.gold)
        self.assertTrue((fitted.labels_ == self.gold).all())
        self.assertIn("gold_accuracy", fitted.worker_summary_)
        as_table = self.gold.reset_index()
        pd.testing.assert_frame_equal(wisecrowd.DawidSkene().fit(self.frame, as_table).probas_, fitted.probas_)
        pd.testing.assert_frame_equal(wisecrowd.DawidSkene().fit(self.frame, self.gold.to_dict()).probas_, fitted.probas_)
        with self.assertRaisesRegex(ValueError, "cannot use known labels"):
            wisecrowd.KOS().fit(self.frame, self.gold)
        with self.assertRaisesRegex(ValueError, "same names"):
            wisecrowd.DawidSkene().fit(self.frame, {"elsewhere": "a"})

    def test_start_from_another_method(self):
        votes = wisecrowd.Wawa().fit(self.frame)
        chained = wisecrowd.DawidSkene().fit(self.frame, start=votes.probas_)
        self.assertEqual(chained.status_, "converged")
        with self.assertRaisesRegex(ValueError, "does not iterate"):
            wisecrowd.MajorityVote.__mro__[2].fit(wisecrowd.MajorityVote(), self.frame, start=votes.probas_)

    def test_workers(self):
        summary = wisecrowd.DawidSkene().fit(self.frame).worker_summary_
        self.assertEqual(list(summary["answers"]), list(self.frame.groupby("worker").size()))
        self.assertTrue((summary.accuracy_low <= summary.accuracy).all() and (summary.accuracy <= summary.accuracy_high).all())

    def test_empty_table(self):
        fitted = wisecrowd.DawidSkene().fit(self.frame.iloc[:0])
        self.assertEqual((len(fitted.labels_), len(fitted.probas_), len(fitted.errors_)), (0, 0, 0))

    def test_every_method(self):
        frame, gold = shuffled_answers(seed=4, tasks=60, workers=9, classes=("no", "yes"))
        for name, cls in wisecrowd.aggregation.CLASSES.items():
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = cls(classes=["no", "yes"]).fit(frame, **needs_of(cls, frame))
                self.assertGreater((fitted.labels_ == gold).mean(), 0.7)
                self.assertEqual(fitted.errors_.shape, (18, 2))
                pd.testing.assert_series_equal(pickle.loads(pickle.dumps(fitted)).labels_, fitted.labels_)

    def test_odd_names_stay_what_they_are(self):
        odd = ["<script>alert(1)</script>", "'\"", "😀", "עברית", "x" * 10_000, " ", "a\nb", "\x00"]
        frame = pd.DataFrame([(t, w, l) for t in odd for w in odd for l in odd[:2]][::2], columns=["task", "worker", "label"])
        fitted = wisecrowd.DawidSkene(duplicates="repeat").fit(frame)
        self.assertEqual(list(fitted.labels_.index), sorted(odd))
        self.assertTrue(set(fitted.labels_) <= set(odd))


class Pickling(unittest.TestCase):
    def test_everything_comes_back(self):
        frame, gold = shuffled_answers()
        fitted = wisecrowd.DawidSkene(50).fit(frame, gold[:5])
        _ = fitted.labels_
        again = pickle.loads(pickle.dumps(fitted))
        self.assertEqual(again.get_params(), fitted.get_params())
        for name in ("probas_", "errors_", "worker_summary_"):
            pd.testing.assert_frame_equal(getattr(again, name), getattr(fitted, name))
        for name in ("labels_", "skills_", "priors_"):
            pd.testing.assert_series_equal(getattr(again, name), getattr(fitted, name))
        self.assertEqual(again.loss_history_, fitted.loss_history_)
        unfitted = pickle.loads(pickle.dumps(wisecrowd.DawidSkene(7)))
        self.assertEqual(unfitted.max_iterations, 7)


class LongWork(unittest.TestCase):
    """Work that would take minutes, so that being stopped is being stopped early."""

    def setUp(self):
        crowd = wisecrowd.simulate("dawid_skene", tasks=20_000, workers=200, seed=1)
        self.answers = crowd.answers
        self.endless = dict(max_iterations=10**9, tolerance=0, restarts=10**6)

    def test_progress_is_told(self):
        told = []

        def listen(stage, done, total, objective):
            told.append((stage, done, total, objective))
            if len(told) == 3:
                raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            wisecrowd.DawidSkene(progress=listen, **self.endless).fit(self.answers)
        self.assertEqual(len(told), 3)
        self.assertIsInstance(told[0][0], str)

    def test_keyboard_interrupt(self):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        started = time.monotonic()
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            wisecrowd.DawidSkene(**self.endless).fit(self.answers)
        self.assertLess(time.monotonic() - started, 60)

    def test_other_threads_run_meanwhile(self):
        counted = [0]
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0.001)

        def listen(*_):
            if counted[0] > 20:
                raise StopIteration

        thread = threading.Thread(target=count)
        thread.start()
        try:
            with self.assertRaises(StopIteration):
                wisecrowd.DawidSkene(progress=listen, **self.endless).fit(self.answers)
        finally:
            stop.set()
            thread.join()

    def test_bar_of_tqdm(self):
        try:
            import tqdm  # noqa: F401
        except ImportError:
            with self.assertWarnsRegex(UserWarning, "tqdm"):
                wisecrowd.DawidSkene(3, progress=True).fit(self.answers)
        else:
            wisecrowd.DawidSkene(3, progress=True).fit(self.answers)


if __name__ == "__main__":
    unittest.main()
