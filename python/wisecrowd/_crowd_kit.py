"""Where crowd-kit's estimators have more than a fit: weighted votes, error tables to start from, parameters of their own."""
from __future__ import annotations

from functools import cached_property
from typing import Any, Optional

import numpy as np
import pandas as pd

from ._aggregator import Aggregator
from ._parameters import Synonym
from ._votes import SKILL_PARAMETERS, WeightedVotes, agreement, answer_tasks, check_judged, shares_frame, vote, weights_of


class MajorityVoteBase(Aggregator):
    def fit(  # type: ignore[override]
            self, data: Any, skills: Optional[pd.Series] = None, true_labels: Optional[Any] = None, *, columns: Optional[Any] = None,
            wide: bool = False, trusted: Optional[Any] = None, groups: Optional[Any] = None, without: Any = ()):
        """Counts votes.

        data : table with the columns task, worker and label
        skills : Series by worker, optional
            How much the vote of each worker counts.
        true_labels : Series by task, optional
            Known truth of some tasks; not together with skills.
        columns, wide, trusted, groups, without : how to read the table, whom to believe, who does not answer independently and whose
            answers to leave out, as for all estimators
        """
        if skills is None:
            return super().fit(data, true_labels, columns=columns, wide=wide, trusted=trusted, groups=groups, without=without)
        if trusted is not None or groups is not None:
            raise ValueError("skills do not go together with trusted or groups: the skills say whose vote counts, and how much")
        if without:
            raise ValueError("skills and without do not go together: give those who should not count a skill of 0")
        self._left_out = None
        if true_labels is not None:
            raise ValueError("skills and true_labels do not go together: weighted votes are votes alone")
        crowd = self._read(data, None, columns, wide)
        weights, known = weights_of(crowd.worker_index(), skills, self.on_missing_skill, self.default_skill)
        check_judged(crowd.tasks, answer_tasks(crowd.answers), known[crowd.answers.workers])
        self._fit_crowd(crowd, None)
        posterior = vote(crowd, weights)
        if posterior.size:
            self._fit = self._fit.replaced(posterior=posterior, labels=posterior.argmax(axis=1).astype(np.int32),
                                           class_prior=posterior.mean(axis=0))
        self._counted = known
        return self

    def fit_predict(  # type: ignore[override]
            self, data: Any, skills: Optional[pd.Series] = None, true_labels: Optional[Any] = None, **more) -> pd.Series:
        """Fits, and returns labels_."""
        return self.fit(data, skills, true_labels, **more).labels_

    def fit_predict_proba(  # type: ignore[override]
            self, data: Any, skills: Optional[pd.Series] = None, true_labels: Optional[Any] = None, **more) -> pd.DataFrame:
        """Fits, and returns probas_."""
        return self.fit(data, skills, true_labels, **more).probas_

    def _forget(self):
        super()._forget()
        vars(self).pop("_counted", None)

    @cached_property
    def skills_(self) -> pd.Series:
        """How often each worker said what became the label; without workers whose votes did not count."""
        skills = pd.Series(agreement(self._crowd, self._known("labels")), index=self._crowd.worker_index(), name="skill")
        counted = vars(self).get("_counted")
        return skills if counted is None else skills[counted]


