"""Which column of a table is what, in tables of any maker: a row per answer, or a row per task; and what is missing in them."""
from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd

# What columns are called elsewhere, as on the command line; in order of preference.
ALIASES = {
    "task": """task task_id taskid item item_id itemid example example_id question question_id object object_id instance
        instance_id unit unit_id _unit_id document document_id doc_id sample sample_id hitid hit_id
        assignment:task_id""".split(),
    "worker": """worker worker_id workerid annotator annotator_id rater rater_id performer performer_id user user_id userid
        username labeler labeler_id labeller labeller_id coder coder_id judge judge_id contributor contributor_id _worker_id
        participant participant_id respondent assignment:worker_id""".split(),
    "label": """label answer rating value response class category vote annotation judgment judgement choice""".split(),
    "segmentation": """segmentation mask""".split(),
}
ROLES = ("task", "worker", "label")
TRUTH_ALIASES = """true_label truth gold gold_label gt ground_truth target true_class correct_answer""".split() + ALIASES["label"]


class DataWarning(UserWarning):
    """Something about the data that changes what comes out, with what to do about it."""


class ColumnError(KeyError, ValueError):
    """A table lacks a column: a KeyError as in pandas and crowd-kit, and a ValueError like all that is wrong with data."""

    def __str__(self):
        return str(self.args[0])  # a KeyError would show it in quotes


def module_of(thing):
    return type(thing).__module__.partition(".")[0]


def is_string_dtype(dtype):
    return isinstance(dtype, pd.StringDtype) or (hasattr(dtype, "pyarrow_dtype") and "string" in str(dtype))


def _normalised(name):
    return re.sub(r"[\s.\-]+", "_", str(name).strip().lower())


def find_column(columns, aliases):
    keys = {}
    for column in columns:
        keys.setdefault(_normalised(column), column)
    return next((keys[alias] for alias in aliases if alias in keys), None)


def table_of(data):
    """The names of the columns, and a function that gives one of them."""
    if isinstance(data, pd.DataFrame):
        return list(data.columns), data.__getitem__
    if module_of(data) == "polars":
        if hasattr(data, "collect"):
            data = data.collect()
        return list(data.columns), data.get_column
    if module_of(data) == "pyarrow":
        return list(data.schema.names), data.column
    if isinstance(data, Mapping):
        return list(data), data.__getitem__
    if isinstance(data, (list, tuple)) and (not data or len(data[0]) == 3):
        frame = pd.DataFrame(list(data), columns=["task", "worker", "label"])
        return list(frame.columns), frame.__getitem__
    raise TypeError(
        f"answers are a table with the columns task, worker and label: a DataFrame of pandas or polars, a Table of pyarrow, a "
        f"dict of columns, or a list of (task, worker, label); not {type(data).__name__}"
    )


def shown(names):
    return ", ".join(repr(str(name)) for name in names[:20]) + (", …" if len(names) > 20 else "")


def _chosen(columns, names, roles):
    """Which column has which role, as the user says: {"image": "task"}, {"task": "image"}, or names in the order of the roles."""
    if columns is None:
        return {}
    if isinstance(columns, Mapping):
        turned = all(key in roles for key in columns) and not all(value in roles for value in columns.values())
        chosen = dict(columns) if turned else {role: column for column, role in columns.items()}
        if len(chosen) < len(columns):
            raise ValueError(f"columns={columns!r}: two columns cannot be one thing")
    elif isinstance(columns, (list, tuple)) and len(columns) == len(roles):
        chosen = dict(zip(roles, columns))
    else:
        raise TypeError(f"columns={columns!r}: it says which column is what, such as columns={{'image': '{roles[0]}', 'who': '{roles[1]}'}}")
    for role, column in chosen.items():
        if role not in roles:
            raise ValueError(f"columns={columns!r}: {role!r} is none of {', '.join(roles)}")
        if column not in names:
            raise ColumnError(f"columns={columns!r}: there is no column {column!r} among {shown(names)}")
    if len(set(chosen.values())) < len(chosen):
        raise ValueError(f"columns={columns!r}: one column cannot be two things")
    return chosen


