"""What the estimators for numbers have in common: reading tables, the fit, scores."""
from __future__ import annotations

import os
import warnings
from typing import Any, ClassVar, Optional, Sequence

import numpy as np
import pandas as pd

from . import _engine
from ._kind_estimator import KindEstimator
from ._columns import _index, _names
from ._learner import Learner, files_of, model_from, row_of_each
from ._parameters import NotFittedError
from ._rows import features_of, row_names_of
from ._tables import ALIASES, TRUTH_ALIASES, ColumnError, DataWarning, find_column, shown, table_of

# What the columns of boxes and points are called, as on the command line.
BOXES = [names.split() for names in ("x1 y1 x2 y2", "x y width height", "x y w h", "xmin ymin xmax ymax", "x_min y_min x_max y_max",
                                     "left top right bottom", "left top width height", "x y")]


def _column(table, role, columns):
    chosen = {name: wanted for wanted, name in (columns or {}).items()}
    name = chosen.get(role) or find_column(table.columns, ALIASES[role])
    if name is None or name not in table.columns:
        raise ColumnError(f"there is no column '{role}' among {shown(list(table.columns))}: rename one, or say which one it is, "
                          f"columns={{'its name': '{role}'}}")
    return name


def _box_columns(table, columns):
    """The columns of a box or a point, in a table that has no column of one number."""
    if "label" in (columns or {}).values() or find_column(table.columns, ALIASES["label"]) is not None:
        return []
    for names in BOXES:
        found = [find_column(table.columns, [name]) for name in names]
        if None not in found:
            return found
    return []


def _coded(table, name):
    codes, values = pd.factorize(table[name], sort=True)
    if (codes < 0).any():
        raise ValueError(f"column '{name}', row {int((codes < 0).argmax())}: a value is missing")
    return codes.astype(np.uint32), pd.Index(values)


def _float_column(table, name, what):
    column = table[name]
    try:
        return column.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        numbers = pd.to_numeric(column, errors="coerce")
        row = int((numbers.isna() & column.notna()).to_numpy().argmax())
        raise ValueError(f"{what} '{name}', row {row}: {column.iloc[row]!r} is not a number; convert or drop the row") from None


def _numbers(table, names):
    """Rows × names of numbers that the engine can take."""
    values = np.column_stack([_float_column(table, name, "column") for name in names])
    good = np.abs(values) <= _engine.largest_number
    if not good.all():
        row, column = np.argwhere(~good)[0]
        place, value = f"column '{names[column]}', row {row}: {values[row, column]}", values[row, column]
        if not np.isfinite(value):
            raise ValueError(f"{place} is not a finite number; drop the row where there is no answer")
        raise ValueError(f"{place} is beyond ±{_engine.largest_number:g}, where squares overflow; choose another unit")
    return values


def _table(data):
    """Answers of any maker as a DataFrame."""
    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, np.ndarray) and data.dtype.names:
        return pd.DataFrame(data)
    names, column = table_of(data)
    return pd.DataFrame({name: pd.Series(np.asarray(column(name))) for name in names})


def _text(values):
    return np.array([value if type(value) is str else str(value) for value in values], dtype=object)


