"""Where crowd-kit's estimators have more than a fit: weighted votes, error tables to start from, parameters of their own."""
from __future__ import annotations

from functools import cached_property
from typing import Any, Optional

import numpy as np
import pandas as pd

from ._aggregator import Aggregator
from ._columns import _index, read
from ._parameters import Synonym


def _weights(crowd, skills, on_missing, default):
    """One weight per worker, and whose answers count."""
    if on_missing not in ("error", "ignore", "value"):
        raise ValueError(f"on_missing_skill={on_missing!r}: choose error, ignore or value")
    if (on_missing == "value") != (default is not None):
        raise ValueError("default_skill is the skill of workers without one: it goes with on_missing_skill='value', and only with it")
    if not isinstance(skills, pd.Series):
        skills = pd.Series(skills)
    weights = skills.set_axis(_index(skills.index)).reindex(_index(crowd.worker_index())).to_numpy(dtype=float)
    unknown = np.isnan(weights)
    if unknown.any():
        if on_missing == "error":
            raise ValueError(
                f"worker {crowd.workers[int(unknown.argmax())]!r} has no skill: add it to skills, or choose "
                "on_missing_skill='ignore' (its answers do not count) or 'value' (it has default_skill)"
            )
        weights = np.where(unknown, 0.0 if on_missing == "ignore" else default, weights)
    return weights, ~unknown if on_missing == "ignore" else np.ones(len(weights), dtype=bool)


def _answer_tasks(answers):
    offsets = answers.task_offsets
    return np.repeat(np.arange(answers.task_count), np.diff(offsets.astype(np.int64)))


def _vote(crowd, weights):
    """Shares of weighted votes, tasks × classes."""
    answers, classes = crowd.answers, len(crowd.classes)
    cells = _answer_tasks(answers) * classes + answers.labels
    votes = np.bincount(cells, weights=weights[answers.workers], minlength=answers.task_count * classes)
    votes = votes.reshape(answers.task_count, classes)
    sums = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, sums, out=np.full_like(votes, 1 / max(classes, 1)), where=sums != 0)


def _agreement(crowd, labels):
    """How often each worker said what became the label."""
    answers = crowd.answers
    right = answers.labels == np.asarray(labels)[_answer_tasks(answers)]
    count = np.bincount(answers.workers, minlength=answers.worker_count)
    return np.bincount(answers.workers, weights=right, minlength=answers.worker_count) / np.maximum(count, 1)


class WeightedVotes:
    """Methods whose outcome is one weight per worker can label other answers by it."""

    def predict_proba(self, data: Any) -> pd.DataFrame:
        """Shares of the votes of other answers, weighted by skills_. Every worker must be known."""
        crowd = read(data, classes=self._crowd.class_index(), duplicates=self.duplicates, threads=self.threads)
        weights, _ = _weights(crowd, self.skills_, "error", None)
        return pd.DataFrame(_vote(crowd, weights), index=crowd.task_index(), columns=crowd.class_index())

    def predict(self, data: Any) -> pd.Series:
        """Labels of other answers, by votes weighted by skills_. Every worker must be known."""
        probas = self.predict_proba(data)
        labels = probas.columns.take(probas.to_numpy().argmax(axis=1)) if len(probas) else probas.columns[:0]
        return pd.Series(np.asarray(labels), index=probas.index, name="agg_label")


class MajorityVoteBase(Aggregator):
    def fit(self, data: Any, skills: Optional[pd.Series] = None, true_labels: Optional[Any] = None):  # type: ignore[override]
        """Counts votes.

        data : table with the columns task, worker and label
        skills : Series by worker, optional
            How much the vote of each worker counts.
        true_labels : Series by task, optional
            Known truth of some tasks; not together with skills.
        """
        if skills is None:
            return super().fit(data, true_labels)
        if true_labels is not None:
            raise ValueError("skills and true_labels do not go together: weighted votes are votes alone")
        crowd = self._read(data, None)
        weights, known = _weights(crowd, skills, self.on_missing_skill, self.default_skill)
        judged = np.bincount(_answer_tasks(crowd.answers), weights=known[crowd.answers.workers], minlength=len(crowd.tasks))
        if (judged == 0).any():
            raise ValueError(f"task {crowd.tasks[int((judged == 0).argmax())]!r} was answered only by workers without a skill: add one, "
                             "or choose on_missing_skill='value'")
        self._fit_crowd(crowd, None)
        posterior = _vote(crowd, weights)
        self._fit["posterior"] = posterior
        self._fit["labels"] = posterior.argmax(axis=1).astype(np.int32) if posterior.size else self._fit["labels"]
        self._fit["class_prior"] = posterior.mean(axis=0) if len(posterior) else self._fit["class_prior"]
        return self

    def fit_predict(  # type: ignore[override]
            self, data: Any, skills: Optional[pd.Series] = None, true_labels: Optional[Any] = None) -> pd.Series:
        """Fits, and returns labels_."""
        return self.fit(data, skills, true_labels).labels_

    def fit_predict_proba(  # type: ignore[override]
            self, data: Any, skills: Optional[pd.Series] = None, true_labels: Optional[Any] = None) -> pd.DataFrame:
        """Fits, and returns probas_."""
        return self.fit(data, skills, true_labels).probas_

    @cached_property
    def skills_(self) -> pd.Series:
        """How often each worker said what became the label."""
        return pd.Series(_agreement(self._crowd, self._known("labels")), index=self._crowd.worker_index(), name="skill")


