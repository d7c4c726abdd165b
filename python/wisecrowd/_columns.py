"""Tables of answers, whoever made them, become what the engine takes: numbers for tasks, workers and labels."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._parameters import whole_number
from ._tables import (ALIASES, ROLES, TRUTH_ALIASES, ColumnError, DataWarning, MissingValue, Nothing, answers_only, check_complete, columns_of,
                      find_column, is_missing, is_string_dtype, listed, melted, module_of, shown, stacklevel)


@dataclass
class Column:
    """One column: a number per row, and the value that each number stands for."""

    coded: Any  # _engine.Coded
    values: Any  # numpy array or pandas Index of the different values, in order

    def recoded(self, values):
        """The same rows with the numbers of other values, among which all of these are."""
        positions = _index(values).get_indexer(_index(self.values))
        return Column(_engine.given_codes(positions.astype(np.uint32)[self.coded.codes], _names(values)), values)


def _index(values):
    """Values to look up in; strings of any storage are equal."""
    index = values if isinstance(values, pd.Index) else pd.Index(values, dtype=object if values.dtype == object else None)
    return index.astype(object) if is_string_dtype(index.dtype) else index


def _names(values):
    """Values as text for the engine, which shows them in its messages and writes them to files."""
    names = np.empty(len(values), dtype=object)
    names[:] = [value if type(value) is str else str(value) for value in values]
    return names


def _from_codes(column, codes, categories, keep_all):
    """Codes that somebody made before, -1 for a missing value. Categories stay in their order."""
    codes = np.asarray(codes)
    check_complete(column, codes < 0, Nothing())
    used = np.bincount(codes, minlength=len(categories)) > 0
    if not keep_all and not used.all():
        codes = (np.cumsum(used) - 1)[codes]
        categories = categories[used]
    return Column(_engine.given_codes(codes.astype(np.uint32), _names(categories)), categories)


def _from_values(column, values):
    """Any values that can be told apart. Slower: for those that are neither strings nor integers."""
    codes, uniques = pd.factorize(values)
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise MissingValue(column, row, values[row])
    try:
        order = np.asarray(pd.Index(uniques).argsort()) if uniques.dtype != object else np.array(
            sorted(range(len(uniques)), key=uniques.__getitem__), dtype=np.intp)
    except TypeError:  # of several kinds: they have no order of their own
        order = np.array(sorted(range(len(uniques)), key=lambda i: (type(uniques[i]).__name__, str(uniques[i]))), dtype=np.intp)
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    uniques = uniques[order]
    return Column(_engine.given_codes(rank[codes], _names(uniques)), uniques)


def _sorted_categories(found):
    """Puts the different values of a column, which a library gave in the order of their appearance, in order."""
    order = np.asarray(_index(found.values).argsort())
    if (order == np.arange(len(order))).all():
        return found
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    values = found.values[order]
    return Column(_engine.given_codes(rank[found.coded.codes], _names(values)), values)


def _from_arrow(column, values):
    import pyarrow as pa

    if values.null_count:
        check_complete(column, np.asarray(values.is_null()), Nothing())
    if pa.types.is_integer(values.type):
        return _from_numpy(column, values.to_numpy())
    is_dictionary = pa.types.is_dictionary(values.type)
    is_given = is_dictionary and values.type.ordered
    encoded = values if is_dictionary else values.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):  # no chunks at all
            encoded = pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], pa.string()).dictionary_encode()
    categories = encoded.dictionary.to_pandas()
    categories = np.asarray(categories, dtype=object if is_string_dtype(categories.dtype) else None)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    found = _from_codes(column, codes, categories, keep_all=is_given)
    return found if is_given else _sorted_categories(found)


def _from_polars(column, values):
    if values.null_count():
        check_complete(column, values.is_null().to_numpy(), Nothing())
    kind = str(values.dtype).partition("(")[0]
    if kind in ("String", "Utf8", "Categorical", "Enum"):
        import polars as pl

        if kind != "Enum":
            values = values.cast(pl.String) if kind == "Categorical" else values
            values = values.cast(pl.Enum(values.unique().sort()))
        categories = np.array(values.dtype.categories.to_list(), dtype=object)
        return _from_codes(column, values.to_physical().to_numpy(), categories, keep_all=kind == "Enum")
    return _from_numpy(column, values.to_numpy())


def _from_pandas(column, values, keep_all):
    """A Column, or an object array for _engine.code_columns."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _from_codes(column, values.cat.codes if hasattr(values, "cat") else values.codes, dtype.categories, keep_all)
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", "").startswith("pyarrow"):
        import pyarrow as pa

        found = _from_arrow(column, pa.array(values))
    else:
        if not isinstance(dtype, np.dtype) or dtype.kind in "fmM":
            check_complete(column, values.isna(), np.asarray(values, dtype=object) if len(values) else [])
        if isinstance(dtype, np.dtype):
            return _from_numpy(column, values.to_numpy())
        kind = getattr(dtype, "kind", "O")
        array = values.to_numpy(dtype={"i": np.int64, "u": np.uint64, "b": bool, "f": float}.get(kind, object))
        found = _from_numpy(column, array)
    if isinstance(found, Column) and is_string_dtype(dtype):
        found.values = pd.Index(found.values, dtype=dtype)
    return found