class NumberAggregator(KindEstimator):
    """The base of the estimators for numbers. `fit` takes a table with a row per answer.

    Attributes
    ----------
    estimates_ : Series (or DataFrame, for several dimensions) by task
    intervals_ : DataFrame by task: estimate, deviation, low and high, per dimension where there are several
    workers_ : DataFrame by worker: answers, bias and scale
    correlated_workers_ : DataFrame by pair of workers whose errors go together, the strongest first; of methods that look for such pairs
    warnings_ : list of (code, message)
    """

    _method: ClassVar[str] = ""
    _info: ClassVar[dict] = {}
    _fitted: ClassVar[tuple] = ("estimates_", "intervals_", "workers_", "correlated_workers_", "warnings_", "status_", "n_iter_", "row_estimates_", "curve_", "chosen_epoch_")

    def __init__(self, values: Optional[Sequence[str]] = None, columns: Optional[dict] = None, duplicates: str = "keep_last", seed: int = 0,
                 threads: int = 0, **parameters: Any):
        self.values, self.columns, self.duplicates, self.seed, self.threads = values, columns, duplicates, seed, threads
        unknown = set(parameters) - {spec["name"] for spec in self._info.get("parameters", ())}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no parameter '{sorted(unknown)[0]}'")
        self.parameters = parameters

    def _read(self, data):
        table = _table(data)
        names = list(self.values) if self.values else _box_columns(table, self.columns) or [_column(table, "label", self.columns)]
        missing = [name for name in names if name not in table.columns]
        if missing:
            raise ColumnError(f"there is no column '{missing[0]}' among {shown(list(table.columns))}")
        tasks, task_values = _coded(table, _column(table, "task", self.columns))
        workers, worker_values = _coded(table, _column(table, "worker", self.columns))
        self._given = (tasks, workers, _numbers(table, names), _text(task_values), _text(worker_values), names, self.duplicates)
        answers = _engine.number_answers(*self._given)
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
        missing = [name for name in names if name not in table.columns]
        if missing:
            raise ColumnError(f"gold has no column '{missing[0]}' among {shown(list(table.columns))}")
        if table.index.has_duplicates:
            raise ValueError(f"gold has two rows for task {table.index[table.index.duplicated()][0]!r}; keep one of them")
        known = np.column_stack([_float_column(table, name, "gold column") for name in names])
        return pd.DataFrame(known, index=table.index).reindex(tasks).to_numpy()

    def fit(self, data: Any, gold: Optional[Any] = None) -> NumberAggregator:
        """`data` has a row per answer: a DataFrame, a dict of arrays, or what else tables are made of; `gold` is by task."""
        answers, tasks, workers, names, counts = self._read(data)
        known = self._gold(gold, tasks, names)
        fit = _engine.fit_numbers(answers, self._method, self.parameters, known, self.seed, self.threads, None)
        self._keep(fit, known, tasks, workers, names, counts)
        return self

    def _keep(self, fit, known, tasks, workers, names, counts):
        self._fit, self._known = fit, known
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
            {"answers": counts, **{f"{key}{end}": fit[key][:, d] for key in ("bias", "scale", "slope") if key in fit for d, end in enumerate(suffix)}},
            index=worker_index)
        pairs = fit["correlated"]
        self.correlated_workers_ = pd.DataFrame({"worker_a": [workers[pair[0]] for pair in pairs], "worker_b": [workers[pair[1]] for pair in pairs],
                                                 **({} if single else {"dimension": [names[pair[2]] for pair in pairs]}),
                                                 "correlation": [pair[3] for pair in pairs], "tasks": [pair[4] for pair in pairs]})
        self.warnings_ = list(fit["warnings"])
        self.status_, self.n_iter_ = fit["status"], fit["iterations"]
        for warning in self.warnings_:
            warnings.warn(str(warning[1]), DataWarning, stacklevel=3)

    def fit_predict(self, data: Any, gold: Optional[Any] = None):
        """The estimate of each task."""
        return self.fit(data, gold).estimates_

    def report(self, path: Any = None, *, gold: Optional[Any] = None, title: str = "") -> Any:
        """Writes a report of what was fitted: estimates, tasks, workers and warnings on one page that needs no network.

        path : file name, optional
            Where to write it; without, the page is returned as a str. A name that ends with .json gets the data alone.
        gold : Series (or DataFrame, for several dimensions) by task, optional
            Known truth that the fit did not see: the estimates are scored on it. Not for fits that were given gold.
        title : what the page is called

        Returns the path, or the page.
        """
        def write(seen, is_json):
            known = self._gold(gold, self.estimates_.index, self._given[5]) if gold is not None else self._known
            return _engine.report_numbers(_engine.number_answers(*self._given), self._fit, self._method, self.parameters, known, seen, title or "", is_json,
                                          self.seed, self.threads, None)
        return self._report(path, gold, write)