def columns_of(data, wanted, columns=None):
    """The wanted columns as (name, values)."""
    names, get = table_of(data)
    chosen = _chosen(columns, names, wanted)
    taken = set(chosen.values())
    found = []
    for role in wanted:
        column = chosen.get(role)
        if column is None:
            column = find_column([name for name in names if name not in taken], ALIASES[role])
        if column is None:
            others = "" if "label" not in wanted else "; or give wide=True if there is a row per task and a column per worker"
            raise ColumnError(f"there is no column '{role}' among {shown(names)}: rename one, or say which one it is, columns={{'its name': "
                              f"'{role}'}}{others}")
        values = get(column)
        if isinstance(values, pd.DataFrame):
            raise ValueError(f"there are several columns named {column!r}: keep one of them")
        found.append((str(column), values))
    lengths = {len(values) for _, values in found}
    if len(lengths) > 1:
        raise ValueError("the columns differ in length: " + ", ".join(f"{name} has {len(v)} rows" for name, v in found))
    return found


class MissingValue(ValueError):
    """A value is missing. Of labels this means that there is no answer, see `answers_only`; of tasks and workers it is an error."""

    def __init__(self, column, row, value):
        super().__init__(f"column '{column}', row {row} (counted from 0): the value is missing ({value!r}); fill it in, or leave such rows "
                         f"out: data.dropna(subset=['{column}'])")
        self.column = column


def check_complete(column, is_missing, values):
    is_missing = np.asarray(is_missing)
    if is_missing.any():
        row = int(is_missing.argmax())
        raise MissingValue(column, row, values[row])


class Nothing:
    """Values of which only the missing one is asked for."""

    def __getitem__(self, row):
        return None


def _indexable(values):
    """Values that take an array of bool in brackets."""
    if isinstance(values, (pd.Series, pd.Index, np.ndarray)):
        return values
    return pd.Series(values) if isinstance(values, pd.api.extensions.ExtensionArray) else listed(values)


def listed(values):
    """A list as a Series."""
    values = list(values)
    return pd.Series(values, dtype=None if values else object)


