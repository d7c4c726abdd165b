"""What a trained model says of rows beyond its labels: with answers to them, of the workers, and how sure it is."""
from __future__ import annotations

import os
import warnings
from typing import Any, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._columns import _names, read
from ._parameters import whole_number
from ._rows import features_of, row_names_of
from ._tables import DataWarning


class RowModel:
    """Rows with what is known of workers; `_parts()` gives classifier, classes, workers, threads and seed."""

    def _rows(self, X):
        """The names of rows, and their features."""
        return row_names_of(X), features_of(X)

    def posterior(self, X: Any, answers: Any, *, columns: Optional[Any] = None, wide: bool = False) -> pd.DataFrame:
        """The probability of each class, rows × classes, by the network and the answers to the rows together.

        X : features, as for fit
        answers : table with the columns task, worker and label
            By workers who were there when the model was trained; those of others are left out, with a warning. A row without
            answers gets what the network says.
        columns, wide : how to read the answers, as for fit
        """
        classifier, classes, _, threads, _ = self._parts()
        names, features = self._rows(X)
        crowd = read(answers, threads=threads, columns=columns, wide=wide)
        found = classifier.posterior(features, crowd.answers, _names(names), threads)
        for unknown, what in ((found["unknown_workers"], "workers whom the model does not know"), (found["unknown_tasks"], "tasks without features")):
            if unknown:
                warnings.warn(f"answers of {unknown} {what} are left out" if "workers" in what else f"answers to {unknown} {what} are left out",
                              DataWarning, stacklevel=2)
        return pd.DataFrame(found["probabilities"], index=names.rename("task"), columns=classes)

    def reliability(self, X: Any) -> pd.DataFrame:
        """How probable it is that each worker is right on each row, rows × workers: whom to ask."""
        classifier, _, workers, threads, _ = self._parts()
        names, features = self._rows(X)
        return pd.DataFrame(classifier.reliability(features, threads), index=names.rename("task"), columns=workers)

    def draw(self, X: Any, draws: int = 50) -> pd.DataFrame:
        """By row what draws of the network with dropout say: label and probability of their mean, predictive_entropy (how unsure it is),
        and mutual_information (how much the draws differ; BALD)."""
        classifier, classes, _, threads, seed = self._parts()
        names, features = self._rows(X)
        found = classifier.draw(features, whole_number("draws", draws, 1, 1_000_000), seed, threads)
        if found["identical"]:
            warnings.warn("all draws are the same: the network drops nothing, so they say nothing of how sure it is", DataWarning, stacklevel=2)
        best = found["probabilities"].argmax(axis=1)
        return pd.DataFrame({"label": np.asarray(classes)[best], "probability": found["probabilities"].max(axis=1, initial=0.0),
                             "predictive_entropy": found["entropy"], "mutual_information": found["mutual_information"]},
                            index=names.rename("task"))


class Model(RowModel):
    """A model that was saved by `save_model` or by `wisecrowd learn`; `load_model` reads one."""

    def __init__(self, classifier, threads, seed):
        self._classifier, self._threads, self._seed = classifier, threads, seed
        #: The names of the classes, in the order of the columns.
        self.classes_ = np.asarray(classifier.classes, dtype=object)
        #: The workers that the model knows; empty where its learner has no model of answers.
        self.workers_ = np.asarray(classifier.workers, dtype=object)

    def _parts(self):
        return (self._classifier, pd.Index(self.classes_, name="label"), pd.Index(self.workers_, name="worker"), self._threads, self._seed)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, rows × classes_, by the network alone."""
        return self._classifier.predict(features_of(X), self._threads)

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row, by the network alone."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def load_model(folder: str, *, trust: bool = False, threads: int = 0, seed: int = 0) -> Model:
    """Reads a model that was saved by `save_model` or by `wisecrowd learn`.

    trust : run the TorchScript network that a model brings along; it is a program, so only where you trust whoever made the model
    seed : of `draw`
    """
    return Model(_engine.load_classifier(os.fspath(folder), trust=trust), whole_number("threads", threads, 0, 4096),
                 whole_number("seed", seed, 0, (1 << 64) - 1))