class OneCoinBase(Aggregator):
    """Can begin from error tables of workers, as crowd-kit's can."""

    def fit(self, data: Any, true_labels: Optional[Any] = None, initial_error: Optional[pd.DataFrame] = None, *,
            start: Optional[pd.DataFrame] = None, columns: Optional[Any] = None, wide: bool = False, trusted: Optional[Any] = None,
            groups: Optional[Any] = None, without: Any = ()):
        """Finds labels and the workers' tables.

        data : table with the columns task, worker and label
        true_labels : Series by task, optional
            Known truth of some tasks: they keep it, and workers are judged by it.
        initial_error : DataFrame like errors_, optional
            What is known of workers from before. With initial_error_strategy='assign' these tables are where the fit begins, with
            'addition' their counts are added to those that the votes imply. Either way they shape the start, not the end.
        start : DataFrame task × label, optional
            Where to begin, such as the probas_ of another method.
        columns, wide, trusted, groups, without : how to read the table, whom to believe, who does not answer independently and whose
            answers to leave out, as for all estimators
        """
        crowd = self._read(data, true_labels, columns, wide)
        if trusted is not None or groups is not None:
            crowd.name_workers(trusted, groups)
        tables = None
        if initial_error is not None and self.initial_error_strategy is not None and len(crowd.tasks):
            if start is not None:
                raise ValueError("initial_error and start both say where to begin: give one of them")
            votes = self._gold_votes(crowd)
            tables = self._first_tables(crowd, initial_error, votes)
            start = self._answered_by(crowd, tables, votes) if self._iterates() else None
        self._fit_without(crowd, start, without)
        self._begun_with = None if self._iterates() else tables
        return self

    def fit_predict(self, data: Any, true_labels: Optional[Any] = None, initial_error: Optional[pd.DataFrame] = None, **more) -> pd.Series:
        """Fits, and returns labels_."""
        return self.fit(data, true_labels, initial_error, **more).labels_

    def fit_predict_proba(self, data: Any, true_labels: Optional[Any] = None, initial_error: Optional[pd.DataFrame] = None,
                          **more) -> pd.DataFrame:
        """Fits, and returns probas_."""
        return self.fit(data, true_labels, initial_error, **more).probas_

    def _no_labels(self):
        return pd.Series(dtype=float, name="agg_label")

    @staticmethod
    def _gold_votes(crowd):
        """Shares of votes; the truth of gold tasks."""
        votes = vote(crowd, np.ones(crowd.answers.worker_count))
        if crowd.gold is not None:
            known = crowd.gold >= 0
            votes[known] = np.eye(len(crowd.classes))[crowd.gold[known]]
        return votes

    def _first_tables(self, crowd, initial_error, votes):
        """The workers' first tables: workers × label × truth, normalised."""
        if self.initial_error_strategy not in ("assign", "addition"):
            raise ValueError(f"initial_error_strategy={self.initial_error_strategy!r}: choose assign or addition")
        if list(initial_error.index.names) != ["worker", "label"]:
            raise ValueError(f"initial_error: its index must be (worker, label), not {tuple(initial_error.index.names)}")
        rows = pd.MultiIndex.from_product([crowd.worker_index(), crowd.class_index()])
        given = initial_error.reindex(index=rows, columns=crowd.class_index())
        counts = answer_counts(crowd, votes)
        if self.initial_error_strategy == "assign":
            lacking = (counts.sum(axis=2).ravel() > 0) & given.isna().any(axis=1).to_numpy()
            if lacking.any():
                raise ValueError(
                    f"initial_error has no row for worker and label {rows[int(lacking.argmax())]!r}: 'assign' needs the tables of all "
                    "workers; 'addition' does not"
                )
            sums = initial_error.groupby(level="worker", sort=False).sum()
            if (initial_error <= 1).all(axis=None) and not np.allclose(sums, 1):
                off = sums.index[~np.isclose(sums, 1).all(axis=1)][0]
                raise ValueError(f"initial_error, worker {off!r}: The sum of each worker's error matrix in initial_error should be 1.0 for every "
                                 "true label (the columns), or its values be counts")
            counts = np.zeros_like(counts)
        return normalised(counts + given.to_numpy(dtype=float, na_value=0.0).reshape(counts.shape))

    @staticmethod
    def _answered_by(crowd, tables, votes):
        """The posterior that answers give with these tables."""
        answers, classes = crowd.answers, len(crowd.classes)
        logs = np.log(tables.reshape(-1, classes))[answers.workers.astype(np.int64) * classes + answers.labels]
        logarithm = np.tile(np.log(np.maximum(votes.mean(axis=0), FLOOR)), (answers.task_count, 1))
        np.add.at(logarithm, answer_tasks(answers), logs)
        posterior = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        return posterior / posterior.sum(axis=1, keepdims=True)


FLOOR = 1e-10


def answer_counts(crowd, posterior):
    """Expected counts of what workers said for each truth: workers × label × truth."""
    answers, classes = crowd.answers, len(crowd.classes)
    cells, tasks = answers.workers.astype(np.int64) * classes + answers.labels, answer_tasks(answers)
    counts = np.empty((answers.worker_count * classes, classes))
    for k in range(classes):
        counts[:, k] = np.bincount(cells, weights=posterior[tasks, k], minlength=len(counts))
    return counts.reshape(answers.worker_count, classes, classes)


def normalised(counts):
    """Counts as probabilities of what is said, for each truth."""
    counts = np.maximum(counts, FLOOR)
    return counts / counts.sum(axis=1, keepdims=True)


class DawidSkeneBase(OneCoinBase):
    @cached_property
    def priors_(self) -> pd.Series:
        """How frequent each class is; the mean of probas_, as in crowd-kit, when a limit of iterations ended the fit."""
        if self.status_ == "converged" or self.class_prior != "learned" or not len(self._crowd.tasks):
            return Aggregator.priors_.func(self)  # type: ignore[attr-defined]
        shares = self._known("posterior").sum(axis=0) + self.class_pseudo_count
        return pd.Series(shares / shares.sum(), index=self._crowd.class_index(), name="prior")

    @cached_property
    def errors_(self) -> pd.DataFrame:
        """What each worker says for each truth: a row per worker and label, a column per true label. Of a fit that its limit of iterations
        ended, the tables that probas_ imply, as in crowd-kit; of one that converged they are the same."""
        if self.status_ == "converged" or self._known("confusion") is None and self._iterates():
            return Aggregator.errors_.func(self)  # type: ignore[attr-defined]
        tables = vars(self).get("_begun_with")
        if tables is None:
            counts = answer_counts(self._crowd, self._known("posterior")) + self.pseudo_count
            tables = normalised(counts + self.diagonal_pseudo_count * np.eye(counts.shape[1]))
        return self._errors_frame(tables)


