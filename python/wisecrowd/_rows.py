"""Features as people have them: rows, and the names of their tasks."""
import numpy as np
import pandas as pd

from ._columns import _index


def _is_sparse(X):
    return hasattr(X, "tocsr")


def as_rows(X):
    """Features that know their shape: lists of numbers become an array."""
    if isinstance(X, (list, tuple)) or (not hasattr(X, "shape") and hasattr(X, "__array__")):
        X = np.asarray(X)
    if hasattr(X, "dtype") and getattr(X.dtype, "kind", "") == "c":
        raise ValueError("Complex data not supported: features are real numbers")
    if len(getattr(X, "shape", ())) == 2 and X.shape[0] and not X.shape[1]:
        raise ValueError(f"features: 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
    return X


def same_columns(X, columns, names, who):
    """Refuses features that are not those of the fit."""
    given = getattr(X, "columns", None)
    given = None if given is None or not all(isinstance(name, str) for name in given) else list(given)
    if names is not None and given is not None and given != list(names):
        new, gone = [name for name in given if name not in set(names)], [name for name in names if name not in set(given)]
        told = "".join(f"\n{title}:\n" + "".join(f"- {name}\n" for name in some[:5])
                       for title, some in (("Feature names unseen at fit time", new), ("Feature names seen at fit time, yet now missing", gone)) if some)
        raise ValueError("The feature names should match those that were passed during fit." + (told or "\nFeature names must be in the same order "
                         "as they were in fit.\n"))
    if len(X.shape) > 1 and X.shape[1] != columns:
        raise ValueError(f"X has {X.shape[1]} features, but {who} is expecting {columns} features as input")


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
        raise type(error)(f"features must be numbers: {error}") from None
    if not 2 <= X.ndim <= 4:
        raise ValueError(
            f"features have {X.ndim} dimensions: they are rows × columns, or images: rows × height × width, or rows × height × "
            "width × channels. Reshape your data: one row is X.reshape(1, -1), one column X.reshape(-1, 1)"
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