class NumberLearner(NumberAggregator):
    """The base of the learners for numbers: a network that is trained on the answers of a crowd.

    `fit` takes features and answers, `predict` features. `network` is linear, mlp, cnn for images, or the path of a TorchScript file.

    Attributes
    ----------
    estimates_ : Series (or DataFrame, for several dimensions) by task: network and answers together
    intervals_ : DataFrame by task: estimate, deviation, low and high, per dimension where there are several
    row_estimates_ : the same as estimates_ for the rows of X, by the network alone
    workers_ : DataFrame by worker: answers, bias, scale and slope
    curve_ : DataFrame by epoch: objective, and log density of answers to held-out tasks
    chosen_epoch_ : the epoch that was kept, counted from 1: chosen by held-out likelihood
    warnings_ : list of (code, message)
    """

    def __init__(self, values: Optional[Sequence[str]] = None, columns: Optional[dict] = None, duplicates: str = "keep_last", seed: int = 0,
                 threads: int = 0, network: str = "mlp", hidden: int = 128, layers: int = 1, dropout: float = 0.5, **parameters: Any):
        super().__init__(values, columns, duplicates, seed, threads, **parameters)
        self.network, self.hidden, self.layers, self.dropout = network, hidden, layers, dropout

    def fit(self, X: Any, answers: Any) -> NumberLearner:  # type: ignore[override]
        """Trains a network, and estimates the answered tasks by network and answers together.

        X : array of rows × columns, images rows × height × width [× channels], sparse matrix, or DataFrame
            What is known of each task. Of an array, tasks are the numbers of its rows, counted from 0; the index of a DataFrame names
            the tasks. Rows that nobody answered may be there: they are predicted as well.
        answers : table with a row per answer, as for aggregators
        """
        rows, features = row_names_of(X), features_of(X)
        given, tasks, workers, names, counts = self._read(answers)
        row_of_task = row_of_each(_index(tasks), rows)
        fit = _engine.learn_numbers(given, features, _names(rows), row_of_task, self._method, self.parameters, Learner._network(self), self.seed,
                                    self.threads, None)
        self._regressor = fit.pop("regressor")
        self._keep(fit, None, tasks, workers, names, counts)
        self.row_estimates_ = self._shaped(fit["row_estimate"], pd.Index(rows, name="task"))
        self.curve_ = pd.DataFrame({"objective": fit["curve_objective"], "held_out": fit["curve_held_out"]},
                                   index=pd.RangeIndex(1, len(fit["curve_objective"]) + 1, name="epoch"))
        self.chosen_epoch_ = fit["chosen_epoch"]
        return self

    def fit_predict(self, X: Any, answers: Any):  # type: ignore[override]
        """The estimate of each answered task, by network and answers together."""
        return self.fit(X, answers).estimates_

    def _shaped(self, values, index):
        names = self._given[5]
        return pd.Series(values[:, 0], index=index, name="estimate") if len(names) == 1 else pd.DataFrame(values, index=index, columns=names)

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row, or rows × dimensions, by the network alone."""
        if "_regressor" not in vars(self):
            raise NotFittedError(f"there is nothing to predict with yet: call {type(self).__name__}.fit first")
        values = self._regressor.predict(features_of(X), self.threads)
        return values[:, 0] if values.shape[1] == 1 else values

    def score(self, X: Any, y: Any) -> float:
        """R² of the predictions: 1 is perfect, 0 as good as the mean of y."""
        truth = np.asarray(y, dtype=float)
        return float(1 - ((self.predict(X) - truth) ** 2).sum() / ((truth - truth.mean(axis=0)) ** 2).sum())

    def save_model(self, folder: str) -> None:
        """Writes the network for `wisecrowd predict` and other programs into an existing folder."""
        if "_regressor" not in vars(self):
            raise NotFittedError(f"there is nothing to save yet: call {type(self).__name__}.fit first")
        self._regressor.save(os.fspath(folder))

    def __getstate__(self):
        state = dict(vars(self))
        if "_regressor" in state:
            state["_regressor_files"] = files_of(state.pop("_regressor"))
        return state

    def __setstate__(self, state):
        files = state.pop("_regressor_files", None)
        vars(self).update(state)
        if files is not None:
            self._regressor = model_from(files, _engine.load_regressor)


def make_class(info: dict, name: str, module: str, base: type = NumberAggregator) -> type:
    """The estimator of a method, or a learner, of the engine."""
    text = f"{info['summary']}\n\n{info['when_to_use']}\n" + (base.__doc__ or "").split("\n", 1)[1]
    return type(name, (base,), {"_method": info["name"], "_info": info, "__doc__": text, "__module__": module})


def evaluate(estimates: Any, gold: Any) -> pd.DataFrame:
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


def compare(data: Any, methods: Optional[Sequence[str]] = None, folds: int = 5, share: float = 0.1, seed: int = 0, threads: int = 0,
            **reading: Any) -> pd.DataFrame:
    """Methods by the log density that each, fitted to the other answers, gives to hidden ones: higher is better. No gold is needed."""
    answers = NumberAggregator(**reading)._read(data)[0]
    chosen = list(methods) if methods else [info["name"] for info in _engine.number_methods()]
    rows = _engine.compare_numbers(answers, chosen, folds, share, seed, threads)
    if not rows:
        raise ValueError("no answer can be hidden, because each task has one at most")
    return pd.DataFrame(rows).set_index("method").sort_values("log_density", ascending=False)