def _from_numpy(column, values):
    """A Column, or an object array for _engine.code_columns."""
    if values.ndim != 1:
        raise ValueError(f"column '{column}' has {values.ndim} dimensions: it must have one")
    if isinstance(values, np.ma.MaskedArray):
        check_complete(column, np.ma.getmaskarray(values), Nothing())
        values = values.data
    kind = values.dtype.kind
    if kind == "O":
        return np.ascontiguousarray(values)
    if kind == "U":
        return values.astype(object)
    if kind == "f":
        check_complete(column, np.isnan(values), values)
    if kind in "ib" or (kind == "u" and (values.dtype.itemsize < 8 or not len(values) or values.max() < 2**63)):
        coded = _engine.code_integers(np.ascontiguousarray(values, dtype=np.int64))
        different = values[coded.first_rows]
        if kind == "b":
            coded = _engine.given_codes(coded.codes, _names(different))
        return Column(coded, different)
    return _from_values(column, values)


def code(columns, threads=0):
    """Columns (name, values) as Column objects; strings of all of them together, by several threads."""
    found, waiting = [], []
    for position, (name, values) in enumerate(columns):
        if isinstance(values, (pd.Series, pd.Index)) or isinstance(values, pd.api.extensions.ExtensionArray):
            one = _from_pandas(name, values if isinstance(values, pd.Series) else pd.Series(values), position == 2)
        elif module_of(values) == "polars":
            one = _from_polars(name, values)
        elif module_of(values) == "pyarrow":
            one = _from_arrow(name, values)
        elif isinstance(values, np.ndarray):
            one = _from_numpy(name, values)
        else:
            one = _from_pandas(name, listed(values), position == 2)
        found.append(one)
        if isinstance(one, np.ndarray):
            waiting.append(position)
    for position, coded in zip(waiting, _engine.code_columns([found[i] for i in waiting], threads)):
        name, values = columns[position][0], found[position]
        if isinstance(coded, int):
            if pd.isna(values[coded]) is True:
                raise MissingValue(name, coded, values[coded])
            found[position] = _from_values(name, values)
        else:
            different = coded.first_values(values, threads)
            dtype = getattr(columns[position][1], "dtype", None)
            found[position] = Column(coded, pd.Index(different, dtype=dtype) if is_string_dtype(dtype) else different)
    return found


@dataclass
class Rows:
    """The rows that answers were made of."""

    codes: Any  # of tasks, workers and labels, of the rows that are answers
    count: int  # rows of the table
    kept: Optional[np.ndarray] = None  # per row, whether it is an answer; None: all are


