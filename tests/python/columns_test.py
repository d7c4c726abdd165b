"""Tables of answers from whoever made them: the same crowd comes out."""
import sys
import unittest
import warnings

import numpy as np
import pandas as pd
from frames import shuffled_answers

import wisecrowd
from wisecrowd import _engine
from wisecrowd._columns import code, read


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


pl, pa = optional("polars"), optional("pyarrow")


def brute_force(values):
    different = sorted(set(values))
    position = {value: i for i, value in enumerate(different)}
    return different, [position[value] for value in values]


class Strings(unittest.TestCase):
    def check(self, values, threads=0):
        column = np.array(values + [None], dtype=object)[:-1]
        coded = _engine.code_columns([column], threads)[0]
        different, codes = brute_force(values)
        self.assertEqual(list(column[coded.first_rows]), different)
        self.assertEqual(coded.codes.tolist(), codes)
        first = {}
        for row, value in enumerate(values):
            first.setdefault(value, row)
        self.assertEqual([first[value] for value in different], coded.first_rows.tolist())
        self.assertEqual(list(coded.names), [v.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for v in different])

    def test_all_lengths(self):
        rng = np.random.default_rng(0)
        values = ["".join(rng.choice(list("ab\x00z"), size=n)) for n in range(40) for _ in range(30)]
        self.check(list(rng.permutation(values * 3)[:2000].astype(object)))

    def test_long_common_beginnings_and_ends(self):
        values = [f"{'x' * 50}{i}{'y' * (i % 3)}" for i in range(500)] * 2
        self.check(values[::-1])

    def test_very_many_names(self):
        """Enough of them that rows are dealt out into parts; short ones, long ones, and beyond ASCII."""
        shapes = ("{}", "task_{:08d}", "a task with a long name: {:08d}", "ä{}", "задание номер {}")
        rng = np.random.default_rng(1)
        values = [shapes[i % 5].format(i) for i in rng.integers(0, 60_000, size=270_000)]
        self.check(values, threads=3)
        column = np.array(values, dtype=object)
        column[200_000] = None
        column[100_000] = 5
        self.assertEqual(_engine.code_columns([column, column[::-1].copy()]), [100_000, 69_999])

    def test_many_names_that_begin_alike(self):
        """They are told apart by what comes after the first bytes, or much later, or by a zero at the end."""
        rng = np.random.default_rng(3)
        shapes = ("task_{:08d}", "photographs/of/the/first/series/{:08d}", "photographs/of/the/second/series/{:d}", "p{:d}\x00", "p{:d}")
        for used in (shapes[:1], shapes[1:2], shapes[1:], [text.format(0) + "{:d}" for text in shapes]):
            numbers = rng.permutation(300_000)[:270_000]
            self.check([used[i % len(used)].format(i // 3) for i in numbers], threads=2)

    def test_many_shared_objects(self):
        """More different objects than are remembered, some of them equal."""
        names = [f"worker_{i % 30_000}" for i in range(50_000)]
        self.check([names[i] for i in np.random.default_rng(4).integers(0, 50_000, size=200_000)])

    def test_first_values_are_the_objects_given(self):
        for count, rows in ((1000, 5000), (100_000, 300_000)):
            names = [f"name {i}" for i in range(count)]
            column = np.array([names[i % count] for i in np.random.default_rng(5).permutation(rows)], dtype=object)
            coded = _engine.code_columns([column])[0]
            before = [sys.getrefcount(name) for name in names[:50]]
            values = coded.first_values(column, 2)
            self.assertEqual([id(value) for value in values], [id(value) for value in column[coded.first_rows]])
            self.assertEqual([sys.getrefcount(name) for name in names[:50]], [b + 1 for b in before])
            del values
            self.assertEqual([sys.getrefcount(name) for name in names[:50]], before)
            with self.assertRaises(IndexError):
                coded.first_values(column[:10].copy(), 2)

    def test_beyond_ascii(self):
        self.check(["ä", "z", "é" * 9, "语" * 20, "😀", "a", "ÿ", "Ā", "\uffff", "😀" * 6, "עברית"] * 3)

    def test_lone_surrogates(self):
        self.check(["a\ud800", "a", "\udfff", "a\ud800"])

    def test_ten_thousand_characters(self):
        self.check(["x" * 10_000, "x" * 10_000 + "y", "x" * 9_999 + "y", "x" * 10_000])

    def test_equal_objects_and_equal_texts(self):
        names = [f"w{i}" for i in range(5)]
        self.check([names[i % 5] for i in range(9000)] + ["w" + str(i % 7) for i in range(9000)])

    def test_empty_column(self):
        coded = _engine.code_columns([np.array([], dtype=object)])[0]
        self.assertEqual(len(coded), 0)

    def test_first_value_that_is_no_text(self):
        for odd in (None, 3, np.str_("x"), b"x"):
            self.assertEqual(_engine.code_columns([np.array(["a", "b", odd], dtype=object)]), [2])

    def test_order_is_that_of_python(self):
        rng = np.random.default_rng(2)
        values = ["".join(chr(c) for c in rng.integers(1, 0x2FFFF, size=4) if not 0xD800 <= c < 0xE000) for _ in range(500)]
        self.check(values)


class Integers(unittest.TestCase):
    def test_like_brute_force(self):
        rng = np.random.default_rng(0)
        for values in (rng.integers(-50, 50, 999), rng.integers(-(2**62), 2**62, 999), np.array([2**63 - 1, -(2**63), 0, -1])):
            coded = _engine.code_integers(values)
            different, codes = brute_force(values.tolist())
            self.assertEqual(values[coded.first_rows].tolist(), different)
            self.assertEqual(coded.codes.tolist(), codes)
            self.assertEqual(list(coded.names), [str(v) for v in different])


class Sources(unittest.TestCase):
    def setUp(self):
        self.frame, _ = shuffled_answers()
        self.expected = wisecrowd.DawidSkene().fit(self.frame)

    def same(self, data, **options):
        fitted = wisecrowd.DawidSkene(**options).fit(data)
        np.testing.assert_array_equal(fitted.probas_.to_numpy(), self.expected.probas_.to_numpy())
        self.assertEqual([str(t) for t in fitted.labels_.index], [str(t) for t in self.expected.labels_.index])
        self.assertEqual([str(t) for t in fitted.labels_], [str(t) for t in self.expected.labels_])
        return fitted

    def test_order_of_rows_does_not_matter(self):
        self.same(self.frame.sample(frac=1, random_state=7))

    def test_dicts_and_lists(self):
        self.same({name: list(self.frame[name]) for name in self.frame})
        self.same({name: self.frame[name].to_numpy() for name in self.frame})
        self.same(list(self.frame.itertuples(index=False, name=None)))

    def test_numpy_texts(self):
        self.same({name: self.frame[name].to_numpy().astype(str) for name in self.frame})

    def test_string_dtype(self):
        fitted = self.same(self.frame.astype("string"))
        self.assertEqual(fitted.labels_.index.dtype, "string")

    def test_categories(self):
        fitted = self.same(self.frame.astype("category"))
        self.assertEqual(list(fitted.classes_), ["a", "b", "c"])

    def test_unused_categories_of_labels_are_classes(self):
        frame = self.frame.assign(label=pd.Categorical(self.frame.label, categories=["c", "b", "a", "never"]))
        fitted = wisecrowd.MajorityVote().fit(frame)
        self.assertEqual(list(fitted.probas_.columns), ["c", "b", "a", "never"])
        self.assertEqual(fitted.probas_["never"].sum(), 0)

    def test_integers(self):
        frame = pd.DataFrame({name: pd.factorize(self.frame[name], sort=True)[0] for name in self.frame})
        for dtype in ("int64", "int32", "uint8", "Int64"):
            fitted = wisecrowd.DawidSkene().fit(frame.astype(dtype))
            np.testing.assert_array_equal(fitted.probas_.to_numpy(), self.expected.probas_.to_numpy())
            self.assertEqual(list(fitted.labels_.index), list(range(40)))
            self.assertTrue(set(fitted.labels_) <= {0, 1, 2})

    def test_booleans_stay_booleans(self):
        frame = self.frame.assign(label=self.frame.label == "a")
        labels = wisecrowd.DawidSkene().fit_predict(frame)
        self.assertEqual(labels.dtype, bool)

    def test_floats_and_other_values(self):
        frame = self.frame.assign(label=self.frame.label.map({"a": 0.5, "b": 1.5, "c": 2.5}))
        self.assertEqual(list(wisecrowd.MajorityVote().fit(frame).classes_), [0.5, 1.5, 2.5])
        frame = self.frame.assign(task=[("group", t) for t in self.frame.task])
        self.assertEqual(wisecrowd.MajorityVote().fit(frame).labels_.index[0], ("group", "t00"))

    def test_integers_in_an_object_column(self):
        frame = self.frame.assign(label=self.frame.label.map({"a": 2, "b": 10, "c": 30}).astype(object))
        self.assertEqual(list(wisecrowd.MajorityVote().fit(frame).classes_), [2, 10, 30])

    def test_other_headers(self):
        self.same(self.frame.rename(columns={"worker": "performer"}))
        self.same(self.frame.rename(columns={"task": "Item ID", "worker": "annotator", "label": "value"}))

    @unittest.skipUnless(pa, "pyarrow is not installed")
    def test_pyarrow(self):
        table = pa.Table.from_pandas(self.frame)
        self.same(table)
        self.same(pa.concat_tables([table.slice(0, 50), table.slice(50)]))
        self.same(pa.table({name: table[name].dictionary_encode() for name in table.column_names}))
        self.same(self.frame.astype("string[pyarrow]"))
        self.same(self.frame.astype(pd.ArrowDtype(pa.string())))
        numbers = pa.table({name: pd.factorize(self.frame[name], sort=True)[0] for name in self.frame})
        self.assertEqual(list(wisecrowd.MajorityVote().fit(numbers).classes_), [0, 1, 2])

    @unittest.skipUnless(pl, "polars is not installed")
    def test_polars(self):
        table = pl.DataFrame({name: self.frame[name].to_list() for name in self.frame})
        self.same(table)
        self.same(table.lazy())
        self.same(table.with_columns(pl.col("label").cast(pl.Enum(["a", "b", "c"])), pl.col("worker").cast(pl.Categorical)))


class Refusals(unittest.TestCase):
    def setUp(self):
        self.frame, _ = shuffled_answers()

    def refused(self, data, *parts, **options):
        with self.assertRaises(ValueError) as caught:
            wisecrowd.MajorityVote(**options).fit(data)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_missing_values(self):
        """Of tasks and workers; a missing label is no answer (tables_test.py)."""
        for nothing in (None, np.nan, pd.NA):
            frame = self.frame.copy()
            frame.loc[17, "worker"] = nothing
            self.refused(frame, "'worker'", "row 17", "dropna")
            self.refused(frame.astype("category"), "'worker'", "row 17")
            self.refused(frame.astype("string"), "'worker'", "row 17")
        self.refused({"task": [1.0, np.nan], "worker": [1, 2], "label": [1, 2]}, "'task'", "row 1")

    @unittest.skipUnless(pa, "pyarrow is not installed")
    def test_missing_values_of_pyarrow(self):
        self.refused(pa.table({"task": ["a", None], "worker": ["x", "y"], "label": [1, 2]}), "'task'", "row 1")

    @unittest.skipUnless(pl, "polars is not installed")
    def test_missing_values_of_polars(self):
        self.refused(pl.DataFrame({"task": ["a", None], "worker": ["x", "y"], "label": [1, 2]}), "'task'", "row 1")

    def test_missing_column(self):
        self.refused(self.frame.drop(columns="worker"), "'worker'", "'task'", "rename")

    def test_no_table(self):
        with self.assertRaises(TypeError):
            wisecrowd.MajorityVote().fit(5)

    def test_lengths_differ(self):
        self.refused({"task": [1, 2], "worker": [1, 2], "label": [1]}, "length")

    def test_label_outside_of_the_classes(self):
        self.refused(self.frame, "'c'", classes=["a", "b"])

    def test_duplicates(self):
        frame = pd.concat([self.frame, self.frame.iloc[:3].assign(label="a")])
        self.refused(frame, "more than once", duplicates="reject")
        self.refused(frame, "keep_last", duplicates="first")
        with self.assertWarns(wisecrowd.DataWarning):
            wisecrowd.MajorityVote().fit(frame)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            wisecrowd.MajorityVote(duplicates="repeat").fit(frame)


class Classes(unittest.TestCase):
    def test_given_order_is_kept(self):
        frame, _ = shuffled_answers()
        fitted = wisecrowd.MajorityVote(classes=["c", "x", "a", "b"]).fit(frame)
        self.assertEqual(list(fitted.probas_.columns), ["c", "x", "a", "b"])
        plain = wisecrowd.MajorityVote().fit(frame)
        pd.testing.assert_series_equal(fitted.probas_["b"], plain.probas_["b"], check_names=False)

    def test_gold_may_bring_a_class(self):
        frame, _ = shuffled_answers()
        fitted = wisecrowd.DawidSkene().fit(frame, {"t00": "aa", "unknown task": "b"})
        self.assertEqual(list(fitted.classes_), ["a", "aa", "b", "c"])
        self.assertEqual(fitted.labels_["t00"], "aa")

    def test_columns_are_coded_together(self):
        frame, _ = shuffled_answers()
        columns = code([(name, frame[name]) for name in frame])
        for column, name in zip(columns, frame):
            self.assertEqual(list(np.asarray(column.values)[column.coded.codes]), list(frame[name]))

    def test_crowd_holds_what_was_given(self):
        frame, gold = shuffled_answers()
        crowd = read(frame, gold=gold)
        answers = crowd.answers
        tasks = np.repeat(np.arange(answers.task_count), np.diff(answers.task_offsets))
        found = set(zip(crowd.tasks[tasks], crowd.workers[answers.workers], crowd.classes[answers.labels]))
        self.assertEqual(found, set(frame.itertuples(index=False, name=None)))
        self.assertEqual([crowd.classes[k] for k in crowd.gold], list(gold.sort_index()))


if __name__ == "__main__":
    unittest.main()
