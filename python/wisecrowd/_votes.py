"""Votes that are weighted by what is known of the workers: of labels, by accuracy on gold, and of the pixels of images."""
from __future__ import annotations

from functools import cached_property
from typing import Any, Optional

import numpy as np
import pandas as pd

from ._columns import _index, code, gold_series, read
from ._parameters import COMMON, Estimator, NotFittedError, signature_of
from ._tables import columns_of

SKILL_PARAMETERS = (
    ("default_skill", None, "with on_missing_skill='value': the skill of workers without one"),
    ("on_missing_skill", "error", "what to do with workers without a skill: error, ignore or value"),
)


def weights_of(workers, skills, on_missing, default):
    """One weight per worker, and whose answers count."""
    if on_missing not in ("error", "ignore", "value"):
        raise ValueError(f"on_missing_skill={on_missing!r}: choose error, ignore or value")
    if (on_missing == "value") != (default is not None):
        raise ValueError("default_skill is the skill of workers without one: it goes with on_missing_skill='value', and only with it")
    if not isinstance(skills, pd.Series):
        skills = pd.Series(skills, dtype=None if len(skills) else float)
    if not skills.index.is_unique:
        raise ValueError(f"skills: worker {skills.index[skills.index.duplicated()][0]!r} occurs more than once")
    weights = skills.set_axis(_index(skills.index)).reindex(_index(workers)).to_numpy(dtype=float)
    unknown = np.isnan(weights)
    if unknown.any():
        if on_missing == "error":
            raise ValueError(
                f"worker {workers[int(unknown.argmax())]!r} has no skill: add it to skills, or choose "
                "on_missing_skill='ignore' (its answers do not count) or 'value' (it has default_skill)"
            )
        weights = np.where(unknown, 0.0 if on_missing == "ignore" else default, weights)
    return weights, ~unknown if on_missing == "ignore" else np.ones(len(weights), dtype=bool)


def check_judged(tasks, answer_tasks, counts):
    """Every task must have an answer that counts."""
    judged = np.bincount(answer_tasks, weights=counts, minlength=len(tasks))
    if (judged == 0).any():
        raise ValueError(f"task {tasks[int((judged == 0).argmax())]!r} was answered only by workers without a skill: add one, "
                         "or choose on_missing_skill='value'")


def answer_tasks(answers):
    """Per answer, its task."""
    offsets = answers.task_offsets
    return np.repeat(np.arange(answers.task_count), np.diff(offsets.astype(np.int64)))


def vote(crowd, weights):
    """Shares of weighted votes, tasks × classes."""
    answers, classes = crowd.answers, len(crowd.classes)
    cells = answer_tasks(answers) * classes + answers.labels
    votes = np.bincount(cells, weights=weights[answers.workers], minlength=answers.task_count * classes)
    votes = votes.reshape(answers.task_count, classes).astype(float, copy=False)
    sums = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, sums, out=np.full_like(votes, 1 / max(classes, 1)), where=sums != 0)


def agreement(crowd, labels):
    """How often each worker said what became the label."""
    answers = crowd.answers
    right = answers.labels == np.asarray(labels)[answer_tasks(answers)]
    count = np.bincount(answers.workers, minlength=answers.worker_count)
    return np.bincount(answers.workers, weights=right, minlength=answers.worker_count) / np.maximum(count, 1)


def shares_frame(crowd, shares):
    """Shares of votes as a table; nothing at all where there are no answers."""
    return pd.DataFrame(shares, index=crowd.task_index(), columns=crowd.class_index()) if len(shares) else pd.DataFrame()


def top_labels(shares):
    """The label of the largest share of each task; the first of equal ones."""
    if not len(shares):
        return pd.Series([], dtype=object, name="agg_label")
    labels = shares.columns.take(shares.to_numpy().argmax(axis=1))
    return pd.Series(np.asarray(labels), index=shares.index, name="agg_label")


class WeightedVotes:
    """Methods whose outcome is one weight per worker can label other answers by it."""

    def predict_proba(self, data: Any, *, columns: Optional[Any] = None, wide: bool = False) -> pd.DataFrame:
        """Shares of the votes of other answers, weighted by skills_. Every worker must be known."""
        crowd = read(data, classes=self._crowd.class_index(), duplicates=self.duplicates, threads=self.threads, columns=columns, wide=wide)
        return shares_frame(crowd, vote(crowd, weights_of(crowd.worker_index(), self.skills_, "error", None)[0]))

    def predict(self, data: Any, *, columns: Optional[Any] = None, wide: bool = False) -> pd.Series:
        """Labels of other answers, by votes weighted by skills_. Every worker must be known."""
        return top_labels(self.predict_proba(data, columns=columns, wide=wide))


