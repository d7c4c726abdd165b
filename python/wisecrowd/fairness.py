"""Whether workers, and the labels made of their answers, treat groups of tasks alike.

>>> import wisecrowd
>>> from wisecrowd import fairness
>>> crowd = wisecrowd.simulate("group_bias", tasks=1000, workers=20, bias=0.6, seed=1)
>>> found = fairness.study(crowd.answers, crowd.groups, gold=crowd.gold)
>>> sorted(found.biased) == sorted(crowd.workers.index[crowd.workers["kind"] == "biased"])
True
>>> bool(found.gap("false_positive_rate", labels="answers") > 0.1)
True
"""
from __future__ import annotations

import math
import warnings as _warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy as np
import pandas as pd

from . import _engine
from ._columns import _index, _names, as_index, gold_codes, gold_series, read
from ._learner import Learner
from ._parameters import Progress, whole_number
from ._rows import features_of, row_names_of
from ._tables import ALIASES, ColumnError, DataWarning, find_column, module_of, shown, stacklevel
from .tools import aggregation_by_name

__all__ = ["Assignment", "FairnessStudy", "assign", "study", "training_effect"]


def _group_series(groups, column):
    """The group of each task, however it is given, as a Series by task; missing ones stay."""
    if module_of(groups) in ("polars", "pyarrow"):
        groups = groups.to_pandas()
    if isinstance(groups, pd.DataFrame):
        columns = list(groups.columns)
        if column is None or column not in columns:
            raise ColumnError(f"groups: there is no column {column!r} among {shown(columns)}: name one of them with group=")
        task = find_column(columns, ALIASES["task"])
        groups = groups.set_index(task)[column] if task is not None else groups[column]
    elif isinstance(groups, Mapping) and not isinstance(groups, pd.Series):
        groups = pd.Series(groups, dtype=object)
    elif not isinstance(groups, pd.Series):
        raise TypeError(f"groups are a Series by task, a dict, or a table with a task column; not {type(groups).__name__}")
    known = groups[groups.notna()]
    if not known.index.is_unique:
        if known.groupby(level=0).nunique().max() > 1:
            repeated = known.index[known.index.duplicated()][0]
            raise ValueError(f"groups: task {repeated!r} is in several groups: keep one of them")
        known = known[~known.index.duplicated()]
    blank = known.map(lambda value: isinstance(value, str) and not value.strip()).to_numpy(dtype=bool)
    return known[~blank]


def _coded_groups(groups, tasks, values=None):
    """Per task the number of its group, -1 for none, and the groups in order."""
    if values is None:
        try:
            values = pd.Index(sorted(groups.unique()))
        except TypeError:  # of several kinds: they have no order of their own
            values = pd.Index(sorted(groups.unique(), key=lambda value: (type(value).__name__, str(value))))
    if not len(values):
        raise ValueError("groups: no task has one")
    codes = np.full(len(tasks), -1, dtype=np.int32)
    positions = _index(tasks).get_indexer(_index(groups.index))
    known = positions >= 0
    if len(tasks) and not known.any():
        raise ValueError(f"groups: none of their tasks (the first is {groups.index[0]!r}) occurs among the answers (the first is {tasks[0]!r}): "
                         "check that both call tasks by the same names, of the same type")
    codes[positions[known]] = _index(values).get_indexer(_index(pd.Index(groups.to_numpy())))[known]
    return codes, values


def _position(value, values, what):
    found = _index(values).get_indexer([value])[0]
    if found < 0:
        raise ValueError(f"{what}={value!r}: it is none of {list(values)[:10]}")
    return int(found)


