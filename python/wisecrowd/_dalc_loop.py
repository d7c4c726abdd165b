"""Recorded answers to tasks with features, asked again while a network learns."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._asking import _run
from ._columns import _index, _names, gold_series, read
from ._learner import row_of_each
from ._parameters import Progress, whole_number
from ._rows import features_of, row_names_of


@dataclass(repr=False)
class DalcLoop:
    """Recorded answers to tasks with features, asked again by several policies while a network learns."""

    curves: pd.DataFrame  # policy, answers, accuracy, auc, and low and high of the accuracy (95 % over repetitions)
    savings: pd.DataFrame  # by policy: area, reached, answers, saved, the latter and the area with intervals
    seeds: pd.DataFrame  # policy, seed, answers, accuracy, auc; "all" is the same model with all answers
    accuracy_of_all: float  # of the same model with all answers, mean over repetitions
    all_answers: float
    past_tasks: int
    pool_tasks: int
    test_rows: int
    repetitions: int

    def __str__(self):
        return (f"{self.pool_tasks:,} tasks with {self.all_answers:,.0f} answers, accuracy on {self.test_rows:,} rows; with all answers "
                f"{self.accuracy_of_all:.1%}, {self.repetitions} repetitions\n{self.savings.round(4).to_string()}")

    __repr__ = __str__


def dalc_loop(answers: Any, features: Any, gold: Any, *, test: Optional[Iterable[Any]] = None,
              policies: Iterable[str] = ("rd", "ac", "ad", "dalc"), seeds: int = 5, network: str = "mlp", hidden: int = 128, layers: int = 1,
              dropout: float = 0.5, out: Optional[Any] = None, seed: int = 0, threads: int = 0, progress: Any = False,
              columns: Optional[Any] = None, wide: bool = False, **parameters: Any) -> DalcLoop:
    """Replays a recorded crowd whose tasks have features: which tasks to ask about while a network learns, whom to ask, and what that saves.

    Some tasks are the past, from which it learns whom to trust on which tasks; answers to the others are bought round by round. rd asks
    anybody about anything, ac asks the worker who knows such tasks best, ad asks about what network and answers leave open, dalc does both.

    answers : table with the columns task, worker and label
    features : what is known of each task, as X of a learner
    gold : the truth of the tasks to judge by, a Series by task; nothing else sees it
    test : the tasks to judge by, whose answers are left out; without it, those with gold and features that nobody answered
    out : a folder for the tables and the picture of the curves, as of the command line
    parameters : of the loop (round_answers, past, response, …), or of the learner DALC

    >>> import numpy, pandas, wisecrowd
    >>> X = numpy.random.default_rng(1).normal(size=(120, 2))
    >>> truth = pandas.Series((X[:, 0] > 0).astype(int))
    >>> answers = [(task, worker, truth[task] if (task + worker) % 4 else 1 - truth[task]) for task in range(80) for worker in range(3)]
    >>> played = wisecrowd.dalc_loop(pandas.DataFrame(answers, columns=["task", "worker", "label"]), X, truth, policies=["rd", "dalc"],
    ...                              seeds=1, hidden=4, first_answers=20, round_answers=50, first_epochs=2, round_epochs=1)
    >>> played.savings.index.tolist(), played.test_rows
    (['rd', 'dalc'], 40)
    """
    names = row_names_of(features)
    gold = gold_series(gold)
    crowd = read(answers, gold=gold, threads=threads, columns=columns, wide=wide, feature_rows=names)
    rows = row_of_each(_index(crowd.task_index()), names)
    is_test = np.asarray(names.isin(list(test))) if test is not None else np.zeros(0, dtype=bool)
    spec = {"network": os.fspath(network), "hidden": whole_number("hidden", hidden, 1, 1 << 20), "layers": whole_number("layers", layers, 1, 100),
            "dropout": float(dropout)}
    with Progress(progress, "dalc_loop") as call:
        found = _engine.dalc_loop(crowd.answers, features_of(features), _names(names), rows, is_test, crowd.gold, list(policies),
                                  whole_number("seeds", seeds, 1, 10_000), parameters, spec, "" if out is None else os.fspath(out),
                                  *_run(seed, threads), call)
    curves, repetitions, savings = [], [], []
    for curve in found["curves"]:
        curves.append(pd.DataFrame({"policy": curve["policy"], "answers": found["answers"],
                                    **{key: curve[key] for key in ("accuracy", "auc", "low", "high")}}))
        for number, (accuracy, auc) in enumerate(zip(curve["accuracy_by_seed"], curve["auc_by_seed"])):
            repetitions.append(pd.DataFrame({"policy": curve["policy"], "seed": number, "answers": found["answers"], "accuracy": accuracy,
                                             "auc": auc}))
        savings.append({"policy": curve["policy"], "area": curve["area"][0], "area_low": curve["area"][1], "area_high": curve["area"][2],
                        "reached": curve["reached"], "answers": curve["answers"], "saved": curve["saved"][0], "saved_low": curve["saved"][1],
                        "saved_high": curve["saved"][2]})
    repetitions.append(pd.DataFrame({"policy": "all", "seed": range(found["seeds"]), "answers": found["all_answers"],
                                     "accuracy": found["reference_accuracy"], "auc": found["reference_auc"]}))
    return DalcLoop(pd.concat(curves, ignore_index=True), pd.DataFrame(savings).set_index("policy"), pd.concat(repetitions, ignore_index=True),
                    float(np.mean(found["reference_accuracy"])), found["all_answers"], found["past_tasks"], found["pool_tasks"],
                    found["test_rows"], found["seeds"])