def is_missing(values):
    """Per value, whether it is none: None, NaN, NA, null, or masked."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values) | np.asarray(pd.isna(values.data))
    if module_of(values) == "polars":
        found = values.is_null() | values.is_nan().fill_null(False) if values.dtype.is_float() else values.is_null()
        return found.to_numpy()
    if module_of(values) == "pyarrow":
        return np.asarray(values.to_pandas().isna())
    return np.asarray(pd.isna(_indexable(values)))


def _kept(values, keep):
    """The rows that are kept. Whole numbers that were floats only because some were missing are whole numbers again."""
    if module_of(values) == "polars":
        import polars as pl

        return values.filter(pl.Series(keep))
    if module_of(values) == "pyarrow":
        import pyarrow as pa

        return values.filter(pa.array(keep))
    if isinstance(values, np.ma.MaskedArray):
        values = values.data
    values = _indexable(values)[keep]
    if isinstance(values.dtype, np.dtype) and values.dtype.kind == "f" and len(values):
        plain = np.asarray(values)
        if (plain == np.floor(plain)).all() and np.abs(plain).max() < 2**53:
            values = values.astype(np.int64)
    return values


def answers_only(columns):
    """Rows without a label are no answers: they are left out, and it is said."""
    keep = ~is_missing(columns[2][1])
    kept = [(name, _kept(values, keep)) for name, values in columns]
    warnings.warn(
        f"column '{columns[2][0]}' has no value in {int((~keep).sum()):,} of {len(keep):,} rows, the first of them row {int((~keep).argmax())} "
        "(counted from 0): a row without a label is no answer and was left out", DataWarning, stacklevel=stacklevel())
    return kept


def melted(data, columns):
    """A wide table as the columns task, worker and label, with all its tasks and workers, also those without any answer."""
    if module_of(data) == "polars":
        data = data.collect() if hasattr(data, "collect") else data
        data = pd.DataFrame({name: data.get_column(name).to_list() for name in data.columns})
    elif module_of(data) == "pyarrow":
        data = data.to_pandas()
    elif isinstance(data, Mapping):
        data = pd.DataFrame(dict(data))
    elif not isinstance(data, pd.DataFrame):
        raise TypeError(f"wide=True takes a table with a row per task and a column per worker; not {type(data).__name__}")
    names = list(data.columns)
    if not data.columns.is_unique:
        raise ValueError(f"there are several columns named {data.columns[data.columns.duplicated()][0]!r}: a column is a worker")
    task = _chosen(columns, names, ("task",)).get("task", find_column(names, ALIASES["task"]))
    named_rows = data.index.name is not None or not isinstance(data.index, pd.RangeIndex)
    if task is None and not named_rows and names:
        task = names[0]
    tasks = pd.Series(data.index) if task is None else data[task]
    said = data if task is None else data.drop(columns=task)
    if not len(said.columns):
        raise ColumnError(f"a wide table has one column per worker beside the task; this one has only {shown(names)}")
    check_complete("index" if task is None else str(task), is_missing(tasks), tasks.to_numpy(dtype=object))
    known = said.notna().to_numpy()
    for position, dtype in enumerate(said.dtypes):
        if dtype == object or is_string_dtype(dtype):
            known[:, position] &= (said.iloc[:, position] != "").fillna(False).to_numpy(dtype=bool)
    rows, places = np.nonzero(known)
    first = said.dtypes.iloc[0]
    if isinstance(first, pd.CategoricalDtype) and (said.dtypes == first).all():
        codes = np.column_stack([said[name].cat.codes for name in said.columns])
        labels = pd.Series(pd.Categorical.from_codes(codes[known], dtype=first))
    else:
        plain = all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in said.dtypes)
        labels = said.to_numpy(dtype=None if plain else object)[known]
        labels = _kept(labels, np.ones(len(labels), dtype=bool)) if plain else pd.Series(labels).infer_objects()
    workers = pd.Series(said.columns)
    return [("task", tasks.iloc[rows]), ("worker", workers.iloc[places]), ("label", labels)], tasks, workers


def stacklevel():
    """Warnings point at the first line outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "wisecrowd":
        frame, level = frame.f_back, level + 1
    return level


def _times(data, time):
    """The times of rows as numbers, and what they are: numbers, or dates as seconds since 1970."""
    if isinstance(time, str):
        columns, get = table_of(data)
        if time not in columns:
            raise ValueError(f"time: there is no column {time!r} among {', '.join(map(repr, columns))}")
        name, values = f"column {time!r}", get(time)
    else:
        name, values = "time", time
    values = pd.Series(list(values) if not isinstance(values, (pd.Series, np.ndarray)) else np.asarray(values))
    if values.isna().any():
        raise ValueError(f"{name}, row {int(values.isna().to_numpy().argmax())} (counted from 0): the time is missing")
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=float), "numbers"
    try:
        stamps = pd.to_datetime(values, utc=True)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: the times must be numbers or dates: {error}") from None
    return (stamps - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy(), "dates"


def row_times(data, time, rows, wide):
    """The time of each row that is an answer, and what these are: numbers, dates as seconds since 1970, or the numbers of the rows."""
    if time is not None and wide:
        raise ValueError("a wide table has no place for the times of answers: give one row per answer")
    times, order = (np.arange(1, rows.count + 1, dtype=float), "rows") if time is None else _times(data, time)
    if len(times) != rows.count:
        raise ValueError(f"time: {len(times)} times do not fit {rows.count} rows")
    return times if rows.kept is None else times[rows.kept], order