@dataclass(repr=False)
class FairnessStudy:
    """What `study` found."""

    gaps: pd.DataFrame  # by labels (answers, labels, labels_by_group, limited) and measure: gap, low, high, highest, lowest, truth
    groups: pd.DataFrame  # the rates of each group behind them
    workers: pd.DataFrame  # by worker, group and class: gaps against the reference group with 95 % intervals, biased
    labels: pd.DataFrame  # by task: group, label, label_by_group and, with limit_gap, limited
    reference: Any  # the group that workers' gaps are measured against
    kappa: float
    limited: Optional[dict]  # gap, gap_before, expected_error, expected_error_before, changed
    warnings: list = field(default_factory=list)
    _accuracies: Any = None  # workers × groups
    _answers: Any = None  # per worker
    _crowd: Any = None
    _compared: Any = None  # per group: whether gaps look at it

    @property
    def biased(self) -> list:
        """Workers who treat groups more differently than chance explains."""
        return list(self.workers.loc[self.workers["biased"], "worker"].unique())

    def gap(self, measure: str, labels: str = "labels", positive: Optional[Any] = None) -> float:
        """One gap: demographic_parity, equal_opportunity, false_positive_rate, equalised_odds or accuracy."""
        rows = self.gaps[(self.gaps["measure"] == measure) & (self.gaps["labels"] == labels)]
        if positive is not None:
            rows = rows[rows["positive"] == positive]
        if not len(rows):
            raise KeyError(f"there is no gap of {measure!r} for {labels!r}")
        return float(rows["gap"].iloc[0])

    def __str__(self):
        shown_gaps = self.gaps[self.gaps["labels"] != "labels_by_group"].set_index(["labels", "measure"])
        return (f"{len(self.biased)} of {self.workers['worker'].nunique()} workers treat groups more differently than chance explains\n"
                f"{shown_gaps.drop(columns=['truth']).round(3).to_string()}")

    __repr__ = __str__


def study(data: Any, groups: Any, gold: Optional[Any] = None, *, group: Optional[str] = None, method: Union[str, Any] = "automatic",
          positive: Optional[Any] = None, reference: Optional[Any] = None, least_tasks: int = 10, kappa: Union[float, str] = 10.0,
          shared_prior: bool = False, limit_gap: Optional[float] = None, gap: str = "demographic_parity", randomise: bool = False,
          classes: Optional[Any] = None, duplicates: str = "keep_last", columns: Optional[Any] = None, wide: bool = False, seed: int = 0,
          threads: int = 0, progress: Any = False) -> FairnessStudy:
    """Gaps between groups, of answers and of labels, and how each worker treats each group.

    data : table with the columns task, worker and label
    groups : Series by task, dict, or table with a task column, whose column `group` names the group; tasks without one are left out of gaps
    gold : known truth of some tasks, Series by task. Labels are made without it; gaps that need the truth are measured by it. Without gold in
        at least two groups the truth is what the model expects, and a bias that all workers share cannot be known
    method : how labels are made: the name of a method, or an aggregator
    positive : the class that gaps are about; by default the second of two, of more each in turn against all others
    reference : the group that workers' gaps are measured against; by default the one with the most tasks
    least_tasks : groups with fewer tasks are left out of gaps, as long as two others remain
    kappa : how firmly a worker's table of a group is held to the worker's own, in answers; "auto": chosen by hidden answers
    shared_prior : one set of class shares for all groups
    limit_gap, gap, randomise : make labels whose gap of demographic_parity or equal_opportunity is at most limit_gap; draw the labels at the boundary
    """
    threads = whole_number("threads", threads, 0, 4096)
    crowd = read(data, classes=classes, gold=gold, duplicates=duplicates, threads=threads, columns=columns, wide=wide)
    codes, values = _coded_groups(_group_series(groups, group), crowd.task_index())
    options = {"shared_prior": bool(shared_prior), "least_tasks": whole_number("least_tasks", least_tasks, 1), "limit_gap": limit_gap, "gap": gap,
               "randomise": bool(randomise)}
    if kappa == "auto":
        options["choose_kappa"] = True
    else:
        options["kappa"] = float(kappa)
    if limit_gap is not None and not 0 <= limit_gap <= 1:
        raise ValueError(f"limit_gap={limit_gap!r}: it takes a number from 0 to 1")
    if positive is not None:
        options["positive"] = _position(positive, crowd.class_index(), "positive")
    elif limit_gap is not None and len(crowd.classes) > 2:
        raise ValueError(f"limit_gap needs positive=: there are {len(crowd.classes)} classes")
    if reference is not None:
        options["reference"] = _position(reference, values, "reference")
    aggregator = aggregation_by_name(method)(seed=seed, threads=threads) if isinstance(method, str) else method
    with Progress(progress, "fairness") as call:
        fit = _engine.aggregate(crowd.answers, aggregator._method, aggregator._method_parameters(), None, None, seed, threads, call)
        found = _engine.study_fairness(crowd.answers, fit, codes, _names(values), crowd.gold, options, seed, threads, call)
    for _, message in found["warnings"]:
        _warnings.warn(message, DataWarning, stacklevel=stacklevel())
    return _as_study(found, fit, crowd, codes, values)


