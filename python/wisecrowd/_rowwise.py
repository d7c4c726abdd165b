"""Answers that stand beside the rows of X, as scikit-learn cuts them: y has an entry per row."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np
import pandas as pd

from ._columns import _index
from ._rows import row_names_of
from ._tables import ALIASES, ROLES, ColumnError, columns_of, find_column, is_missing, module_of, table_of


def _plain(values):
    """Values of whatever library as an array; None where they are no column."""
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, (pd.Series, pd.Index)):
        return values.to_numpy()
    if isinstance(values, (list, tuple)) and values and not isinstance(values[0], (list, tuple)):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column if any(isinstance(value, (Mapping, str)) for value in values) else np.asarray(values)
    if hasattr(values, "__array__") and not hasattr(values, "columns") and module_of(values) not in ("polars", "pyarrow"):
        return np.asarray(values)
    return None


def answers_beside(y: Any, names: pd.Index) -> Optional[dict]:
    """A table task, worker, label from answers that stand beside rows; None if y is a table already.

    y : array of rows × workers with blanks where there is no answer, a dict {worker: label} per row, or one label per row
    """
    found = _plain(y)
    if found is None or found.ndim not in (1, 2):
        return None
    if len(found) != len(names):
        raise ValueError(f"X has {len(names)} rows and y has {len(found)}: an array of answers has an entry for each row. Answers with a row "
                         "for each are a table with the columns task, worker and label")
    if found.ndim == 2:
        frame = pd.DataFrame(np.where(np.ma.getmaskarray(found), None, found.data) if isinstance(found, np.ma.MaskedArray) else found)
        rows, workers = np.nonzero(frame.notna().to_numpy() & (frame.astype(object) != "").to_numpy())
        labels = frame.to_numpy()[rows, workers]
        if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
            labels = labels.astype(np.int64)  # whole numbers that blanks turned into others
    elif any(isinstance(value, Mapping) for value in found[:1]):
        for row, value in enumerate(found):
            if not isinstance(value, Mapping):
                raise TypeError(f"y: row {row} is {value!r}, and others are dicts: give {{worker: label}} for each row, {{}} for one without answers")
        rows = np.repeat(np.arange(len(found)), [len(value) for value in found])
        workers = [worker for value in found for worker in value]
        labels = pd.Series([label for value in found for label in value.values()]).to_numpy()
    else:
        if found.dtype.kind == "f" and np.isinf(found).any():
            raise ValueError("Input y contains infinity, which is no class")
        if found.dtype.kind == "f" and (found != np.round(found))[~np.isnan(found)].any():
            raise ValueError("Unknown label type: continuous. Labels are classes; these are fractions")
        rows, workers, labels = np.arange(len(found)), np.zeros(len(found), dtype=np.int64), found
    return {"task": names[rows], "worker": workers, "label": labels}


def answers_by_row(answers: Any, X: Any, *, columns: Optional[Any] = None) -> np.ndarray:
    """Answers as scikit-learn can cut them into folds: an array with a dict {worker: label} for each row of X.

    answers : table with the columns task, worker and label
    X : the features; the index of a DataFrame names the tasks, else they are the numbers of the rows

    >>> import numpy as np, wisecrowd
    >>> wisecrowd.answers_by_row([(0, "ann", "cat"), (2, "ann", "dog"), (2, "bob", "cat")], np.zeros((3, 1)))
    array([{'ann': 'cat'}, {}, {'ann': 'dog', 'bob': 'cat'}], dtype=object)
    """
    names = row_names_of(X)
    tasks, workers, labels = (pd.Series(values).reset_index(drop=True) for _, values in columns_of(answers, ROLES, columns))
    known = ~is_missing(labels)
    places = names.get_indexer(_index(pd.Index(tasks)))
    if len(places) and (places < 0).all():
        raise ValueError(f"no task of the answers (the first is {tasks[0]!r}) has a row in X (the first is {names[0]!r})")
    found = np.empty(len(names), dtype=object)
    found[:] = [{} for _ in range(len(names))]
    for place, worker, label in zip(places[known], workers[known], labels[known]):
        if place >= 0:
            found[place][worker] = label
    return found


def truth_of_rows(y: Any, data: Any, columns: Optional[Any] = None) -> Any:
    """Known truth beside the rows of a long table, as a Series by task; y itself if it is something else."""
    found = _plain(y)
    if found is None or isinstance(y, (pd.Series, pd.Index)):
        return y
    names, get = table_of(data)
    chosen = columns if isinstance(columns, Mapping) else {}
    task = next((column for column, role in chosen.items() if role == "task"), chosen.get("task", find_column(names, ALIASES["task"])))
    if task is None:
        raise ColumnError("known labels stand beside the rows of the answers, and none of the columns is the task: say which by columns=")
    tasks = get(task)
    tasks = pd.Index(tasks if module_of(tasks) != "polars" else tasks.to_list())
    if len(tasks) != len(found):
        raise ValueError(f"there are {len(tasks)} rows of answers and {len(found)} known labels: an array of them has one for each row; else "
                         "give a Series by task")
    return pd.Series(found, index=tasks)
