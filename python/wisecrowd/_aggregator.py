"""The base of all estimators that see answers alone. Shapes and names are those of crowd-kit."""
from __future__ import annotations

from functools import cached_property
from typing import Any, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._columns import read
from ._parameters import COMMON, Estimator, Progress, describe_class, signature_of
from ._report import report as _report

ATTRIBUTES = (
    ("labels_", "Series agg_label by task: the label of each task; tasks are sorted"),
    ("probas_", "DataFrame task × label: the probability of each class"),
    ("priors_", "Series prior by label: how frequent each class is"),
    ("errors_", "DataFrame with rows (worker, label) and a column per true label: what workers say for each truth"),
    ("skills_", "Series skill by worker, in the method's own scale; where it has none, the share of right answers"),
    ("loss_history_", "list: the objective after each iteration"),
    ("worker_summary_", "DataFrame by worker: answers, accuracy with its 95 % interval, information in bits per answer"),
    ("warnings_", "list of (code, message): what to know about data and fit"),
    ("classes_, n_iter_, status_, explanation_, learned_", "classes in order; how the fit went; what the method learned of itself"),
)


class Fitted:
    """What a fit left, as tables; shared by aggregators and learners. Tables are made when they are asked for."""

    _fit: dict
    _crowd: Any
    report = _report

    def _forget(self):
        for name in [name for name in vars(self) if name == "_fit" or name == "_crowd" or
                     (isinstance(getattr(type(self), name, None), cached_property))]:
            del vars(self)[name]

    def __getstate__(self):
        made = {name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)}
        return {name: value for name, value in vars(self).items() if name not in made}

    def _known(self, name):
        """A value of the fit; AttributeError before it, which tells that it must come first."""
        return self._fit[name]

    @property
    def classes_(self) -> np.ndarray:
        """The classes in order: the columns of probabilities."""
        return np.asarray(self._crowd.classes)

    @cached_property
    def labels_(self) -> pd.Series:
        """The label of each task."""
        return self._labels_by(self._known("labels"))

    def _labels_by(self, codes):
        classes = self._crowd.classes
        values = classes.take(codes)
        return pd.Series(values, index=self._crowd.task_index(), name="agg_label",
                         dtype=object if values.dtype == object else None)

    @cached_property
    def probas_(self) -> pd.DataFrame:
        """The probability of each class for each task."""
        return pd.DataFrame(self._known("posterior"), index=self._crowd.task_index(), columns=self._crowd.class_index())

    @cached_property
    def priors_(self) -> pd.Series:
        """How frequent each class is."""
        return pd.Series(self._known("class_prior"), index=self._crowd.class_index(), name="prior")

    @cached_property
    def _summary(self):
        return _engine.summarise(self._crowd.answers, self._fit, self._crowd.gold,
                                 self.threads)

    @cached_property
    def errors_(self) -> pd.DataFrame:
        """What each worker says for each truth: a row per worker and label, a column per true label."""
        tables = self._known("confusion")
        if tables is None:
            tables = self._summary["confusion"]
        if tables is None:
            raise ValueError("tables of so many workers and classes would take more than 2 GB, so there is no errors_")
        workers, classes = self._crowd.worker_index(), self._crowd.class_index()
        index = pd.MultiIndex.from_product([workers, classes], names=["worker", "label"])
        # The engine's tables are truth × label; crowd-kit's columns are the truth.
        values = np.ascontiguousarray(np.swapaxes(tables, 1, 2)).reshape(len(index), len(classes))
        return pd.DataFrame(values, index=index, columns=self._crowd.class_index(None))

    @cached_property
    def skills_(self) -> pd.Series:
        """How good each worker is, in the method's own scale."""
        skill = self._known("skill")
        if skill is None:
            skill = self._summary["workers"]["accuracy"]
        return pd.Series(skill, index=self._crowd.worker_index(), name="skill")

    @cached_property
    def worker_summary_(self) -> pd.DataFrame:
        """What is known of each worker, whatever the method."""
        self._known("labels")
        return pd.DataFrame(self._summary["workers"], index=self._crowd.worker_index())

    @property
    def loss_history_(self) -> list:
        """The objective after each iteration."""
        return list(self._known("trace"))

    @property
    def n_iter_(self) -> int:
        """How many iterations it took."""
        return self._known("iterations")

    @property
    def status_(self) -> str:
        """How it ended: 'converged' or 'iteration limit'."""
        return self._known("status")

    @property
    def warnings_(self) -> list:
        """What to know about data and fit, as (code, message)."""
        return list(self._known("warnings"))

    @property
    def explanation_(self) -> str:
        """What was chosen and why, of methods that choose."""
        return self._known("explanation")

    @property
    def learned_(self) -> dict:
        """Numbers that the method learned about itself."""
        return dict(self._known("learned"))

    @cached_property
    def task_scores_(self) -> pd.Series:
        """What the method knows of a task besides its label, such as its easiness; of methods that do."""
        scores = self._known("task_score")
        if scores is None:
            raise AttributeError(f"{type(self).__name__} has no score of tasks")
        return pd.Series(scores, index=self._crowd.task_index(), name=self._known("task_score_name"))

    @cached_property
    def worker_groups_(self) -> pd.Series:
        """The community of each worker, of methods that find some."""
        groups = self._known("worker_group")
        if groups is None:
            raise AttributeError(f"{type(self).__name__} has no groups of workers")
        return pd.Series(groups, index=self._crowd.worker_index(), name="group")


