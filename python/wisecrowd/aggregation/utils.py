"""Small helpers of crowd-kit's module of the same name that code written for it imports.

>>> import pandas as pd
>>> from wisecrowd.aggregation.utils import get_accuracy
>>> answers = pd.DataFrame([("t1", "ann", "cat"), ("t1", "bob", "dog")], columns=["task", "worker", "label"])
>>> get_accuracy(answers, pd.Series({"t1": "cat"}), by="worker").to_dict()
{'ann': 1.0, 'bob': 0.0}
"""
from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np
import pandas as pd

from .._tables import ROLES, columns_of
from .._votes import top_labels

__all__ = ["evaluate", "evaluate_equal", "evaluate_in", "factorize", "get_accuracy", "get_most_probable_labels", "normalize_rows"]


def evaluate_in(row: pd.Series) -> int:
    """1 if the predicted label of a row is among the true ones."""
    return int(row["label_pred"] in row["label_true"])


def evaluate_equal(row: pd.Series) -> int:
    """1 if the predicted label of a row is the true one."""
    return int(row["label_pred"] == row["label_true"])


def evaluate(df_true: pd.DataFrame, df_pred: pd.DataFrame, evaluate_func: Callable[[pd.Series], int] = evaluate_in) -> float:
    """The mean of `evaluate_func` over tasks; both tables have the column label, by task. `wisecrowd.evaluate` tells much more."""
    both = df_true.merge(df_pred, on="task", suffixes=("_true", "_pred"))
    if len(both) != len(df_true):
        raise AssertionError(f"{len(df_true)} tasks have a true label, and {len(both)} of them a predicted one")
    return float(both.apply(evaluate_func, axis=1).mean())


def factorize(data: np.ndarray) -> tuple:
    """The different values in order, and for every value its place among them."""
    values, codes = np.unique(data, return_inverse=True)
    return values, codes.reshape(np.shape(data))


def get_most_probable_labels(proba: pd.DataFrame) -> pd.Series:
    """The label of the largest probability of each task; the first of equal ones."""
    return top_labels(proba).rename(None)


def normalize_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """Rows divided by their sums."""
    return scores.div(scores.sum(axis=1), axis=0)


def get_accuracy(data: pd.DataFrame, true_labels: pd.Series, by: Optional[str] = None) -> Any:
    """The share of answers that are right, among those to tasks with a true label; by worker or task, or of all. A column weight says
    how much an answer counts. A task with several true labels has several right answers."""
    columns_of(data, ROLES)
    known = data[data["task"].isin(true_labels.index)]
    right = pd.MultiIndex.from_frame(known[["task", "label"]]).isin(list(zip(true_labels.index, true_labels)))
    weight = known["weight"] if "weight" in known.columns else pd.Series(1.0, index=known.index)
    table = pd.DataFrame({"right": weight * right, "weight": weight})
    if by is None:
        return table["right"].sum() / table["weight"].sum()
    sums = table.groupby(known[by]).sum()
    return sums["right"] / sums["weight"]
