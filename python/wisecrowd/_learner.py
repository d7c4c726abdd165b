"""The base of all estimators that see features as well. They follow scikit-learn: fit(X, answers), predict(X)."""
from __future__ import annotations

import os
import tempfile
from functools import cached_property
from typing import Any, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._aggregator import ATTRIBUTES, Fitted
from ._columns import _index, _names, read
from ._model import RowModel
from ._parameters import COMMON, Estimator, Progress, describe_class, not_fitted, sign, whole_number
from ._output import Output
from ._rows import as_rows, features_of, row_names_of, same_columns
from ._rowwise import answers_beside

_NETWORK_HELP = {
    "network": "linear, mlp, cnn for images, or the path of a TorchScript file that takes a batch of rows and gives logits",
    "hidden": "mlp: units of a hidden layer",
    "layers": "mlp: hidden layers",
    "dropout": "mlp and cnn: share of the last hidden layer left out at each step",
}

LEARNER_ATTRIBUTES = (
    ("curve_", "DataFrame by epoch: objective, and log probability of answers to held-out tasks"),
    ("chosen_epoch_", "the epoch that was kept, counted from 1: chosen by held-out likelihood"),
    ("answer_reliability_", "array per answer in task order: P(the answer is right), NaN of answers that were left out; of methods that know it"),
)


def files_of(model):
    """A trained network as the bytes of its files, for pickles."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        files = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
    return files


def model_from(files, load):
    """The network again."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        return load(folder, True)  # a pickle is a program already: whoever opens one trusts its maker


def row_of_each(tasks, names):
    """Per task its row of the features; the engine's mark for those without."""
    if isinstance(names, pd.RangeIndex) and tasks.dtype == object:
        numbers = pd.to_numeric(tasks, errors="coerce")
        found = np.where(np.isnan(numbers), -1, numbers).astype(np.int64)
        found = np.where((found >= 0) & (found < len(names)), found, -1)
    else:
        found = names.get_indexer(tasks)
    if len(tasks) and (found < 0).all():
        raise ValueError(
            f"no task of the answers (the first is {tasks[0]!r}) has a row of features (they are named {names[0]!r} to "
            f"{names[-1]!r}): name tasks by the numbers of their rows, or give a DataFrame whose index names them"
        )
    return np.where(found < 0, 0xFFFFFFFF, found).astype(np.uint32)