_MADE: list = []


class Aggregator(Fitted, Estimator):
    """Labels from answers alone."""

    def fit(self, data: Any, true_labels: Optional[Any] = None, *, start: Optional[pd.DataFrame] = None):
        """Finds the labels of all tasks.

        data : table with the columns task, worker and label
            A DataFrame of pandas or polars, a Table of pyarrow, or a dict of columns; strings, integers or categories.
        true_labels : Series by task, optional
            Known truth of some tasks. It becomes part of the inference: these tasks keep it and workers are judged by it.
        start : DataFrame task × label, optional
            Where to begin, such as the probas_ of another method; only for methods that iterate.
        """
        self._fit_crowd(self._read(data, true_labels), start)
        return self

    def fit_predict(self, data: Any, true_labels: Optional[Any] = None, **more) -> pd.Series:
        """Fits, and returns labels_."""
        return self.fit(data, true_labels, **more).labels_

    def fit_predict_proba(self, data: Any, true_labels: Optional[Any] = None, **more) -> pd.DataFrame:
        """Fits, and returns probas_."""
        return self.fit(data, true_labels, **more).probas_

    def _read(self, data, true_labels):
        if true_labels is not None and not self._info["uses_gold"]:
            raise ValueError(
                f"{type(self).__name__} cannot use known labels: leave true_labels out, or take one of "
                + ", ".join(sorted(cls.__name__ for cls in _MADE if cls._info["uses_gold"]))
            )
        return read(data, classes=self.classes, gold=true_labels, duplicates=self.duplicates, threads=self.threads)

    def _fit_crowd(self, crowd, start):
        if start is not None:
            if not self._info["uses_start"]:
                raise ValueError(f"{type(self).__name__} does not iterate, so it cannot start from anywhere: leave start out")
            if isinstance(start, pd.DataFrame):
                missing = crowd.task_index().difference(start.index)
                if len(missing):
                    raise ValueError(f"start: there is no row for task {missing[0]!r}")
                start = start.reindex(index=crowd.task_index(), columns=crowd.class_index(), fill_value=0.0)
            start = np.ascontiguousarray(start, dtype=float)
            start = start / start.sum(axis=1, keepdims=True)
        with Progress(self.progress, type(self).__name__) as progress:
            fit = _engine.aggregate(crowd.answers, self._method, self._method_parameters(), crowd.gold, start, *self._run(),
                                    progress)
        self._forget()
        self._crowd, self._fit = crowd, fit


EXAMPLE = """
>>> import wisecrowd
>>> crowd = wisecrowd.simulate("one_coin_beta", tasks=200, workers=20, answers_per_task=7, seed=1)
>>> labels = wisecrowd.{name}().fit_predict(crowd.answers)
>>> bool((labels == crowd.gold).mean() > 0.8)
True
""".strip()


def make_class(info, base, name, module, positional=(), synonyms=None, extra=(), attributes=()):
    """A class for a method of the engine. `extra` are parameters that Python adds: name, default, help."""
    defaults = {spec["name"]: spec["default"] for spec in info["parameters"]}
    defaults.update((key, value) for key, value, _ in (*extra, *COMMON))
    namespace = {
        "__module__": module,
        "__qualname__": name,
        "__doc__": describe_class(info, extra, (*attributes, *ATTRIBUTES), EXAMPLE.format(name=name).splitlines()),
        "_method": info["name"],
        "_info": info,
        "_defaults": defaults,
        "_positional": tuple(positional),
        "_synonyms": synonyms or {},
    }
    cls = type(name, (base,), namespace)
    cls.__signature__ = signature_of(cls)
    _MADE.append(cls)
    return cls
