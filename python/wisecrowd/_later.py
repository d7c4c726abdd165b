"""Answers that come after the fit: their labels by what was learned of the workers, and how well the fit foresees them."""
from __future__ import annotations

from functools import cached_property
from typing import Any, Optional

import numpy as np
import pandas as pd

from ._columns import _index, gold_series, read
from ._output import Output
from ._rowwise import truth_of_rows
from ._votes import answer_tasks, shares_frame, top_labels


class LaterAnswers(Output):
    """predict, transform and score of aggregators, for pipelines and cross-validation."""

    @cached_property
    def _log_tables(self):
        """log P(label | truth) by worker, and in the last place that of a worker whom nobody knows.

        A worker of few answers is taken for an ordinary one: one answer to each truth is added, spread as those of all workers are, and to
        these one that is spread evenly. So no answer is impossible.
        """
        summary = self._summary
        tables = self._known("confusion")
        tables = summary["confusion"] if tables is None else tables
        if tables is None:
            raise ValueError("tables of so many workers and classes would take more than 2 GB, so later answers cannot be judged by them")
        tables, classes = np.asarray(tables, dtype=float), max(len(self._crowd.classes), 1)
        answers = np.asarray(summary["workers"]["answers"], dtype=float)[:, None] * np.asarray(self._known("class_prior"))  # by truth
        ordinary = ((answers[:, :, None] * tables).sum(axis=0) + 1 / classes) / (answers.sum(axis=0) + 1)[:, None]
        settled = (answers[:, :, None] * tables + ordinary) / (answers + 1)[:, :, None]
        return np.log(np.concatenate([settled, ordinary[None]]))

    def _later(self, data, columns, wide):
        crowd = read(data, classes=self._crowd.class_index(), duplicates=self.duplicates, threads=self.threads, columns=columns, wide=wide)
        known = _index(self._crowd.worker_index()).get_indexer(_index(crowd.worker_index()))
        return crowd, known  # -1, the last table, for workers whom nobody knows

    def _evidence(self, crowd, workers):
        """Σ log P(answer | truth) of each task, tasks × classes."""
        answers, tables = crowd.answers, self._log_tables
        said = tables[workers[answers.workers], :, answers.labels]
        tasks = answer_tasks(answers)
        return np.column_stack([np.bincount(tasks, weights=said[:, k], minlength=answers.task_count) for k in range(said.shape[1])])

    def predict_proba(self, data: Any, *, columns: Optional[Any] = None, wide: bool = False) -> pd.DataFrame:
        """The probability of each class for the tasks of other answers, by what was learned of the workers: task × label.

        Answers are taken as independent given the truth, whatever the method; a worker who was not there counts as an ordinary one.
        """
        crowd, workers = self._later(data, columns, wide)
        logits = self._evidence(crowd, workers) + np.log(np.maximum(self._known("class_prior"), 1e-300))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf)) if len(logits) else logits
        return shares_frame(crowd, weights / weights.sum(axis=1, keepdims=True) if len(weights) else weights)

    def predict(self, data: Any, *, columns: Optional[Any] = None, wide: bool = False) -> pd.Series:
        """The labels of the tasks of other answers, a Series agg_label by task; see predict_proba."""
        return top_labels(self.predict_proba(data, columns=columns, wide=wide))

    def transform(self, data: Any):
        """predict_proba in the form that set_output says: features of tasks for the next step of a pipeline."""
        return self._formed(self.predict_proba(data))

    def fit_transform(self, data: Any, true_labels: Optional[Any] = None, **more):
        """Fits, and gives probas_ in the form that set_output says."""
        return self._formed(self.fit(data, true_labels, **more).probas_)

    def score(self, data: Any, y: Optional[Any] = None) -> float:
        """How good the fit is for other answers; larger is better.

        y : None for the mean log probability of an answer. A task that the fit has labelled is taken as its posterior says, another one as
            the shares of the classes do: so hidden answers tell fits apart without any truth, and grid search needs none. Known truth (a
            Series by task, or a label for each row of the answers) gives the share of right labels.
        """
        if y is not None:
            truth = gold_series(truth_of_rows(y, data))
            labels = self.predict(data)
            shared = _index(labels.index).get_indexer(_index(truth.index))
            if not (shared >= 0).any():
                raise ValueError("no task of the answers has a known label: are they spelled alike?")
            return float((labels.to_numpy(dtype=object)[shared[shared >= 0]] == truth.to_numpy(dtype=object)[shared >= 0]).mean())
        crowd, workers = self._later(data, None, False)
        if not crowd.answers.answer_count:
            raise ValueError("there are no answers to score the fit by")
        belief = np.tile(np.asarray(self._known("class_prior")), (len(crowd.tasks), 1))
        places = _index(self._crowd.task_index()).get_indexer(_index(crowd.task_index()))
        belief[places >= 0] = self._known("posterior")[places[places >= 0]]
        logits = self._evidence(crowd, workers) + np.log(np.maximum(belief, 1e-300))
        top = logits.max(axis=1)
        return float((top + np.log(np.exp(logits - top[:, None]).sum(axis=1))).sum() / crowd.answers.answer_count)
