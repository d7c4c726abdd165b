"""What the estimators for sets of classes have in common: reading tables, the fit, scores."""
from __future__ import annotations

import warnings
from typing import Any, ClassVar, Optional, Sequence

import numpy as np
import pandas as pd

from . import _engine
from ._kind_estimator import KindEstimator
from ._numbers import _coded, _column, _table, _text
from ._tables import ALIASES, TRUTH_ALIASES, ColumnError, DataWarning, find_column, shown

SET_ALIASES = ("labels", "answers", "classes", "tags", "choices", "set", "accept", "categories", "annotations")


def _set_of(value, separator, place):
    """The classes of one cell: a list, a tuple, a set or an array of them, or a text with separators between."""
    if isinstance(value, str):
        text = value.strip()
        if text == "[]":
            return ()
        parts = [part.strip() for part in text.split(separator)]
        if not all(parts):
            raise ValueError(f"{place}: {value!r} has a class without a name; write [] for none of the classes")
        return tuple(parts)
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray, pd.Series, pd.Index)):
        return tuple(value)
    if value is None or (isinstance(value, float) and np.isnan(value)):
        raise ValueError(f"{place}: a value is missing; write [] for none of the classes, or drop the row")
    return (value,)


def _frame(data):
    """Answers of any maker as a DataFrame; cells may be lists."""
    if isinstance(data, dict):
        return pd.DataFrame({name: pd.Series(list(column), dtype=object) for name, column in data.items()})
    return data.to_pandas() if hasattr(data, "to_pandas") else _table(data)


def _label_column(table, columns, aliases=()):
    if "label" in (columns or {}).values():
        return _column(table, "label", columns)
    for names in (ALIASES["label"], *aliases, SET_ALIASES):
        name = find_column(table.columns, names)
        if name is not None:
            return name
    return _column(table, "label", columns)