def _as_study(found, fit, crowd, codes, values):
    def named(places, names):
        return [None if place < 0 else names[place] for place in places]

    classes = crowd.class_index()
    gaps = pd.DataFrame(found["gaps"])
    rates = []
    for row in found["gaps"]:
        for place, (tasks, rate, low, high) in enumerate(row["rates"]):
            rates.append({"labels": row["labels"], "measure": row["measure"], "positive": classes[row["positive"]], "group": values[place],
                          "tasks": tasks, "rate": rate, "low": low, "high": high, "truth": row["truth"]})
    gaps = gaps.drop(columns="rates").assign(positive=named(gaps["positive"], classes), highest=named(gaps["highest"], values),
                                             lowest=named(gaps["lowest"], values))
    columns = ["worker", "group", "positive", "answers", "reference_answers",
               *(f"{rate}_gap{end}" for rate in ("false_positive", "true_positive", "positive", "accuracy") for end in ("", "_low", "_high")),
               "tail", "biased"]
    workers = pd.DataFrame(found["workers"], columns=columns)
    workers["worker"] = named(workers["worker"], crowd.worker_index())
    workers["group"] = named(workers["group"], values)
    workers["positive"] = named(workers["positive"], classes)
    workers["biased"] = workers["biased"].astype(bool)
    labels = pd.DataFrame({"group": named(codes, values), "label": classes.take(fit.labels),
                           "label_by_group": classes.take(found["labels_by_group"])}, index=crowd.task_index())
    limited = found["limited"]
    if limited is not None:
        labels["limited"] = classes.take(limited.pop("labels"))
    return FairnessStudy(gaps, pd.DataFrame(rates), workers, labels, values[found["reference"]], found["kappa"], limited, found["warnings"],
                         pd.DataFrame(found["accuracies"], index=crowd.worker_index(), columns=as_index(values, "group")), found["worker_answers"], crowd, found["compared"])


@dataclass(repr=False)
class Assignment:
    """Who should answer which task."""

    answers: pd.DataFrame  # task, group, worker
    accuracy: float  # expected share of right answers
    gap: float  # between groups, of single answers, not of labels made of them
    group_accuracy: pd.Series

    def __repr__(self):
        return f"Assignment({len(self.answers):,} answers, accuracy {self.accuracy:.3f}, gap {self.gap:.3f})"


