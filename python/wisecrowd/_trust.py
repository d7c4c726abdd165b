"""Whom to trust: who guesses, copies, colludes or gets tired, and what to do about it."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, List, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._asking import _method, _run
from ._columns import read
from ._parameters import Progress
from ._report import delivered
from ._tables import row_times


@dataclass(repr=False)
class Trust:
    """What is known of the workers of a crowd; the tables that `wisecrowd trust` writes."""

    workers: pd.DataFrame  # by worker: advice, reason, effect, accuracy, spammer_score, p_spammer, capacity_bits, copies, group, drift, …
    pairs: pd.DataFrame  # workers who agree beyond chance: first, second, common_tasks, agreed, expected, copied, evidence, group
    groups: pd.DataFrame  # by group: kind, workers, answers, agreement, expected, contradicts, one_voice, members
    alarms: pd.DataFrame  # who got worse: worker, at_answer, began_at_answer, task, time, accuracy_before, accuracy_since, lasts
    attacked_tasks: pd.DataFrame  # by task: group, group_says, others_say, probability
    cannot_be_known: List[str] = field(default_factory=list)

    def __str__(self):
        counts = self.workers["advice"].value_counts()
        known = ("keep", "stop", "recode", "retrain", "check", "unsure")
        lines = ["workers: " + ", ".join(f"{what} {counts[what]}" for what in known if what in counts)]
        urgent = {what: place for place, what in enumerate(("stop", "recode", "retrain", "check"))}
        troubled = self.workers[self.workers["advice"].isin(urgent)]
        if len(troubled):
            order = troubled["advice"].map(urgent).to_numpy(), -troubled["answers"].to_numpy().astype(float)
            lines.append(troubled.iloc[np.lexsort(order[::-1])][["advice", "answers", "accuracy", "reason"]].head(10).round(3).to_string())
        if len(self.groups):
            lines.append(self.groups.drop(columns="members").round(3).to_string())
        if len(self.alarms):
            lines.append(self.alarms.head(10).round(3).to_string(index=False))
        return "\n".join(lines + self.cannot_be_known)

    __repr__ = __str__


def trust(data: Any, *, time: Optional[Any] = None, trusted: Optional[Any] = None, groups: Optional[Any] = None,
          gold: Optional[Any] = None, method: Optional[Any] = None, seed: int = 0, threads: int = 0, progress: Any = False, columns: Optional[Any] = None,
          wide: bool = False, report: Optional[Any] = None) -> Trust:
    """Who guesses, swaps classes, copies, colludes or gets worse with time; what to do about it, and what that would change.

    time : when an answer was given: the name of a column, or a value per row; numbers or dates. None: the rows are in the order of time
    trusted : a worker, or several, to be believed where answers alone cannot tell which side is right
    groups : workers who do not answer independently: a Series or dict of groups by worker; None: they are looked for
    gold : known labels by task
    method : the aggregator whose labels workers are judged by, by name or as an estimator
    columns, wide : how to read a table of answers, as in `fit` of an estimator
    report : where to write a page that shows it with a picture of the crowd and timelines; a name that ends with .json gets the data alone

    >>> import wisecrowd
    >>> crowd = wisecrowd.simulate("hammer_spammer", tasks=300, workers=20, answers_per_task=5, seed=1)
    >>> found = wisecrowd.trust(crowd.answers)
    >>> sorted(set(found.workers["advice"]) - {"unsure"})
    ['keep', 'stop']
    """
    crowd = read(data, gold=gold, threads=threads, columns=columns, wide=wide, keep_rows=True)
    if not crowd.answers.answer_count:
        raise ValueError("there are no answers, so there is nobody to judge")
    crowd.name_workers(trusted, groups)
    times, order = row_times(data, time, crowd.rows, wide)
    page = "" if report is None else "json" if os.fspath(report).endswith(".json") else "html"
    name, values = _method(method, (_engine.default_aggregation_method, {}))
    with Progress(progress, "trust") as call:
        found = _engine.trust(crowd.answers, crowd.gold, name, values, (*crowd.rows.codes, times), order, page,
                              *_run(seed, threads), call)
    if page:
        delivered(found["page"], report)
    tables = {table: pd.DataFrame(columns) for table, columns in found["tables"].items()}
    tables["workers"].index = crowd.worker_index()
    tables["workers"] = tables["workers"].drop(columns="worker")
    tables["groups"] = tables["groups"].set_index("group")
    tables["attacked_tasks"] = tables["attacked_tasks"].set_index("task")
    return Trust(**tables, cannot_be_known=found["limits"])