@dataclass
class Crowd:
    """Answers as the engine takes them, and what their numbers stand for."""

    answers: Any  # _engine.Answers
    tasks: Any
    workers: Any
    classes: Any
    gold: Optional[np.ndarray] = None  # per task, -1 where unknown
    rows: Optional[Rows] = None  # if they are wanted

    def task_index(self):
        return as_index(self.tasks, "task")

    def worker_index(self):
        return as_index(self.workers, "worker")

    def name_workers(self, trusted=None, groups=None):
        """Tells the engine whom to believe, and who does not answer independently."""
        index = self.worker_index()
        if trusted is None:
            trusted = []
        elif isinstance(trusted, str) or not hasattr(trusted, "__iter__"):
            trusted = [trusted]
        codes = index.get_indexer(pd.Index(list(trusted))) if len(trusted) else np.zeros(0, int)
        if (codes < 0).any():
            raise ValueError(f"trusted: no worker {list(trusted)[int(np.argmax(codes < 0))]!r} answered")
        labels = np.zeros(0, np.uint32)
        if groups is not None:
            groups = pd.Series(groups)
            if groups.index.has_duplicates:
                raise ValueError(f"groups: worker {groups.index[groups.index.duplicated()][0]!r} is there twice")
            known = groups.reindex(index)
            found = pd.factorize(known)[0].astype(np.int64)
            alone = found < 0
            found[alone] = found.max(initial=-1) + 1 + np.arange(alone.sum())
            labels = found.astype(np.uint32)
        self.answers.name_workers(codes.astype(np.uint32), labels)

    def order_classes(self, listed):
        """The order of classes means something: as they were listed, else by number."""
        if not listed:
            require_order(self.classes)
        self.answers.order_classes()

    def join_tasks(self, graph):
        """Which tasks are likely to have the same truth: two columns of tasks, and perhaps one of weights."""
        graph = graph if isinstance(graph, pd.DataFrame) else pd.DataFrame(graph)
        if not len(graph):
            return self.answers.set_graph(*(np.zeros(0, np.uint32),) * 2, np.zeros(0))
        weights = graph["weight"].to_numpy(float) if "weight" in graph else np.ones(len(graph))
        ends = [column for column in graph.columns if column != "weight"]
        if len(ends) != 2:
            raise ValueError(f"graph: two columns of tasks are needed, and perhaps 'weight'; found {shown(list(graph.columns))}")
        index = self.task_index()
        one, other = (index.get_indexer(pd.Index(graph[column])) for column in ends)
        known = (one >= 0) & (other >= 0)
        if not known.any():
            raise ValueError("graph: none of its edges joins two tasks that were answered: are the tasks spelled alike?")
        self.answers.set_graph(one[known].astype(np.uint32), other[known].astype(np.uint32), weights[known])

    def join_nearest(self, features, neighbours, threads):
        """The same by features: a DataFrame by task, or an array with a row per task in the order of task_index()."""
        if isinstance(features, pd.DataFrame):
            rows, features = features.index.get_indexer(self.task_index()), features.to_numpy(np.float32)
            if len(rows) and (rows < 0).all():
                raise ValueError("features: no row is of a task that was answered: their index must hold the tasks")
        else:
            features = np.asarray(features, np.float32)
            if features.ndim != 2 or len(features) != len(self.tasks):
                raise ValueError(f"features: {len(self.tasks)} rows are needed, one per task in sorted order, or a DataFrame by task")
            rows = np.arange(len(features))
        self.answers.set_nearest(features, np.where(rows < 0, 2**32 - 1, rows).astype(np.uint32), neighbours, threads)

    def class_index(self, name="label"):
        return as_index(self.classes, name)


def require_order(classes):
    """Refuses classes that are not rising numbers."""
    numbers = pd.to_numeric(pd.Series(list(classes), dtype=object), errors="coerce").to_numpy(float)
    if not np.isfinite(numbers).all() or not (np.diff(numbers) > 0).all():
        raise ValueError(f"ordered: the order of the classes {shown(list(classes))} is not known: list them from the lowest to the highest "
                         "with classes=")


def as_index(values, name):
    if isinstance(values, pd.Index):
        return values.rename(name)
    return pd.Index(values, name=name, dtype=object if values.dtype == object else None)


def gold_series(gold, several=False):
    """Known truth, however it is given, as a Series of labels by task, without unknown ones. `several` allows tasks more than one."""
    if isinstance(gold, pd.DataFrame):
        columns = list(gold.columns)
        task, label = find_column(columns, ALIASES["task"]), find_column(columns, TRUTH_ALIASES)
        if label is None:
            raise ColumnError(f"known labels: there is no column 'true_label' or 'label' among {shown(columns)}")
        gold = gold.set_index(task)[label] if task is not None else gold[label]
    elif isinstance(gold, Mapping) and not isinstance(gold, pd.Series):
        gold = pd.Series(gold, dtype=None if len(gold) else object)
    elif module_of(gold) in ("polars", "pyarrow"):
        return gold_series(gold.to_pandas(), several)
    elif not isinstance(gold, pd.Series):
        raise TypeError(f"known labels are a Series indexed by task, a dict, or a table with task and label; not {type(gold).__name__}")
    gold = gold[gold.notna()]
    if not several and not gold.index.is_unique:
        repeated = gold.index[gold.index.duplicated()][0]
        if gold.groupby(level=0).nunique().max() > 1:
            raise ValueError(f"known labels: task {repeated!r} occurs more than once, with different labels: keep one of them")
        gold = gold[~gold.index.duplicated()]
    return gold