class GoldMajorityVote(Estimator):
    """Votes that count as much as their worker was right on gold. As in crowd-kit, gold judges the workers and nothing else: labels are
    what the votes say, also those of gold tasks. Estimators that take gold in `fit`, such as DawidSkene, use all answers instead.

    Parameters
    ----------
    default_skill : default None
        with on_missing_skill='value': the skill of workers who answered no gold task
    on_missing_skill : default 'error'
        what to do with workers who answered no gold task: error, ignore or value
    classes, duplicates, seed, threads, progress
        as of all estimators

    Attributes
    ----------
    skills_
        Series skill by worker: the share of right answers to gold tasks, of those who answered any
    labels_, probas_
        of the answers that `predict` or `predict_proba` saw last, or of those of `fit`

    Examples
    --------
    >>> import pandas as pd
    >>> from wisecrowd.aggregation import GoldMajorityVote
    >>> answers = pd.DataFrame(
    ...     [("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "cat"), ("t2", "bob", "dog")], columns=["task", "worker", "label"])
    >>> GoldMajorityVote().fit_predict(answers, pd.Series({"t1": "cat"})).to_dict()
    {'t1': 'cat', 't2': 'cat'}
    """

    _method = "gold_majority_vote"
    _info = {"parameters": [], "uses_gold": True}
    _after_fit = ("skills_",)
    _defaults = {name: default for name, default, _ in (*SKILL_PARAMETERS, *COMMON)}

    def fit(self, data: Any, true_labels: Any, *, columns: Optional[Any] = None, wide: bool = False):
        """Judges the workers by gold.

        data : table with the columns task, worker and label
        true_labels : Series by task
            Known truth. A task may occur more than once: then each of its labels is right.
        columns, wide : how to read the table, as for all estimators
        """
        crowd = self._read(data, columns, wide)
        gold = gold_series(true_labels, several=True)
        classes = len(crowd.classes)
        tasks = _index(crowd.task_index()).get_indexer(_index(gold.index))
        labels = _index(crowd.class_index()).get_indexer(_index(pd.Index(gold.to_numpy())))
        if len(crowd.tasks) and len(gold) and (tasks < 0).all():
            raise ValueError(f"true_labels: none of its tasks (the first is {gold.index[0]!r}) was answered (the first that was is "
                             f"{crowd.tasks[0]!r}): check that both call tasks by the same names, of the same type")
        true = (tasks * classes + labels)[(tasks >= 0) & (labels >= 0)]
        answers = crowd.answers
        of_task = answer_tasks(answers)
        known = np.isin(of_task, tasks[tasks >= 0])
        right = np.isin(of_task * classes + answers.labels, true)
        seen = np.bincount(answers.workers[known], minlength=answers.worker_count)
        skill = np.bincount(answers.workers[known], weights=right[known], minlength=answers.worker_count)[seen > 0] / seen[seen > 0]
        self._forget()
        self.skills_ = pd.Series(skill, index=crowd.worker_index()[seen > 0], name="skill")
        self._crowd = crowd
        return self

    def _forget(self):
        for name in ("skills_", "_crowd", "labels_", "probas_"):
            vars(self).pop(name, None)

    def _read(self, data, columns, wide):
        return read(data, classes=self.classes, duplicates=self.duplicates, threads=self.threads, columns=columns, wide=wide)

    @cached_property
    def probas_(self) -> pd.DataFrame:
        """Shares of the weighted votes of each task."""
        crowd = self._crowd
        weights, known = weights_of(crowd.worker_index(), self.skills_, self.on_missing_skill, self.default_skill)
        check_judged(crowd.tasks, answer_tasks(crowd.answers), known[crowd.answers.workers])
        return shares_frame(crowd, vote(crowd, weights))

    @cached_property
    def labels_(self) -> pd.Series:
        """The label of each task: the one with most weight."""
        return top_labels(self.probas_)

    def predict_proba(self, data: Any, *, columns: Optional[Any] = None, wide: bool = False) -> pd.DataFrame:
        """Shares of weighted votes of these answers. They become probas_ and labels_."""
        if "skills_" not in vars(self):
            raise NotFittedError("nobody is judged yet: call GoldMajorityVote.fit first")
        crowd = self._read(data, columns, wide)
        for name in ("labels_", "probas_"):
            vars(self).pop(name, None)
        self._crowd = crowd
        return self.probas_

    def predict(self, data: Any, *, columns: Optional[Any] = None, wide: bool = False) -> pd.Series:
        """Labels of these answers, by weighted votes. They become labels_, and the shares probas_."""
        self.predict_proba(data, columns=columns, wide=wide)
        return self.labels_

    def fit_predict(self, data: Any, true_labels: Any, **more) -> pd.Series:
        """Judges the workers, and returns labels_ of the same answers."""
        return self.fit(data, true_labels, **more).labels_

    def fit_predict_proba(self, data: Any, true_labels: Any, **more) -> pd.DataFrame:
        """Judges the workers, and returns probas_ of the same answers."""
        return self.fit(data, true_labels, **more).probas_

    def __sklearn_is_fitted__(self):
        return "skills_" in vars(self)