def _ordered(values):
    """Classes in their order: numbers as numbers, else by their text."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def _packed(sets, code_of):
    """Sizes and codes, one set after the other."""
    codes = [sorted({code_of[value] for value in own}) for own in sets]
    return (np.array([len(own) for own in codes], dtype=np.uint32),
            np.array([code for own in codes for code in own], dtype=np.uint32))


class SetAggregator(KindEstimator):
    """The base of the estimators for sets of classes. `fit` takes a table with a row per answer.

    Attributes
    ----------
    labels_ : Series by task: the list of its classes; None where nobody answered
    probas_ : DataFrame, tasks × classes: the probability that a class belongs to a task
    workers_ : DataFrame by worker: answers, set_size, sensitivity and specificity over all classes
    rates_ : DataFrame by worker and class: sensitivity and specificity
    warnings_ : list of (code, message)
    """

    _method: ClassVar[str] = ""
    _info: ClassVar[dict] = {}
    _fitted: ClassVar[tuple] = ("labels_", "probas_", "workers_", "rates_", "warnings_", "status_", "n_iter_", "explanation_")

    def __init__(self, columns: Optional[dict] = None, classes: Optional[Sequence[Any]] = None, separator: str = "|",
                 duplicates: str = "keep_last", seed: int = 0, threads: int = 0, **parameters: Any):
        self.columns, self.classes, self.separator, self.duplicates = columns, classes, separator, duplicates
        self.seed, self.threads = seed, threads
        unknown = set(parameters) - {spec["name"] for spec in self._info.get("parameters", ())}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no parameter '{sorted(unknown)[0]}'")
        self.parameters = parameters

    def _sets(self, table, name):
        return [_set_of(value, self.separator, f"column '{name}', row {row}") for row, value in enumerate(table[name])]

    def _read(self, data, gold=None):
        table = _frame(data)
        name = _label_column(table, self.columns)
        sets = self._sets(table, name)
        task_column, worker_column = _column(table, "task", self.columns), _column(table, "worker", self.columns)
        if not any(len(own) > 1 for own in sets):  # rows with one class each are united
            grouped = {}
            for task, worker, own in zip(table[task_column], table[worker_column], sets):
                grouped.setdefault((task, worker), []).extend(own)
            table = pd.DataFrame(list(grouped), columns=[task_column, worker_column])
            sets = [tuple(own) for own in grouped.values()]
        tasks, task_values = _coded(table, task_column)
        workers, worker_values = _coded(table, worker_column)
        known = self._gold_sets(gold)
        found = set().union(*sets, *(known.values() if known else ()))
        classes = list(self.classes) if self.classes is not None else _ordered(found)
        strange = found - set(classes)
        if strange:
            raise ValueError(f"{_ordered(strange)[0]!r} is not one of the classes {shown(classes)}")
        code_of = {value: code for code, value in enumerate(classes)}
        sizes, members = _packed(sets, code_of)
        self._given = (tasks, workers, sizes, members, _text(task_values), _text(worker_values), _text(classes), self.duplicates)
        self._tasks, self._workers, self._classes, self._code_of = task_values, worker_values, classes, code_of
        return _engine.set_answers(*self._given), self._packed_gold(known)

    def _gold_sets(self, gold):
        """Known sets by task: of a Series, a dict, or a table with a row per task or per task and class."""
        if gold is None:
            return None
        if isinstance(gold, pd.DataFrame):
            task = find_column(gold.columns, ALIASES["task"])
            name = _label_column(gold, None, (TRUTH_ALIASES,))
            if task is None:
                raise ColumnError(f"gold has no column of tasks among {shown(list(gold.columns))}")
            gold = gold.set_index(task)[name]
        known, lists = {}, False
        items = list(gold.items())
        sets = [_set_of(value, self.separator, f"gold of task {task!r}") for task, value in items]
        lists = any(len(own) > 1 for own in sets)
        for (task, _), own in zip(items, sets):
            if task in known and lists and set(known[task]) != set(own):
                raise ValueError(f"gold has two sets for task {task!r}; keep one of them")
            known[task] = (*known.get(task, ()), *own)
        return known

    def _packed_gold(self, known):
        if known is None:
            return None
        sets = [known.get(task) for task in self._tasks]
        sizes, members = _packed([own or () for own in sets], self._code_of)
        return np.array([own is not None for own in sets], dtype=np.uint32), sizes, members

    def fit(self, data: Any, gold: Optional[Any] = None) -> SetAggregator:
        """`data` has a row per answer, whose label is a list of classes, or a row per answer and class; `gold` is by task."""
        answers, known = self._read(data, gold)
        fit = _engine.fit_sets(answers, self._method, self.parameters, known, self.seed, self.threads, None)
        self._fit, self._known = fit, known
        offsets, codes, probability = fit.offsets, fit.candidates, fit.probability
        task_index, worker_index = pd.Index(self._tasks, name="task"), pd.Index(self._workers, name="worker")
        dense = np.zeros((len(self._tasks), len(self._classes)))
        rows = np.repeat(np.arange(len(self._tasks)), np.diff(offsets).astype(int))
        dense[rows, codes] = probability
        dense[fit.known == 0] = np.nan
        self.probas_ = pd.DataFrame(dense, index=task_index, columns=self._classes)
        chosen = [[] if seen else None for seen in fit.known]
        for row, code in zip(rows[probability > fit.threshold], codes[probability > fit.threshold]):
            chosen[row].append(self._classes[code])
        self.labels_ = pd.Series(chosen, index=task_index, name="agg_label", dtype=object)
        tasks, workers, sizes = self._given[:3]
        counts = np.bincount(workers, minlength=len(self._workers))
        named = np.bincount(workers, weights=sizes, minlength=len(self._workers))
        prior = fit.class_prior
        with np.errstate(invalid="ignore", divide="ignore"):
            self.workers_ = pd.DataFrame({"answers": counts, "set_size": named / counts,
                                          "sensitivity": fit.sensitivity @ prior / prior.sum(),
                                          "specificity": fit.specificity @ (1 - prior) / (1 - prior).sum()}, index=worker_index)
        pairs = pd.MultiIndex.from_product([self._workers, self._classes], names=["worker", "class"])
        self.rates_ = pd.DataFrame({"sensitivity": fit.sensitivity.ravel(), "specificity": fit.specificity.ravel()}, index=pairs)
        self.warnings_ = list(fit.warnings)
        self.status_, self.n_iter_, self.explanation_ = fit.status, fit.iterations, fit.explanation
        for warning in self.warnings_:
            warnings.warn(str(warning[1]), DataWarning, stacklevel=2)
        return self

    def fit_predict(self, data: Any, gold: Optional[Any] = None) -> pd.Series:
        """The list of classes of each task."""
        return self.fit(data, gold).labels_

    def report(self, path: Any = None, *, gold: Optional[Any] = None, title: str = "") -> Any:
        """Writes a report of what was fitted: sets, tasks, classes, workers and warnings on one page that needs no network.

        path : file name, optional
            Where to write it; without, the page is returned as a str. A name that ends with .json gets the data alone.
        gold : sets by task, optional
            Known truth that the fit did not see: the sets are scored on it. Not for fits that were given gold.
        title : what the page is called

        Returns the path, or the page.
        """
        def write(seen, is_json):
            known = self._packed_gold(self._gold_sets(gold)) if gold is not None else self._known
            return _engine.report_sets(_engine.set_answers(*self._given), self._fit, self._method, self.parameters, known, seen, title or "", is_json, self.seed,
                                       self.threads)
        return self._report(path, gold, write)


def _with_base_aggregator(cls):
    """crowd-kit hands over the aggregator that decides each class: BinaryRelevance(MajorityVote())."""
    bases = {"MajorityVote": "majority", "DawidSkene": "dawid_skene"}
    plain = cls.__init__

    def __init__(self, base_aggregator: Any = None, **options: Any):
        if base_aggregator is not None:
            name = type(base_aggregator).__name__
            if name not in bases or "base" in options:
                raise ValueError(f"base_aggregator can be a MajorityVote or a DawidSkene, and not be given with base: {base_aggregator!r}")
            options["base"] = bases[name]
        plain(self, **options)

    cls.__init__ = __init__
    return cls


def make_class(info: dict, name: str, module: str) -> type:
    """The estimator of a method of the engine."""
    text = f"{info['summary']}\n\n{info['when_to_use']}\n" + (SetAggregator.__doc__ or "").split("\n", 1)[1]
    cls = type(name, (SetAggregator,), {"_method": info["name"], "_info": info, "__doc__": text, "__module__": module})
    return _with_base_aggregator(cls) if info["name"] == "binary_relevance" else cls


def evaluate(sets: Any, gold: Any) -> pd.Series:
    """Scores sets against gold, both by task: exact match, Jaccard, micro F1 and Hamming loss with 95 % intervals, macro F1.

    `sets` is a fitted estimator or a Series of lists. The scores of the classes are in `.attrs["classes"]`.
    """
    if isinstance(sets, SetAggregator):
        sets = sets.labels_
    reader = SetAggregator()
    truth = reader._gold_sets(gold)
    found = {task: value for task, value in sets.items() if value is not None}
    predicted = reader._gold_sets(pd.Series(found, dtype=object)) if found else {}
    classes = _ordered(set().union(*truth.values(), *predicted.values()))
    reader._tasks, reader._code_of = list(truth), {value: code for code, value in enumerate(classes)}
    scores = _engine.evaluate_sets(reader._packed_gold(predicted), reader._packed_gold(truth), len(classes))
    by_class = scores.pop("classes")
    out = pd.Series(scores, name="score")
    out.attrs["classes"] = pd.DataFrame(by_class, index=pd.Index(classes, name="class"))
    return out


def compare(data: Any, methods: Optional[Sequence[str]] = None, folds: int = 5, share: float = 0.1, seed: int = 0, threads: int = 0,
            **reading: Any) -> pd.DataFrame:
    """Methods by the log probability that each, fitted to the other answers, gives to hidden sets: higher is better. No gold is needed."""
    answers = SetAggregator(**reading)._read(data)[0]
    chosen = list(methods) if methods else [info["name"] for info in _engine.set_methods()]
    rows = _engine.compare_sets(answers, chosen, folds, share, seed, threads)
    if not rows:
        raise ValueError("no answer can be hidden, because each task has one at most")
    return pd.DataFrame(rows).set_index("method").sort_values("log_probability", ascending=False)
