"""The base of all estimators that see answers alone. Shapes and names are those of crowd-kit."""
from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._columns import read
from ._later import LaterAnswers
from ._parameters import COMMON, Estimator, Progress, describe_class, sign
from ._plots import plot_workers as _plot_workers
from ._report import report as _report
from ._rowwise import truth_of_rows

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

    _fit: Any
    _crowd: Any
    report = _report
    plot_workers = _plot_workers

    def __dir__(self):
        """Without what this fit does not know, so that everything listed can be asked for."""
        names = set(super().__dir__())
        if "_fit" not in vars(self):
            return sorted(name for name in names if name.startswith("_") or not name.endswith("_"))
        absent = {name for name, key in (("task_scores_", "task_score"), ("worker_groups_", "worker_group"),
                                         ("answer_reliability_", "answer_reliability")) if self._look_up(key) is None}
        return sorted(names - absent)

    def _is_bare(self):
        """Nothing was given, neither answers nor classes: tables are then wholly empty, as in crowd-kit."""
        return not len(self._crowd.tasks) and not len(self._crowd.classes)

    def _no_labels(self):
        return pd.Series([], dtype=object, name="agg_label")

    def _forget(self):
        for name in [name for name in vars(self) if name == "_fit" or name == "_crowd" or
                     (isinstance(getattr(type(self), name, None), cached_property))]:
            del vars(self)[name]

    def __getstate__(self):
        made = {name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)}
        return {name: value for name, value in vars(self).items() if name not in made}

    def _look_up(self, name):
        """A value of the fit; None where there is none."""
        return getattr(self._fit, name, None)

    def _known(self, name):
        """A value of the fit; AttributeError before it, which tells that it must come first."""
        return getattr(self._fit, name)

    def _numbers(self, name):
        """Numbers of the fit; none where there is nobody to have them."""
        values = self._known(name)
        return np.zeros(0) if values is None else np.asarray(values)

    @property
    def classes_(self) -> np.ndarray:
        """The classes in order: the columns of probabilities."""
        return np.asarray(self._crowd.classes)

    @cached_property
    def labels_(self) -> pd.Series:
        """The label of each task."""
        codes = self._known("labels")
        return self._no_labels() if self._is_bare() else self._labels_by(codes)

    def _labels_by(self, codes):
        classes = self._crowd.classes
        values = classes.take(codes)
        return pd.Series(values, index=self._crowd.task_index(), name="agg_label",
                         dtype=object if values.dtype == object else None)

    @cached_property
    def probas_(self) -> pd.DataFrame:
        """The probability of each class for each task."""
        posterior = self._known("posterior")
        if self._is_bare():
            return pd.DataFrame()
        return pd.DataFrame(posterior, index=self._crowd.task_index(), columns=self._crowd.class_index())

    @cached_property
    def priors_(self) -> pd.Series:
        """How frequent each class is."""
        prior = self._known("class_prior")
        if self._is_bare():
            return pd.Series(dtype=float, name="prior")
        return pd.Series(prior, index=self._crowd.class_index(), name="prior")

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
        # The engine's tables are truth × label; crowd-kit's columns are the truth.
        return self._errors_frame(np.swapaxes(tables, 1, 2))

    def _errors_frame(self, tables):
        """Tables of workers × label × truth as crowd-kit shows them."""
        if self._is_bare():
            return pd.DataFrame()
        workers, classes = self._crowd.worker_index(), self._crowd.class_index()
        index = pd.MultiIndex.from_product([workers, classes], names=["worker", "label"])
        values = np.ascontiguousarray(tables).reshape(len(index), len(classes))
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
        """How it ended: 'converged' or 'iteration_limit'."""
        return self._known("status")

    @property
    def warnings_(self) -> list:
        """What to know about data and fit, as (code, message)."""
        return list(self._known("warning_texts"))

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
        """The community of each worker, of methods that find some; missing for workers who belong to none."""
        groups = self._known("worker_group")
        if groups is None:
            raise AttributeError(f"{type(self).__name__} has no groups of workers")
        groups = pd.Series(groups, index=self._crowd.worker_index(), name="group")
        return groups.astype("Int64").mask(groups == _engine.NO_GROUP) if (groups == _engine.NO_GROUP).any() else groups


    def _clean(self, crowd, without):
        """Answers without those of such workers, of which left_out_ tells; None where nobody is asked for."""
        names = without if isinstance(without, str) else ",".join(without or ())
        cleaned = _engine.CleanedAnswers(crowd.answers, names, crowd.gold, self.threads) if names else None
        self._left_out = None if cleaned is None else cleaned.left_out
        return cleaned

    @property
    def left_out_(self) -> pd.DataFrame:
        """By worker: whose answers the method did not see (`without`), with reason and why, how many, and how many stay because a task
        would have none."""
        self._known("status")
        workers, *columns = vars(self).get("_left_out") or [[]] * 5
        index = self._crowd.worker_index().take(np.asarray(workers, dtype=int))
        return pd.DataFrame(dict(zip(("reason", "why", "answers", "kept"), columns)), index=index)


