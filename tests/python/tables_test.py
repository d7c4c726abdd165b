"""How tables are read: which column is what, wide tables, what is missing, and tables without rows."""
import unittest
import warnings

import numpy as np
import pandas as pd
from frames import needs_of, shuffled_answers

import wisecrowd
from wisecrowd._columns import read

try:
    import polars as pl
except ImportError:
    pl = None
try:
    import pyarrow as pa
except ImportError:
    pa = None


def silently(function, *arguments, **named):
    """Fails on any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*arguments, **named)


class Columns(unittest.TestCase):
    def setUp(self):
        self.frame, self.gold = shuffled_answers()
        self.odd = self.frame.rename(columns={"task": "picture", "worker": "who", "label": "said"})
        self.names = {"picture": "task", "who": "worker", "said": "label"}

    def test_either_way_round_and_in_order(self):
        expected = wisecrowd.DawidSkene().fit_predict(self.frame)
        for columns in (self.names, {role: name for name, role in self.names.items()}, ["picture", "who", "said"]):
            pd.testing.assert_series_equal(wisecrowd.DawidSkene().fit_predict(self.odd, columns=columns), expected)

    def test_some_of_them(self):
        half = self.frame.rename(columns={"worker": "who"})
        pd.testing.assert_series_equal(wisecrowd.Wawa().fit_predict(half, columns={"who": "worker"}), wisecrowd.Wawa().fit_predict(self.frame))

    def test_what_is_said_goes_before_names(self):
        """A column called label that is none."""
        frame = self.frame.assign(answer=self.frame.label, label="x")
        self.assertEqual(set(wisecrowd.MajorityVote().fit_predict(frame, columns={"answer": "label"})), {"a", "b", "c"})

    def test_everywhere(self):
        columns = self.names
        self.assertEqual(wisecrowd.describe(self.odd, columns=columns).answers, len(self.odd))
        self.assertEqual(len(wisecrowd.compare(self.odd, self.gold, methods=["wawa"], columns=columns)), 1)
        self.assertEqual(len(wisecrowd.select(self.odd, 2, columns=columns)), 2)
        self.assertEqual(len(wisecrowd.advise(self.odd, columns=columns).workers), 8)
        self.assertEqual(wisecrowd.replay(self.odd, self.gold, seeds=1, columns=columns).all_answers, len(self.odd))
        self.assertEqual(len(wisecrowd.MajorityVote().fit(self.odd, {f"w{i}": 1.0 for i in range(8)}, columns=columns).labels_), 40)
        self.assertEqual(len(wisecrowd.GoldMajorityVote().fit_predict(self.odd, self.gold, columns=columns)), 40)
        self.assertEqual(len(wisecrowd.Wawa().fit(self.frame).predict(self.odd, columns=columns)), 40)
        crowd = wisecrowd.simulate("dawid_skene", tasks=50, workers=10, gaussian_features=2.0, seed=3)
        learner = wisecrowd.TwoStage(network="linear", epochs=2)
        learner.fit(crowd.features, crowd.answers.rename(columns={"task": "q"}), columns={"q": "task"})
        self.assertEqual(len(learner.labels_), 50)

    def test_refusals(self):
        for columns, error, words in (({"nobody": "worker"}, KeyError, "no column 'nobody' among 'picture', 'who', 'said'"),
                                      ({"who": "person"}, ValueError, "'person' is none of task, worker, label"),
                                      ({"who": "worker", "said": "worker"}, ValueError, "two columns"),
                                      ({"task": "who", "worker": "who"}, ValueError, "two things"),
                                      ("who", TypeError, "which column is what")):
            with self.subTest(columns), self.assertRaisesRegex(error, words):
                wisecrowd.MajorityVote().fit(self.odd, columns=columns)

    def test_missing_column_is_a_key_error_with_a_remedy(self):
        for error in (KeyError, ValueError, wisecrowd.ColumnError):
            with self.assertRaises(error) as caught:
                wisecrowd.MajorityVote().fit(self.frame.drop(columns="label"))
            self.assertIn("there is no column 'label' among 'task', 'worker'", str(caught.exception))
            self.assertIn("columns={'its name': 'label'}", str(caught.exception))
            self.assertNotIn("--", str(caught.exception))


class Wide(unittest.TestCase):
    def setUp(self):
        self.frame, self.gold = shuffled_answers()
        self.wide = self.frame.pivot(index="task", columns="worker", values="label")
        self.expected = wisecrowd.DawidSkene().fit(self.frame)

    def same(self, data, **more):
        fitted = silently(wisecrowd.DawidSkene().fit, data, wide=True, **more)
        np.testing.assert_array_equal(fitted.probas_.to_numpy(), self.expected.probas_.to_numpy())
        self.assertEqual(list(fitted.labels_.index), list(self.expected.labels_.index))
        self.assertEqual(list(fitted.skills_.index), list(self.expected.skills_.index))

    def test_like_the_long_table(self):
        self.same(self.wide)
        self.same(self.wide.reset_index())
        self.same(self.wide.fillna(""))
        self.same(self.wide.rename_axis(index=None))
        self.same(self.wide.reset_index().rename(columns={"task": "page"}))
        self.same(self.wide.reset_index().rename(columns={"task": "page"})[[*self.wide.columns, "page"]], columns={"page": "task"})
        self.same({name: list(values) for name, values in self.wide.reset_index().items()})
        self.same(self.wide.astype("string"))
        self.same(self.wide.astype("category"))

    def test_one_list_of_categories(self):
        dtype = pd.CategoricalDtype(["c", "b", "a", "never"])
        labels = wisecrowd.MajorityVote().fit(self.wide.astype(dtype), wide=True)
        self.assertEqual(list(labels.classes_), ["c", "b", "a", "never"])

    def test_numbers_stay_whole(self):
        """Numbers with gaps are floats in pandas."""
        numbers = self.wide.replace({"a": 0, "b": 1, "c": 2}).astype(float)
        labels = wisecrowd.MajorityVote().fit_predict(numbers, wide=True)
        self.assertEqual(labels.dtype, np.int64)
        halves = wisecrowd.MajorityVote().fit_predict(numbers / 2, wide=True)
        self.assertEqual(set(halves), {0.0, 0.5, 1.0})

    def test_silent_workers_and_unanswered_tasks_are_known(self):
        crowd = read(pd.DataFrame({"task": ["t1", "t2"], "w1": ["a", None], "w2": [None, None]}), wide=True)
        self.assertEqual((list(crowd.tasks), list(crowd.workers), crowd.answers.answer_count), (["t1", "t2"], ["w1", "w2"], 1))

    def test_everywhere(self):
        self.assertEqual(wisecrowd.describe(self.wide, wide=True).answers, len(self.frame))
        table = wisecrowd.compare(self.wide, self.gold, methods=["majority_vote"], wide=True, classes=["c", "b", "a", "x"])
        self.assertEqual(len(table), 1)
        self.assertEqual(len(wisecrowd.GoldMajorityVote().fit_predict(self.wide, self.gold, wide=True)), 40)

    def test_refusals(self):
        with self.assertRaisesRegex(KeyError, "one column per worker"):
            wisecrowd.MajorityVote().fit(pd.DataFrame({"task": ["t1"]}), wide=True)
        with self.assertRaisesRegex(ValueError, "several columns named 'w'"):
            wisecrowd.MajorityVote().fit(pd.DataFrame([["t", "a", "b"]], columns=["task", "w", "w"]), wide=True)
        with self.assertRaisesRegex(ValueError, "row 1"):
            wisecrowd.MajorityVote().fit(pd.DataFrame({"task": ["t", None], "w": ["a", "b"]}), wide=True)
        with self.assertRaisesRegex(TypeError, "row per task"):
            wisecrowd.MajorityVote().fit([("t", "w", "a")], wide=True)
        with self.assertRaisesRegex(ValueError, "wide=True"):
            wisecrowd.MajorityVote().fit(self.wide)

    @unittest.skipUnless(pl, "polars is not installed")
    def test_polars(self):
        self.same(pl.from_pandas(self.wide.reset_index()))

    @unittest.skipUnless(pa, "pyarrow is not installed")
    def test_pyarrow(self):
        self.same(pa.Table.from_pandas(self.wide.reset_index()))


class Missing(unittest.TestCase):
    def setUp(self):
        self.frame, _ = shuffled_answers()
        self.expected = wisecrowd.DawidSkene().fit(self.frame.drop(index=17))

    def no_answer(self, data):
        with self.assertWarnsRegex(wisecrowd.DataWarning, r"'label' has no value in 1 of \d+ rows, the first of them row 17 .*no answer"):
            fitted = wisecrowd.DawidSkene().fit(data)
        np.testing.assert_array_equal(fitted.probas_.to_numpy(), self.expected.probas_.to_numpy())
        return fitted

    def test_no_label_is_no_answer(self):
        for nothing in (None, np.nan, pd.NA):
            frame = self.frame.copy()
            frame.loc[17, "label"] = nothing
            self.no_answer(frame)
            self.no_answer(frame.astype("category"))
            self.no_answer(frame.astype("string"))
            self.no_answer({name: list(frame[name]) for name in frame})
            self.no_answer({name: frame[name].to_numpy() for name in frame})

    def test_masks(self):
        codes = self.frame.label.map({"a": 0, "b": 1, "c": 2}).to_numpy()
        hidden = np.arange(len(codes)) == 17
        wrong = np.where(hidden, 2 - codes, codes)  # what lies under a mask must not be seen
        columns = {"task": self.frame.task, "worker": self.frame.worker}
        for label in (np.ma.array(wrong, mask=hidden), pd.array(wrong, dtype="Int64"), np.where(hidden, np.nan, wrong)):
            if not isinstance(label, np.ndarray):
                label[17] = pd.NA
            fitted = self.no_answer({**columns, "label": label})
            self.assertEqual(list(fitted.classes_), [0, 1, 2])
            self.assertTrue(np.issubdtype(np.asarray(fitted.labels_).dtype, np.integer))
        silently(wisecrowd.DawidSkene().fit, {**columns, "label": np.ma.array(codes)})

    def test_nobody_and_nothing_are_errors(self):
        for column in ("task", "worker"):
            for nothing in (None, np.nan, pd.NA):
                frame = self.frame.copy()
                frame.loc[17, column] = nothing
                for data in (frame, frame.astype("category"), frame.astype("string"), frame.assign(label=pd.NA)):
                    with self.assertRaisesRegex(ValueError, f"'{column}', row 17 .*dropna"):
                        wisecrowd.MajorityVote().fit(data)
            values = {name: np.ma.array(pd.factorize(self.frame[name])[0]) for name in self.frame}
            values[column][17] = np.ma.masked
            with self.assertRaisesRegex(ValueError, f"'{column}', row 17"):
                wisecrowd.MajorityVote().fit(values)

    def test_nothing_but_missing_labels(self):
        with self.assertWarns(wisecrowd.DataWarning):
            self.assertEqual(len(wisecrowd.MajorityVote().fit_predict(self.frame.assign(label=None))), 0)

    @unittest.skipUnless(pl, "polars is not installed")
    def test_polars(self):
        frame = self.frame.copy()
        frame.loc[17, "label"] = None
        self.no_answer(pl.DataFrame({name: frame[name].to_list() for name in frame}))

    @unittest.skipUnless(pa, "pyarrow is not installed")
    def test_pyarrow(self):
        frame = self.frame.copy()
        frame.loc[17, "label"] = None
        self.no_answer(pa.Table.from_pandas(frame))


class NoRows(unittest.TestCase):
    EMPTY = (pd.DataFrame([], columns=["task", "worker", "label"]), pd.DataFrame({"task": [], "worker": [], "label": []}),
             {"task": [], "worker": [], "label": []}, [])

    def test_estimators_give_empty_tables(self):
        for data in self.EMPTY:
            for name, cls in wisecrowd.aggregation.CLASSES.items():
                with self.subTest(name):
                    fitted = cls().fit(data, **needs_of(cls, []))
                    for attribute in dir(fitted):
                        value = getattr(fitted, attribute)
                        if attribute.endswith("_") and isinstance(value, (pd.Series, pd.DataFrame, np.ndarray)):
                            self.assertEqual(len(value), 0, attribute)

    def test_given_classes_stay(self):
        self.assertEqual(list(wisecrowd.DawidSkene(classes=["a", "b"]).fit(self.EMPTY[0]).probas_.columns), ["a", "b"])

    def test_tools(self):
        features = np.zeros((3, 2))
        for data in self.EMPTY:
            self.assertEqual(wisecrowd.describe(data).answers, 0)
            self.assertEqual(len(wisecrowd.select(data, 3)), 0)
            for words, call in (("nothing to compare", lambda: wisecrowd.compare(data)),
                                ("nothing to compare", lambda: wisecrowd.compare(data, {"t": "a"})),
                                ("nothing to advise", lambda: wisecrowd.advise(data)),
                                ("known truth", lambda: wisecrowd.replay(data, {})),
                                ("nothing to learn from", lambda: wisecrowd.TwoStage().fit(features, data)),
                                ("no rows", lambda: wisecrowd.TwoStage().fit(features[:0], data)),
                                ("both a label and gold", lambda: wisecrowd.evaluate(wisecrowd.DawidSkene().fit(data), {}))):
                with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                    call()


if __name__ == "__main__":
    unittest.main()
