"""Answers that are numbers: ratings, measurements, points, boxes.

>>> import pandas as pd
>>> from wisecrowd import numbers
>>> answers = pd.DataFrame({"task": ["a", "a", "a", "b", "b"], "worker": ["u", "v", "w", "u", "v"], "value": [1, 2, 9, 4, 6]})
>>> numbers.Median().fit_predict(answers)
task
a    2.0
b    5.0
Name: estimate, dtype: float64
"""
from __future__ import annotations

import warnings
from typing import Any, Optional, Sequence

import numpy as np
import pandas as pd

from . import _engine
from ._parameters import NotFittedError
from ._tables import ALIASES, TRUTH_ALIASES, ColumnError, DataWarning, find_column, shown

__all__ = ["Mean", "Median", "NumberAggregator", "compare", "evaluate"]


def _column(table, role, columns):
    chosen = {name: wanted for wanted, name in (columns or {}).items()}
    name = chosen.get(role) or find_column(table.columns, ALIASES[role])
    if name is None or name not in table.columns:
        raise ColumnError(f"there is no column '{role}' among {shown(list(table.columns))}: rename one, or say which one it is, "
                          f"columns={{'its name': '{role}'}}")
    return name


def _coded(table, name):
    codes, values = pd.factorize(table[name], sort=True)
    if (codes < 0).any():
        raise ValueError(f"column '{name}', row {int((codes < 0).argmax())}: a value is missing")
    return codes.astype(np.uint32), pd.Index(values)


def _numbers(table, names):
    try:
        values = table[names].to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"columns {shown(names)} hold text among the numbers ({error}): convert or drop these rows") from None
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"column '{names[column]}', row {row}: {values[row, column]} is not a finite number; drop the row where there is no answer")
    return values


def _text(values):
    return np.array([value if type(value) is str else str(value) for value in values], dtype=object)


