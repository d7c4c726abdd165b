"""Features as people have them: rows, and the names of their tasks."""
import numpy as np
import pandas as pd

from ._columns import _index


def _is_sparse(X):
    return hasattr(X, "tocsr")


def features_of(X):
    """Features as the engine takes them: a float32 array, or the arrays of a sparse matrix."""
    if _is_sparse(X):
        X = X.tocsr()
        X.sort_indices()
        return X.indptr, X.indices, X.data, X.shape[1]
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    try:
        X = np.ascontiguousarray(X, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"features must be numbers: {error}") from None
    if not 2 <= X.ndim <= 4:
        raise ValueError(
            f"features have {X.ndim} dimensions: they are rows × columns, or images: rows × height × width, or rows × height × "
            "width × channels"
        )
    return X


def row_names_of(X):
    """The tasks' names: the index of a DataFrame, or the numbers of the rows."""
    if isinstance(X, pd.DataFrame) and len(X):
        if not X.index.is_unique:
            raise ValueError(f"features: task {X.index[X.index.duplicated()][0]!r} has several rows: the index of X names the tasks")
        return _index(X.index)
    if hasattr(X, "shape") and not X.shape[0]:
        raise ValueError("features have no rows: there must be one for each task")
    if not hasattr(X, "shape"):
        raise TypeError(f"features are an array, a sparse matrix or a DataFrame; not {type(X).__name__}")
    return pd.RangeIndex(X.shape[0])