_MADE: list = []


class Aggregator(Fitted, LaterAnswers, Estimator):
    """Labels from answers alone."""

    def fit(self, data: Any, true_labels: Optional[Any] = None, *, start: Optional[pd.DataFrame] = None, columns: Optional[Any] = None,
            wide: bool = False, trusted: Optional[Any] = None, groups: Optional[Any] = None,
            without: Any = (), ordered: bool = False, graph: Optional[Any] = None, features: Optional[Any] = None,
            neighbours: int = 10):
        """Finds the labels of all tasks.

        data : table with the columns task, worker and label
            A DataFrame of pandas or polars, a Table of pyarrow, or a dict of columns; strings, integers or categories. A row whose label is
            missing is no answer: it is left out with a DataWarning.
        true_labels : Series by task, or an array with a label for each row of data, optional
            Known truth of some tasks. It becomes part of the inference: these tasks keep it and workers are judged by it.
        start : DataFrame task × label, optional
            Where to begin, such as the probas_ of another method; only for methods that iterate.
        columns : dict, optional
            Which column is what, where names do not tell: {"image": "task", "who": "worker", "said": "label"}.
        wide : bool
            There is a row per task and a column per worker, empty where there is no answer. Tasks are the column called task, else the
            index if it has a name, else the first column.
        trusted : worker or list of workers, optional
            Who is to be believed where answers alone cannot tell which of two sides is right.
        groups : Series or dict of groups by worker, optional
            Workers who do not answer independently: a group counts as one voice. Otherwise groups are looked for, by methods that know them.
        without : 'spammers', 'copies' or 'colluders', or a list of them
            Leaves out the answers of such workers before the method sees them; a task never loses its last answer. left_out_ says who
            they are and why.
        ordered : bool
            The order of classes means something: the one of the parameter classes, from the lowest to the highest; without it, classes must
            be numbers. Some methods need it.
        graph : table with two columns of tasks and perhaps a column weight, optional
            Tasks that are likely to have the same truth. Some methods need it.
        features : DataFrame by task, or an array with a row per task, optional
            Instead of graph: every task is joined to its nearest ones.
        neighbours : int
            To how many.
        """
        crowd = self._read(data, true_labels, columns, wide)
        if ordered:
            crowd.order_classes(self.classes is not None)
        if graph is not None and features is not None:
            raise ValueError("graph and features both say which tasks are alike: give one of them")
        if graph is not None:
            crowd.join_tasks(graph)
        elif features is not None:
            crowd.join_nearest(features, neighbours, self.threads)
        if trusted is not None or groups is not None:
            crowd.name_workers(trusted, groups)
        self._fit_without(crowd, start, without)
        return self

    def fit_predict(self, data: Any, true_labels: Optional[Any] = None, **more) -> pd.Series:
        """Fits, and returns labels_."""
        return self.fit(data, true_labels, **more).labels_

    def fit_predict_proba(self, data: Any, true_labels: Optional[Any] = None, **more) -> pd.DataFrame:
        """Fits, and returns probas_."""
        return self.fit(data, true_labels, **more).probas_

    def _read(self, data, true_labels, columns=None, wide=False):
        if true_labels is not None and not self._info["uses_gold"]:
            raise ValueError(
                f"{type(self).__name__} cannot use known labels: leave true_labels out, or take one of "
                + ", ".join(sorted(cls.__name__ for cls in _MADE if cls._info["uses_gold"]))
            )
        true_labels = truth_of_rows(true_labels, data, columns) if true_labels is not None else None
        return read(data, classes=self.classes, gold=true_labels, duplicates=self.duplicates, threads=self.threads, columns=columns, wide=wide)

    def _iterates(self):
        """False when not even one iteration is wanted."""
        return type(self.__dict__.get("max_iterations")) is bool or self.__dict__.get("max_iterations") != 0

    def _fit_without(self, crowd, start, without):
        """Fits to answers without those of some workers; the result still knows all of them."""
        cleaned = self._clean(crowd, without)
        if cleaned is None:
            return self._fit_crowd(crowd, start)
        self._fit_crowd(replace(crowd, answers=cleaned.answers), start)
        self._crowd, self._fit = crowd, cleaned.complete(crowd.answers, self._fit)

    def _begin(self, crowd, start):
        """Where a fit begins: shares of votes, with the truth of gold tasks, or the start that was given."""
        fit = _engine.aggregate(crowd.answers, "majority_vote", {"ties": self.ties}, crowd.gold, None, *self._run(), None)
        if start is not None:
            fit = fit.replaced(posterior=start, labels=start.argmax(axis=1).astype(np.int32), class_prior=start.mean(axis=0))
        return fit.replaced(iterations=0, status="iteration_limit", trace=[])

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
        if not self._iterates():
            fit = self._begin(crowd, start)
        else:
            with Progress(self.progress, type(self).__name__) as progress:
                fit = _engine.aggregate(crowd.answers, self._method, self._method_parameters(), crowd.gold, start, *self._run(), progress)
        self._forget()
        self._crowd, self._fit = crowd, fit