class NumberAggregator:
    """The base of the estimators for numbers. `fit` takes a table with a row per answer.

    Attributes
    ----------
    estimates_ : Series (or DataFrame, for several dimensions) by task
    intervals_ : DataFrame by task: estimate, deviation, low and high, per dimension where there are several
    workers_ : DataFrame by worker: answers, bias and scale
    warnings_ : list of (code, message)
    """

    _method = ""

    def __init__(self, values: Optional[Sequence[str]] = None, columns: Optional[dict] = None, duplicates: str = "keep_last", seed: int = 0,
                 threads: int = 0, **parameters: Any):
        self.values, self.columns, self.duplicates, self.seed, self.threads = values, columns, duplicates, seed, threads
        self.parameters = parameters

    def _read(self, data):
        table = data if isinstance(data, pd.DataFrame) else pd.DataFrame(data)
        names = list(self.values) if self.values else [_column(table, "label", self.columns)]
        missing = [name for name in names if name not in table.columns]
        if missing:
            raise ColumnError(f"there is no column '{missing[0]}' among {shown(list(table.columns))}")
        tasks, task_values = _coded(table, _column(table, "task", self.columns))
        workers, worker_values = _coded(table, _column(table, "worker", self.columns))
        answers = _engine.number_answers(tasks, workers, _numbers(table, names), _text(task_values), _text(worker_values), names, self.duplicates)
        counts = np.bincount(workers, minlength=len(worker_values))
        return answers, task_values, worker_values, names, counts

    def _gold(self, gold, tasks, names):
        if gold is None:
            return None
        table = gold.to_frame(names[0]) if isinstance(gold, pd.Series) else pd.DataFrame(gold)
        if table.index.name is None or not table.index.isin(tasks).any():
            task = find_column(table.columns, ALIASES["task"])
            if task is not None:
                table = table.set_index(task)
        if len(names) == 1 and names[0] not in table.columns:
            truth = find_column(table.columns, TRUTH_ALIASES)
            if truth is None:
                raise ColumnError(f"gold has no column of truth among {shown(list(table.columns))}")
            table = table.rename(columns={truth: names[0]})
        return table.reindex(tasks)[names].to_numpy(dtype=float)

    def fit(self, data, gold=None):
        answers, tasks, workers, names, counts = self._read(data)
        known = self._gold(gold, tasks, names)
        fit = _engine.fit_numbers(answers, self._method, self.parameters, known, self.seed, self.threads, None)
        task_index, worker_index = pd.Index(tasks, name="task"), pd.Index(workers, name="worker")
        single = len(names) == 1
        parts = {key: pd.DataFrame(fit[key], index=task_index, columns=names) for key in ("estimate", "deviation", "low", "high")}
        self.estimates_ = parts["estimate"][names[0]].rename("estimate") if single else parts["estimate"]
        if single:
            self.intervals_ = pd.DataFrame({key: part[names[0]] for key, part in parts.items()})
        else:
            self.intervals_ = pd.concat(parts, axis=1).swaplevel(axis=1).sort_index(axis=1)
        suffix = [""] if single else [f"_{name}" for name in names]
        self.workers_ = pd.DataFrame(
            {"answers": counts, **{f"{key}{end}": fit[key][:, d] for key in ("bias", "scale") for d, end in enumerate(suffix)}}, index=worker_index)
        self.warnings_ = list(fit["warnings"])
        self.status_, self.n_iter_ = fit["status"], fit["iterations"]
        for warning in self.warnings_:
            warnings.warn(str(warning[1]), DataWarning, stacklevel=2)
        return self

    def fit_predict(self, data, gold=None):
        """The estimate of each task."""
        return self.fit(data, gold).estimates_

    def __getattr__(self, name):
        if name in ("estimates_", "intervals_", "workers_", "warnings_", "status_", "n_iter_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    def __repr__(self):
        return f"{type(self).__name__}()"


def _make(info):
    name = "".join(part.title() for part in info["name"].split("_"))
    text = f"{info['summary']}\n\n{info['when_to_use']}\n"
    return type(name, (NumberAggregator,), {"_method": info["name"], "__doc__": text + (NumberAggregator.__doc__ or "").split("\n", 1)[1]})


_classes = {cls.__name__: cls for cls in map(_make, _engine.number_methods())}
Mean, Median = _classes["Mean"], _classes["Median"]


def evaluate(estimates, gold) -> pd.DataFrame:
    """Scores estimates against gold, both by task: MAE and RMSE with 95 % intervals, R², bias, and how many intervals hold the truth.

    `estimates` is a fitted estimator, its `intervals_`, or a Series of estimates.
    """
    if isinstance(estimates, NumberAggregator):
        estimates = estimates.intervals_ if isinstance(estimates.estimates_, pd.Series) else estimates.estimates_
    table = estimates.to_frame("estimate") if isinstance(estimates, pd.Series) else estimates
    single = "estimate" in table.columns
    names = ["estimate"] if single else list(table.columns)
    truth = gold.to_frame(names[0]) if isinstance(gold, pd.Series) else gold
    truth = truth.reindex(table.index)
    known = truth[names].to_numpy(dtype=float) if set(names) <= set(truth.columns) else truth.to_numpy(dtype=float)
    low = table["low"].to_numpy() if single and "low" in table.columns else np.zeros(0)
    high = table["high"].to_numpy() if single and "high" in table.columns else np.zeros(0)
    tasks, missing, scores = _engine.evaluate_numbers(table[names].to_numpy(dtype=float), low, high, known, len(names))
    return pd.DataFrame([{"tasks": tasks, "missing": missing, **score} for score in scores], index=["value"] if single else names)


def compare(data, methods: Optional[Sequence[str]] = None, folds: int = 5, share: float = 0.1, seed: int = 0, threads: int = 0,
            **reading: Any) -> pd.DataFrame:
    """Methods by the log density that each, fitted to the other answers, gives to hidden ones: higher is better. No gold is needed."""
    answers = NumberAggregator(**reading)._read(data)[0]
    chosen = list(methods) if methods else [info["name"] for info in _engine.number_methods()]
    rows = _engine.compare_numbers(answers, chosen, folds, share, seed, threads)
    if not rows:
        raise ValueError("no answer can be hidden, because each task has one at most")
    return pd.DataFrame(rows).set_index("method").sort_values("log_density", ascending=False)