class DawidSkeneBase(Aggregator):
    """Can begin from error tables of workers, as crowd-kit's can."""

    def fit(self, data: Any, true_labels: Optional[Any] = None, initial_error: Optional[pd.DataFrame] = None, *,
            start: Optional[pd.DataFrame] = None):
        """Finds labels and the workers' tables.

        data : table with the columns task, worker and label
        true_labels : Series by task, optional
            Known truth of some tasks: they keep it, and workers are judged by it.
        initial_error : DataFrame like errors_, optional
            What is known of workers from before. With initial_error_strategy='assign' these tables are where the fit begins, with
            'addition' their counts are added to those that the votes imply. Either way they shape the start, not the end.
        start : DataFrame task × label, optional
            Where to begin, such as the probas_ of another method.
        """
        crowd = self._read(data, true_labels)
        if initial_error is not None and self.initial_error_strategy is not None:
            if start is not None:
                raise ValueError("initial_error and start both say where to begin: give one of them")
            start = self._start_from(crowd, initial_error)
        self._fit_crowd(crowd, start)
        return self

    def fit_predict(self, data: Any, true_labels: Optional[Any] = None, initial_error: Optional[pd.DataFrame] = None, **more) -> pd.Series:
        """Fits, and returns labels_."""
        return self.fit(data, true_labels, initial_error, **more).labels_

    def fit_predict_proba(self, data: Any, true_labels: Optional[Any] = None, initial_error: Optional[pd.DataFrame] = None,
                          **more) -> pd.DataFrame:
        """Fits, and returns probas_."""
        return self.fit(data, true_labels, initial_error, **more).probas_

    def _start_from(self, crowd, initial_error):
        """The posterior that votes give with the workers' first tables."""
        if self.initial_error_strategy not in ("assign", "addition"):
            raise ValueError(f"initial_error_strategy={self.initial_error_strategy!r}: choose assign or addition")
        if list(initial_error.index.names) != ["worker", "label"]:
            raise ValueError(f"initial_error: its index must be (worker, label), not {tuple(initial_error.index.names)}")
        answers, classes = crowd.answers, len(crowd.classes)
        rows = pd.MultiIndex.from_product([crowd.worker_index(), crowd.class_index()])
        given = initial_error.reindex(index=rows, columns=crowd.class_index())
        cells = answers.workers.astype(np.int64) * classes + answers.labels
        said = np.bincount(cells, minlength=len(rows)) > 0
        votes = _vote(crowd, np.ones(answers.worker_count))
        if crowd.gold is not None:
            known = crowd.gold >= 0
            votes[known] = np.eye(classes)[crowd.gold[known]]
        if self.initial_error_strategy == "assign":
            lacking = said & given.isna().any(axis=1).to_numpy()
            if lacking.any():
                raise ValueError(
                    f"initial_error has no row for worker and label {rows[int(lacking.argmax())]!r}: 'assign' needs the tables of all "
                    "workers; 'addition' does not"
                )
            tables = given.to_numpy(dtype=float, na_value=0.0)
        else:
            tables = given.to_numpy(dtype=float, na_value=0.0)
            tasks = _answer_tasks(answers)
            for k in range(classes):
                tables[:, k] += np.bincount(cells, weights=votes[tasks, k], minlength=len(rows))
        floor = 1e-10
        tables = np.maximum(tables, floor).reshape(answers.worker_count, classes, classes)
        tables /= tables.sum(axis=1, keepdims=True)
        logs = np.log(tables.reshape(len(rows), classes))[cells]
        logarithm = np.tile(np.log(np.maximum(votes.mean(axis=0), floor)), (answers.task_count, 1))
        np.add.at(logarithm, _answer_tasks(answers), logs)
        posterior = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        return posterior / posterior.sum(axis=1, keepdims=True)


class WawaBase(WeightedVotes, Aggregator):
    pass


class ZeroBasedSkillBase(WeightedVotes, Aggregator):
    pass


class MMSRBase(WeightedVotes, Aggregator):
    @property
    def scores_(self) -> pd.DataFrame:
        """As probas_: the weight of evidence of each label, as probabilities."""
        return self.probas_


class GLADBase(Aggregator):
    @cached_property
    def alphas_(self) -> pd.Series:
        """The ability of each worker."""
        return pd.Series(self._known("skill"), index=self._crowd.worker_index(), name="alpha")

    @cached_property
    def betas_(self) -> pd.Series:
        """The logarithm of the easiness of each task."""
        return pd.Series(np.log(self._known("task_score")), index=self._crowd.task_index(), name="beta")