EXAMPLE = """
>>> import wisecrowd
>>> crowd = wisecrowd.simulate("one_coin_beta", tasks=200, workers=20, answers_per_task=7, seed=1)
>>> labels = wisecrowd.{name}().fit_predict(crowd.answers)
>>> bool((labels == crowd.gold).mean() > 0.8)
True
""".strip()


ORDERED_EXAMPLE = """
>>> import wisecrowd
>>> crowd = wisecrowd.simulate("ordered_scale", tasks=200, workers=20, classes=5, answers_per_task=7, seed=1)
>>> labels = wisecrowd.{name}().fit_predict(crowd.answers, ordered=True)
>>> bool((labels == crowd.gold).mean() > 0.6)
True
""".strip()

GRAPH_EXAMPLE = """
>>> import wisecrowd
>>> crowd = wisecrowd.simulate("one_coin_beta", tasks=200, workers=20, answers_per_task=3, seed=1)
>>> alike = [(a, b) for label, tasks in crowd.gold.groupby(crowd.gold).groups.items() for a, b in zip(tasks, tasks[1:])]
>>> labels = wisecrowd.{name}().fit_predict(crowd.answers, graph=alike)
>>> bool((labels == crowd.gold).mean() > 0.8)
True
""".strip()


def example_of(info):
    if info.get("uses_order"):
        return ORDERED_EXAMPLE
    return GRAPH_EXAMPLE if info.get("uses_task_graph") else EXAMPLE


def make_class(info, base, name, module, positional=(), synonyms=None, extra=(), attributes=(), own_defaults=None):
    """A class for a method of the engine. `extra` are parameters that Python adds: name, default, help; `own_defaults` take the place of
    the engine's."""
    if own_defaults:
        info = {**info, "parameters": [{**spec, "default": own_defaults.get(spec["name"], spec["default"])} for spec in info["parameters"]]}
    defaults = {spec["name"]: spec["default"] for spec in info["parameters"]}
    defaults.update((key, value) for key, value, _ in (*extra, *COMMON))
    namespace = {
        "__module__": module,
        "__qualname__": name,
        "__doc__": describe_class(info, extra, (*attributes, *ATTRIBUTES), example_of(info).format(name=name).splitlines()),
        "_method": info["name"],
        "_info": info,
        "_defaults": defaults,
        "_positional": tuple(positional),
        "_synonyms": synonyms or {},
    }
    cls = type(name, (base,), namespace)
    sign(cls)
    _MADE.append(cls)
    return cls