class Learner(RowModel, Fitted, Output, Estimator):
    """A classifier that is trained on the answers of a crowd."""

    _estimator_type = "classifier"

    def fit(self, X: Any, answers: Any, gold: Optional[Any] = None, *, columns: Optional[Any] = None, wide: bool = False,
            without: Any = ()):
        """Trains a classifier, and labels the answered tasks by classifier and answers together.

        X : array of rows × columns, images rows × height × width [× channels], sparse matrix, or DataFrame
            What is known of each task. Of an array, tasks are the numbers of its rows, counted from 0; the index of a DataFrame
            names the tasks. Rows that nobody answered may be there: they are predicted as well.
        answers : table with the columns task, worker and label
            As for aggregators. Tasks without a row in X are labelled by their answers. Or what stands beside the rows of X, as scikit-learn
            cuts it into folds: a dict {worker: label} per row (`answers_by_row` makes them), an array of rows × workers with blanks, or one
            label per row, which is one worker's.
        gold : Series by task, optional
            Known truth of some tasks, which is learned from.
        columns, wide : how to read the answers, as for aggregators
        without : whose answers are left out, as for aggregators
        """
        if gold is not None and not self._info["uses_gold"]:
            raise ValueError(f"{type(self).__name__} cannot learn from known labels: leave gold out")
        if answers is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: give the answers to the rows")
        X = as_rows(X)
        names, features = row_names_of(X), features_of(X)
        beside = None if wide else answers_beside(answers, names)
        answers = answers if beside is None else beside
        # Rows with known truth that nobody answered are learned from as well.
        crowd = read(answers, classes=self.classes, gold=gold, duplicates=self.duplicates, threads=self.threads, columns=columns, wide=wide,
                     feature_rows=names)
        rows = self._rows_of(crowd, names)
        with Progress(self.progress, type(self).__name__) as progress:
            cleaned = self._clean(crowd, without)
            found = _engine.learn(crowd.answers if cleaned is None else cleaned.answers, features, _names(names), rows, self._method, self._method_parameters(),
                                  self._network(), crowd.gold, *self._run(), progress)
        if cleaned is not None:
            found["fit"] = cleaned.complete(crowd.answers, found["fit"])
            if found["answer_reliability"] is not None:
                found["answer_reliability"] = cleaned.spread(crowd.answers, found["answer_reliability"])
        self._forget()
        self._classifier = found.pop("classifier")
        self._row_index = names
        self._shape = X.shape[1:]
        self._crowd, self._fit, self._learned = crowd, found.pop("fit"), found
        self.n_features_in_ = X.shape[1]
        vars(self).pop("feature_names_in_", None)
        if isinstance(X, pd.DataFrame) and all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        return self

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags, TransformerTags

        return Tags(estimator_type="classifier", target_tags=TargetTags(required=True), classifier_tags=ClassifierTags(),
                    transformer_tags=TransformerTags(), input_tags=InputTags(sparse=True, three_d_array=True))

    def _features_of(self, X):
        """Features to predict for, of the same columns as those of the fit."""
        X = as_rows(X)
        same_columns(X, self.n_features_in_, vars(self).get("feature_names_in_"), type(self).__name__)
        return features_of(X)

    def _look_up(self, name):
        return self._learned[name] if name in self._learned else super()._look_up(name)

    def _known(self, name):
        return self._learned[name] if name in vars(self).get("_learned", ()) else super()._known(name)

    def _network(self):
        try:
            dropout = float(self.dropout)
        except (TypeError, ValueError):
            dropout = -1.0
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout={self.dropout!r}: it takes a number from 0 to below 1")
        return {"network": os.fspath(self.network), "hidden": whole_number("hidden", self.hidden, 1, 1 << 20),
                "layers": whole_number("layers", self.layers, 1, 100), "dropout": dropout}

    @staticmethod
    def _rows_of(crowd, names):
        return row_of_each(_index(crowd.task_index()), names)

    def _fitted_classifier(self):
        if "_classifier" not in vars(self):
            raise not_fitted(f"there is nothing to predict with yet: call {type(self).__name__}.fit first")
        return self._classifier

    def _parts(self):
        return (self._fitted_classifier(), self._crowd.class_index(), self._crowd.worker_index(), self.threads, self.seed)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, rows × classes_, by the classifier alone."""
        classifier = self._fitted_classifier()
        return classifier.predict(self._features_of(X), self.threads)

    def transform(self, X: Any):
        """predict_proba in the form that set_output says."""
        index = X.index if isinstance(X, pd.DataFrame) else None
        return self._formed(pd.DataFrame(self.predict_proba(X), index=index, columns=self._crowd.class_index()))

    def fit_transform(self, X: Any, y: Any, gold: Optional[Any] = None, **more):
        """Fits to the answers y, and gives the probabilities of the rows of X in the form that set_output says."""
        return self.fit(X, y, gold, **more).transform(X)

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row, by the classifier alone."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X: Any, y: Any) -> float:
        """The share of rows whose predicted label is y. Where y are answers beside the rows, as for fit, the share of answers that say
        what is predicted."""
        found = answers_beside(y, pd.RangeIndex(len(y)))
        if found is None:
            raise TypeError(f"y is a label per row, or the answers beside each row; not {type(y).__name__}")
        return float((self.predict(X)[found["task"]] == np.asarray(found["label"], dtype=self.classes_.dtype)).mean())

    @cached_property
    def row_probas_(self) -> pd.DataFrame:
        """The classifier's probabilities for the rows of X, answered or not."""
        return pd.DataFrame(self._known("row_probabilities"), index=self._row_index.rename("task"), columns=self._crowd.class_index())

    @cached_property
    def curve_(self) -> pd.DataFrame:
        """Objective and held-out log probability by epoch."""
        objective = self._known("curve_objective")
        return pd.DataFrame({"objective": objective, "held_out": self._known("curve_held_out")},
                            index=pd.RangeIndex(1, len(objective) + 1, name="epoch"))

    @property
    def loss_history_(self) -> list:
        """The objective after each epoch."""
        return list(self._known("curve_objective"))

    @property
    def chosen_epoch_(self) -> int:
        """The epoch that was kept."""
        return self._known("chosen_epoch")

    @property
    def answer_reliability_(self) -> np.ndarray:
        """P(the answer is right), per answer in task order."""
        if self._known("answer_reliability") is None:
            raise AttributeError(f"{type(self).__name__} does not know how reliable single answers are")
        return self._known("answer_reliability")

    def save_model(self, folder: str) -> None:
        """Writes the classifier for `wisecrowd predict` and other programs into an existing folder."""
        self._fitted_classifier().save(os.fspath(folder))

    def export_torchscript(self, path: str) -> None:
        """Writes the classifier as a TorchScript module that takes rows as they are and gives logits. Needs libtorch."""
        self._fitted_classifier().export_torchscript(os.fspath(path))

    def __getstate__(self):
        state = super().__getstate__()
        if "_classifier" in state:
            state["_classifier_files"] = files_of(state.pop("_classifier"))
        return state

    def __setstate__(self, state):
        files = state.pop("_classifier_files", None)
        vars(self).update(state)
        if files is not None:
            self._classifier = model_from(files, _engine.load_classifier)


EXAMPLE = """
>>> import wisecrowd
>>> crowd = wisecrowd.simulate("dawid_skene", tasks=200, workers=20, gaussian_features=3.0, test_tasks=100, seed=1)
>>> train, test = crowd.features.loc[crowd.splits == "train"], crowd.features.loc[crowd.splits == "test"]
>>> learner = wisecrowd.{name}({settings}).fit(train, crowd.answers)
>>> learner.score(test, crowd.gold[test.index]) > 0.9
True
""".strip()


def make_class(info, name, module):
    """A class for a learner of the engine."""
    network = _engine.network_defaults()
    if info["linear_only"]:
        network["network"] = "linear"
    extra = tuple((key, value, _NETWORK_HELP[key]) for key, value in network.items())
    defaults = {key: value for key, value, _ in extra}
    defaults.update({spec["name"]: spec["default"] for spec in info["parameters"]})
    defaults.update((key, value) for key, value, _ in COMMON)
    settings = 'network="linear", epochs=20, learning_rate=0.05' if "epochs" in defaults else ""
    namespace = {
        "__module__": module,
        "__qualname__": name,
        "__doc__": describe_class(info, extra, (*LEARNER_ATTRIBUTES, *ATTRIBUTES), EXAMPLE.format(name=name, settings=settings).splitlines()),
        "_method": info["name"],
        "_info": info,
        "_defaults": defaults,
    }
    cls = type(name, (Learner,), namespace)
    sign(cls)
    return cls
