"""Files of labelling platforms: Label Studio, Argilla, MTurk, Toloka and others."""
from __future__ import annotations

import io
import json
import os
import warnings
from dataclasses import dataclass
from typing import Any, Optional

import pandas as pd

from . import _engine
from ._tables import DataWarning, stacklevel


def platforms() -> pd.DataFrame:
    """The platforms whose files are read, by the name that `format` takes."""
    rows = [(name, title, summary, recognised) for name, title, summary, recognised in _engine.platforms()]
    return pd.DataFrame(rows, columns=["name", "title", "files", "recognised"]).set_index("name")


@dataclass(repr=False)
class PlatformData:
    """What a file of a platform holds of one question."""

    platform: str
    question: str
    kind: str  #: of answers: categories, numbers, sets, comparisons or sequences
    answers: pd.DataFrame  #: as the estimators of that kind take them
    gold: Optional[Any]  #: a Series by task, or a table for comparisons, sequences and boxes; None where there is none
    workers: pd.DataFrame  #: worker, kind (human or machine), answers
    tokens: Optional[pd.DataFrame]  #: of sequences
    left_out: dict  #: what was not taken for an answer, and how often

    def __repr__(self):
        return f"<{self.platform}: {len(self.answers)} rows of {self.kind} for {self.question!r} by {len(self.workers)} workers>"


def _table(text):
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False) if text else None


def _decoded(table, column, kind):
    if kind == "numbers":
        table[column] = pd.to_numeric(table[column])
    elif kind == "sets":
        table[column] = table[column].map(json.loads)


def _answers(text, kind):
    table = _table(text)
    for column in ("value", "x", "y", "width", "height", "position", "seconds"):
        if column in table:
            table[column] = pd.to_numeric(table[column])
    if kind == "sets":
        _decoded(table, "label", kind)
    return table


def _gold(text, kind):
    table = _table(text)
    if table is None or "truth" not in table:
        return None if table is None else _answers(text, kind)
    _decoded(table, "truth", kind)
    return table.set_index("task")["truth"].rename("true_label")


def read_platform(path: Any, format: Optional[str] = None, *, question: Optional[str] = None, answers: Optional[str] = None, models: bool = True, lenient: bool = False,
                  blank_is_empty: bool = False) -> PlatformData:
    """Reads a file that a labelling platform exported.

    path : file name
    format : str, optional
        The platform (`platforms()` lists them); without it the file is recognised by its content, where that leaves no doubt.
    question : which one to read, where the file holds answers to several
    answers : what they are to be read as (categories, numbers, sets, comparisons, sequences), if not as what they are
    models : whether predictions of models count as answers of workers of their own
    lenient : leave out what cannot be read instead of refusing the file
    blank_is_empty : sets: whoever gave no answer said that no class fits

    >>> import os, tempfile, wisecrowd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pets.resp")
    ...     with open(path, "w") as file:
    ...         _ = file.write("ann t1 cat\\nbob t1 cat\\ncid t1 dog\\n")
    ...     data = wisecrowd.read_platform(path, "ceka")
    >>> wisecrowd.MajorityVote().fit_predict(data.answers).to_dict()
    {'t1': 'cat'}
    """
    found = _engine.read_platform(os.fspath(path), format or "", question or "", answers or "", models, lenient, blank_is_empty, "")
    return _data(found)


def _data(found):
    for note in found["notes"]:
        warnings.warn(note, DataWarning, stacklevel=stacklevel())
    return PlatformData(found["platform"], found["question"], found["kind"], _answers(found["answers"], found["kind"]), _gold(found["gold"], found["kind"]),
                        _answers(found["workers"], "").astype({"answers": int}), None if not found["tokens"] else _answers(found["tokens"], ""), found["left_out"])


def convert(path: Any, out: Any, format: Optional[str] = None, *, to: Optional[str] = None, question: Optional[str] = None, target: Optional[str] = None,
            answers: Optional[str] = None, answers_file: Optional[Any] = None, models: bool = True, lenient: bool = False, blank_is_empty: bool = False):
    """A platform's file into a folder of tables, or, with `to`, a result back into a file that the platform takes.

    path : file name of an export, or, with `to`, the folder that `wisecrowd aggregate` wrote
    out : the folder to write, or, with `to`, the file
    to : label-studio-predictions, argilla-suggestions, toloka-review, mturk-review or ground-truth
    target : Label Studio: what the question is asked of, if the answers do not tell
    answers_file : with `to`, where the answers are now, if not where they were

    The others are those of `read_platform`. Returns a PlatformData, or, with `to`, the path that was written. Nothing is half
    written, and no input is replaced.
    """
    path, out = os.fspath(path), os.fspath(out)
    if to is None:
        if os.path.exists(out) and os.path.exists(path) and os.path.realpath(path).startswith(os.path.realpath(out) + os.sep):
            raise ValueError(f"{out} holds {path}, which is read: choose another folder")
        return _data(_engine.read_platform(path, format or "", question or "", answers or "", models, lenient, blank_is_empty, out))
    text, inputs = _engine.write_back(path, to, question or "", target or "", None if answers_file is None else os.fspath(answers_file))
    place = os.path.realpath(out)
    if place.startswith(os.path.realpath(path) + os.sep) or any(os.path.exists(name) and os.path.realpath(name) == place for name in inputs):
        raise ValueError(f"{out} is read, and therefore not replaced: choose another file")
    _engine.write_back_file(text, out)
    return out