def _class_values(found, given, gold):
    """The class list: as given, or those of the answers and of the gold together, in order."""
    if given is not None:
        values = given if isinstance(given, pd.Index) else np.asarray(pd.Index(list(given)))
        if len(set(given)) != len(values):
            raise ValueError("classes: one of them is listed twice")
        unknown = _index(found.values).difference(_index(values), sort=False)
        if len(unknown):
            raise ValueError(f"label {unknown[0]!r} is not one of the classes {list(given)}: add it, or leave such answers out")
        return values
    if gold is not None and len(gold):
        extra = pd.Index(gold.unique()).difference(_index(found.values), sort=False)
        if len(extra):
            return code([("label", np.asarray(pd.Index(list(found.values) + list(extra))))])[0].values
    return found.values


def gold_codes(gold, tasks, classes):
    """Per task, the class that gold says, or -1."""
    result = np.full(len(tasks), -1, dtype=np.int32)
    positions = _index(tasks).get_indexer(_index(gold.index))
    labels = _index(classes).get_indexer(_index(pd.Index(gold.to_numpy())))
    known = positions >= 0
    if len(gold) and len(tasks) and not known.any():
        raise ValueError(
            f"known labels: none of their tasks (the first is {gold.index[0]!r}) occurs among the answers (the first is "
            f"{tasks[0]!r}): check that both call tasks by the same names, of the same type"
        )
    if (labels[known] < 0).any():
        raise ValueError(f"known label {gold.to_numpy()[known][labels[known] < 0][0]!r} is not one of the classes {list(classes)}")
    result[positions[known]] = labels[known]
    return result


def _with_all(column, role, everybody):
    """A coded column that knows values beyond its rows."""
    if everybody is None or not len(everybody):
        return column
    more = _index(everybody if isinstance(everybody, pd.Index) else pd.Index(everybody)).difference(_index(column.values), sort=False)
    return column if not len(more) else column.recoded(code([(role, np.asarray(pd.Index(list(column.values) + list(more))))])[0].values)


def read(data, *, classes=None, gold=None, duplicates="keep_last", threads=0, columns=None, wide=False, feature_rows=None, keep_rows=False,
         all_tasks=None, all_workers=None):
    """A table of answers as a Crowd.

    columns : which column is what, where names do not tell
    wide : a row per task and a column per worker, instead of a row per answer
    feature_rows : names of tasks with features; those among them that have gold are tasks even if nobody answered them
    keep_rows : also the codes of each row
    all_tasks, all_workers : those that there are, answered or not; of a wide table its own
    """
    threads = whole_number("threads", threads, 0, 4096)
    kept = None
    if wide:
        found, all_tasks, all_workers = melted(data, columns)
    else:
        found = columns_of(data, ROLES, columns)
    try:
        tasks, workers, labels = code(found, threads)
    except MissingValue as error:
        if error.column != found[2][0]:
            raise
        kept = ~is_missing(found[2][1]) if keep_rows else None
        tasks, workers, labels = code(answers_only(found), threads)
    gold = None if gold is None else gold_series(gold)
    values = _class_values(labels, classes, gold)
    if values is not labels.values:
        labels = labels.recoded(values)
    tasks, workers = _with_all(tasks, "task", all_tasks), _with_all(workers, "worker", all_workers)
    if feature_rows is not None and gold is not None:
        tasks = _with_all(tasks, "task", gold.index[gold.index.isin(feature_rows)])
    rows = Rows(tuple(np.array(column.coded.codes) for column in (tasks, workers, labels)), len(found[0][1]), kept) if keep_rows else None
    answers = _engine.Answers(tasks.coded, workers.coded, labels.coded, duplicates, threads)
    if answers.duplicates_contradicting:
        warnings.warn(
            f"{answers.duplicates_dropped} answers were replaced by later answers of the same worker to the same task, and "
            f"{answers.duplicates_contradicting} of them said something else; duplicates='repeat' counts all of them",
            DataWarning, stacklevel=stacklevel())
    crowd = Crowd(answers, tasks.values, workers.values, values, rows=rows)
    if gold is not None:
        crowd.gold = gold_codes(gold, crowd.tasks, crowd.classes)
    return crowd