def assign(found: FairnessStudy, groups: Any, *, group: Optional[str] = None, answers_per_task: int = 1, gap: Optional[float] = None,
           capacity: Optional[Any] = None, seed: int = 0, threads: int = 0) -> Assignment:
    """Plans who should answer new tasks, so that groups get equally good answers.

    found : what `study` found of the workers
    groups : the group of each task to be answered, as for `study`
    gap : the most that groups may differ in the share of wrong answers; a ValueError names the smallest that can be had
    capacity : answers that a worker can give: a number, or a Series by worker; by default as many as it gave so far

    >>> import wisecrowd
    >>> from wisecrowd import fairness
    >>> crowd = wisecrowd.simulate("group_bias", tasks=500, workers=20, seed=1)
    >>> found = fairness.study(crowd.answers, crowd.groups, gold=crowd.gold)
    >>> plan = fairness.assign(found, crowd.groups, answers_per_task=2, gap=0.01)
    >>> len(plan.answers), plan.gap < 0.015
    (1000, True)
    """
    accuracies = found._accuracies
    wanted = _group_series(groups, group)
    unknown = set(wanted.unique()) - set(accuracies.columns)
    if unknown:
        raise ValueError(f"groups: nothing is known of {sorted(map(str, unknown))[0]!r}: the study was of {list(accuracies.columns)}")
    codes = _index(accuracies.columns).get_indexer(_index(pd.Index(wanted.to_numpy()))).astype(np.int32)
    if capacity is None:
        counts = pd.Series(found._answers, index=accuracies.index)
    elif isinstance(capacity, (pd.Series, Mapping)):
        counts = pd.Series(capacity).reindex(accuracies.index).fillna(0)
    else:
        counts = pd.Series(whole_number("capacity", capacity, 0), index=accuracies.index)
    plan = _engine.plan_assignment(accuracies.to_numpy(), [int(count) for count in counts], codes, len(accuracies.columns),
                                   whole_number("answers_per_task", answers_per_task, 1), math.inf if gap is None else float(gap),
                                   whole_number("seed", seed), whole_number("threads", threads, 0, 4096))
    table = pd.DataFrame({"task": wanted.index.to_numpy()[plan["tasks"]], "group": wanted.to_numpy()[plan["tasks"]],
                          "worker": accuracies.index.to_numpy()[plan["workers"]]})
    return Assignment(table, plan["accuracy"], plan["gap"], pd.Series(plan["group_accuracy"], index=accuracies.columns, name="accuracy"))


def training_effect(X: Any, found: FairnessStudy, gold: Any, *, network: str = "linear", folds: int = 5, seed: int = 0, threads: int = 0,
                    progress: Any = False) -> pd.Series:
    """What training a classifier on the labels, instead of on the truth, does to its accuracy and to its demographic parity.

    X : features of the tasks, as for learners
    found : what `study` found; with limit_gap, the limited labels are trained on
    gold : known truth

    Every task is predicted by classifiers that did not train on it; groups that gaps leave out are left out. delta_accuracy and delta_parity are labels minus truth.
    """
    crowd = found._crowd
    names = row_names_of(X)
    rows = Learner._rows_of(crowd, names)
    classes = crowd.class_index()
    column = "limited" if "limited" in found.labels else "label"
    labels = _index(classes).get_indexer(_index(pd.Index(found.labels[column].to_numpy()))).astype(np.int32)
    truth = gold_codes(gold_series(gold), crowd.task_index(), classes)
    values = found._accuracies.columns
    groups, _ = _coded_groups(found.labels["group"].dropna(), crowd.task_index(), values)
    groups[~np.append(found._compared, False)[groups]] = -1  # -1 looks at the appended place
    positive = _position(found.gaps["positive"].iloc[0], classes, "positive")
    spec = {**_engine.network_defaults(), "network": network}
    with Progress(progress, "training") as call:
        effect = _engine.training_effect(crowd.answers, features_of(X), _names(names), rows, labels, truth, groups, _names(values), positive, spec,
                                         whole_number("folds", folds, 2), whole_number("seed", seed), whole_number("threads", threads, 0, 4096),
                                         call)
    effect["delta_accuracy"] = effect["accuracy_by_labels"] - effect["accuracy_by_truth"]
    effect["delta_parity"] = effect["parity_by_labels"] - effect["parity_by_truth"]
    return pd.Series(effect, name="training")