class SegmentationMajorityVote(Estimator):
    """A vote over every pixel: those are in that at least half of the weight has in.

    Parameters
    ----------
    default_skill : default None
        with on_missing_skill='value': the skill of workers without one
    on_missing_skill : default 'error'
        what to do with workers that `skills` lacks: error, ignore or value

    Attributes
    ----------
    segmentations_
        Series agg_segmentation by task: arrays of bool

    Examples
    --------
    >>> import numpy as np
    >>> from wisecrowd.aggregation import SegmentationMajorityVote
    >>> answers = {"task": ["t"] * 3, "worker": ["ann", "bob", "cid"],
    ...            "segmentation": [np.array([[1, 0]]), np.array([[1, 1]]), np.array([[0, 0]])]}
    >>> SegmentationMajorityVote().fit_predict(answers)["t"]
    array([[ True, False]])
    """

    _method = "segmentation_majority_vote"
    _info = {"parameters": []}
    _after_fit = ("segmentations_",)
    _defaults = {name: default for name, default, _ in SKILL_PARAMETERS}
    _positional = ("default_skill", "on_missing_skill")

    def fit(self, data: Any, skills: Optional[pd.Series] = None, *, columns: Optional[Any] = None):
        """Votes.

        data : table with the columns task, worker and segmentation
            A segmentation is an array of bool, or of numbers from 0 to 1; all of a task have one shape.
        skills : Series by worker, optional
            How much the vote of each worker counts.
        columns : which column is what, such as {"mask": "segmentation"}
        """
        found = columns_of(data, ("task", "worker", "segmentation"), columns)
        tasks, workers = code(found[:2])
        drawn = list(found[2][1])
        if skills is None:
            weights, known = np.ones(len(workers.values)), np.ones(len(workers.values), dtype=bool)
        else:
            weights, known = weights_of(workers.values, skills, self.on_missing_skill, self.default_skill)
        of_task, weight = tasks.coded.codes.astype(np.int64), weights[workers.coded.codes]
        check_judged(tasks.values, of_task, known[workers.coded.codes])
        sums: list = [None] * len(tasks.values)
        for task, value, pixels in zip(of_task, weight, drawn):
            pixels = np.asarray(pixels, dtype=float)
            if sums[task] is None:
                sums[task] = np.zeros(pixels.shape)
            if sums[task].shape != pixels.shape:
                raise ValueError(f"task {tasks.values[task]!r}: its segmentations have the shapes {sums[task].shape} and {pixels.shape}: "
                                 "they must be of one size")
            sums[task] += value * (2 * pixels - 1)
        series = pd.Series(dtype=object, index=pd.Index(tasks.values, name="task"), name="agg_segmentation")
        for place, total in enumerate(sums):
            series.iat[place] = total >= 0
        self.segmentations_ = series
        return self

    def fit_predict(self, data: Any, skills: Optional[pd.Series] = None, *, columns: Optional[Any] = None) -> pd.Series:
        """Votes, and returns segmentations_."""
        return self.fit(data, skills, columns=columns).segmentations_

    def __sklearn_is_fitted__(self):
        return "segmentations_" in vars(self)


for _cls in (GoldMajorityVote, SegmentationMajorityVote):
    _cls.__module__ = "wisecrowd.aggregation"
    _cls.__signature__ = signature_of(_cls)  # type: ignore[attr-defined]