class MACEBase(Aggregator):
    @property
    def spamming_(self) -> np.ndarray:
        """Per worker, in the order of skills_: the probabilities of guessing and of knowing."""
        trust = np.asarray(self._known("skill"))
        return np.stack([1 - trust, trust], axis=1)

    @property
    def thetas_(self) -> np.ndarray:
        """Per worker, in the order of skills_: what a guess is."""
        trust, tables = np.asarray(self._known("skill")), self._known("confusion")
        classes = tables.shape[1]
        # th[k][l] = trust · 1[k = l] + (1 − trust) · guess[l]; any k ≠ l gives the guess, so take the mean of those.
        off = tables * (1 - np.eye(classes))
        guess = off.sum(axis=1) / max(classes - 1, 1)
        sums = guess.sum(axis=1, keepdims=True)
        return np.divide(guess, sums, out=np.full_like(guess, 1 / classes), where=sums > 0)


def _refuse(what):
    def convert(value):
        if value is not None:
            raise ValueError(what)

    return convert


def _same_for_all(name, to):
    def convert(value):
        if isinstance(value, pd.Series):
            if value.nunique() > 1:
                raise ValueError(f"{name}: one mean for all is possible here ({to}), not one for each")
            return float(value.iloc[0])
        return value

    return convert


def _half(value):
    if value != 0.5:
        raise ValueError("lr_reduce_factor: the learning rate is halved here; choose halve_every instead")


ITERATIONS = {"n_iter": Synonym("max_iterations"), "tol": Synonym("tolerance"), "random_state": Synonym("seed", lambda s: 0 if s is None else s)}
_SKILL_PARAMETERS = (
    ("default_skill", None, "with on_missing_skill='value': the skill of workers without one"),
    ("on_missing_skill", "error", "what to do with workers that `skills` lacks: error, ignore or value"),
)
_ERROR_PARAMETER = (
    ("initial_error_strategy", None, "what the initial_error of fit is for: None, assign (begin with it) or addition (add its counts)"),
)
_NO_EFFECT = "here every ability and easiness is moved by newton_steps"

# Per method: base class, parameters by position in crowd-kit's order, its other names, and parameters that Python adds.
CROWD_KIT = {
    "majority_vote": dict(base=MajorityVoteBase, positional=("default_skill", "on_missing_skill"), extra=_SKILL_PARAMETERS),
    "wawa": dict(base=WawaBase),
    "dawid_skene": dict(base=DawidSkeneBase, positional=("max_iterations", "tolerance", "initial_error_strategy"), extra=_ERROR_PARAMETER),
    "one_coin": dict(base=DawidSkeneBase, positional=("max_iterations", "tolerance", "initial_error_strategy"), extra=_ERROR_PARAMETER),
    "glad": dict(
        base=GLADBase, positional=("max_iterations", "tolerance"),
        synonyms={
            "silent": Synonym("progress", lambda silent: not silent),
            "labels_priors": Synonym(None, _refuse("labels_priors: choose class_prior='uniform' or 'learned' instead")),
            "alphas_priors_mean": Synonym("ability_mean", _same_for_all("alphas_priors_mean", "ability_mean")),
            "betas_priors_mean": Synonym("easiness_mean", _same_for_all("betas_priors_mean", "easiness_mean")),
            "m_step_max_iter": Synonym(None, note=_NO_EFFECT),
            "m_step_tol": Synonym(None, note=_NO_EFFECT),
        },
        attributes=(("alphas_", "Series alpha by worker: abilities"), ("betas_", "Series beta by task: logarithm of easiness")),
    ),
    "mmsr": dict(base=MMSRBase, positional=("max_iterations", "tolerance", "seed"),
                 attributes=(("scores_", "as probas_"),)),
    "mace": dict(
        base=MACEBase, positional=("restarts", "max_iterations", "inference"),
        synonyms={
            "n_restarts": Synonym("restarts", lambda n: max(n - 1, 0)),
            "method": Synonym("inference", lambda name: {"vb": "variational"}.get(name, name)),
            "smoothing": Synonym(None, note="as in crowd-kit, which overwrites it; choose pseudo_count"),
            "default_noise": Synonym(None, note="choose start"),
            "alpha": Synonym("trust_prior"),
            "beta": Synonym(None, lambda value: None if value == 0.5 else value, "both parameters of the prior are trust_prior"),
            "verbose": Synonym("progress", bool),
        },
        attributes=(("spamming_", "array by worker: probabilities of guessing and of knowing"),
                    ("thetas_", "array worker × label: what a guess is")),
    ),
    "kos": dict(base=Aggregator, positional=("max_iterations", "seed")),
    "zero_based_skill": dict(
        base=ZeroBasedSkillBase, positional=("max_iterations", "learning_rate", "halve_every"),
        synonyms={
            "lr_init": Synonym("learning_rate"),
            "lr_steps_to_reduce": Synonym("halve_every"),
            "lr_reduce_factor": Synonym(None, _half),
            "eps": Synonym("tolerance"),
        },
    ),
}  # fmt: skip