class WawaBase(WeightedVotes, Aggregator):
    pass


class ZeroBasedSkillBase(WeightedVotes, Aggregator):
    pass


class MMSRBase(WeightedVotes, Aggregator):
    @cached_property
    def skills_(self) -> pd.Series:
        """What the vote of each worker weighs: the logarithm of its odds to be right, against one of the wrong labels."""
        skill = self._known("skill")
        classes, tasks = len(self._crowd.classes), len(self._crowd.tasks)
        if skill is None or classes < 2 or not tasks:
            return Aggregator.skills_.func(self)  # type: ignore[attr-defined]
        # Correlations with the truth, kept away from their bounds by the error of a mean of so many tasks.
        margin = 1 / np.sqrt(tasks)
        bounded = np.maximum(np.minimum(skill, 1 - margin), margin - 1 / (classes - 1))
        right = bounded * (classes - 1) / classes + 1 / classes
        return pd.Series(np.log(right * (classes - 1) / (1 - right)), index=self._crowd.worker_index(), name="skill")

    @cached_property
    def scores_(self) -> pd.DataFrame:
        """Each label's share of the sum of weights; weights, and so shares, may be negative. probas_ are probabilities."""
        return shares_frame(self._crowd, vote(self._crowd, self.skills_.to_numpy()))

    def predict_score(self, data: Any, **more) -> pd.DataFrame:
        """The same of other answers. Every worker must be known."""
        return self.predict_proba(data, **more)

    def fit_predict_score(self, data: Any, true_labels: Optional[Any] = None, **more) -> pd.DataFrame:
        """Fits, and returns scores_."""
        return self.fit(data, true_labels, **more).scores_


class GLADBase(Aggregator):
    def _begin(self, crowd, start):
        fit = super()._begin(crowd, start)
        return fit.replaced(skill=np.full(len(crowd.workers), float(self.ability_mean)), task_score_name="easiness",
                            task_score=np.full(len(crowd.tasks), np.exp(float(self.easiness_mean))))

    @cached_property
    def alphas_(self) -> pd.Series:
        """The ability of each worker."""
        return pd.Series(self._numbers("skill"), index=self._crowd.worker_index(), name="alpha")

    @cached_property
    def betas_(self) -> pd.Series:
        """The logarithm of the easiness of each task."""
        return pd.Series(np.log(self._numbers("task_score")), index=self._crowd.task_index(), name="beta")


class MACEBase(Aggregator):
    def _begin(self, crowd, start):
        return super()._begin(crowd, start).replaced(skill=np.full(len(crowd.workers), 0.5))

    @property
    def spamming_(self) -> np.ndarray:
        """Per worker, in the order of skills_: the probabilities of guessing and of knowing."""
        trust = self._numbers("skill")
        return np.stack([1 - trust, trust], axis=1)

    @property
    def thetas_(self) -> np.ndarray:
        """Per worker, in the order of skills_: what a guess is."""
        tables = self._known("confusion")
        if tables is None or not tables.size:
            return np.full((len(self._crowd.workers), len(self._crowd.classes)), 1 / max(len(self._crowd.classes), 1))
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
_ERROR_PARAMETER = (
    ("initial_error_strategy", None, "what the initial_error of fit is for: None, assign (begin with it) or addition (add its counts)"),
)
_NO_EFFECT = "here every ability and easiness is moved by newton_steps"

# Per method: base class, parameters by position in crowd-kit's order, its other names, parameters that Python adds, and defaults that
# are crowd-kit's instead of the engine's, because the same call must mean the same model.
CROWD_KIT = {
    "majority_vote": dict(base=MajorityVoteBase, positional=("default_skill", "on_missing_skill"), extra=SKILL_PARAMETERS),
    "wawa": dict(base=WawaBase),
    "dawid_skene": dict(base=DawidSkeneBase, positional=("max_iterations", "tolerance", "initial_error_strategy"), extra=_ERROR_PARAMETER,
                        own_defaults={"pseudo_count": 0.0}),
    "one_coin": dict(base=OneCoinBase, positional=("max_iterations", "tolerance", "initial_error_strategy"), extra=_ERROR_PARAMETER),
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
                 attributes=(("scores_", "DataFrame task × label: shares of the sum of weights"),)),
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
    "kos": dict(base=Aggregator, positional=("max_iterations", "seed"), own_defaults={"many_classes": "refuse"}),
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
