"""Machines that judge, measured by people: how good they are, what they lean towards, how many more human answers are wanted.

>>> import pandas as pd
>>> from wisecrowd import judges
>>> rows = [(f"t{t}", who, "yes" if (t * k) % 5 else "no") for t in range(60) for k, who in enumerate(["ann", "bob", "gpt"], 1)]
>>> found = judges.study(pd.DataFrame(rows, columns=["task", "worker", "label"]), machines=["gpt"])
>>> list(found.judges.index), found.judges.loc["gpt", "kind"]
(['ann', 'bob', 'gpt'], 'machine')
"""
import json
import os
import warnings as _warnings
from dataclasses import dataclass
from typing import Any, Optional, Sequence

import pandas as pd

from . import _engine
from ._parameters import Progress, whole_number
from ._tables import DataWarning, stacklevel

__all__ = ["JudgeStudy", "study"]


@dataclass(repr=False)
class JudgeStudy:
    """What is known of the judges of a crowd. Every table is a data frame; some may have no rows."""

    judges: pd.DataFrame  # by worker, people too: accuracy, against_people, agreement, kappa, consistency, temperature, more_answers ...
    biases: pd.DataFrame  # worker, bias, effect (log odds, or points of a score), share, clear
    prevalence: pd.DataFrame  # worker, class, raw, corrected with its interval
    families: pd.DataFrame  # judges that may err together
    versions: pd.DataFrame  # what changed from one version to the next
    calibration: pd.DataFrame  # how often what was said with so much probability was right
    leaderboard: pd.DataFrame  # of comparisons: rank, rank_low, rank_high, item, score; by everybody and by people
    next: pd.DataFrame  # tasks to show to people
    labels: pd.DataFrame  # the truth of all together, with probabilities and weights
    preferences: list  # of comparisons: prompt, chosen, rejected, probability, margin, weight
    agreement: pd.Series  # Krippendorff's alpha among people, machines and all; how often two people say the same
    kind: str  # "categories", "ordered" or "comparisons"
    people_tasks: int  # tasks that people answered, or whose truth is known
    warnings: list

    def __repr__(self):
        machines = int((self.judges["kind"] == "machine").sum())
        return f"JudgeStudy({machines} machines, {len(self.judges) - machines} people, {self.kind})"


def _table(given, name):
    """A path as it is, a table as text."""
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        return (os.fspath(given), None)
    if isinstance(given, pd.Series):
        given = given.rename("label").rename_axis("task").reset_index()
    if not isinstance(given, pd.DataFrame):
        raise TypeError(f"{name}: a data frame or the path of a table is wanted, not {type(given).__name__}")
    return (f"{name} (a data frame)", given.to_csv(index=False))


def study(answers: Any, *, machine_answers: Any = None, machines: Sequence[str] = (), workers: Any = None, items: Any = None, gold: Any = None,
          ordered: bool = False, classes: Optional[Sequence[str]] = None, columns: Optional[Sequence[str]] = None, positive: Optional[str] = None,
          target_width: float = 0.05, next: int = 0, independent: bool = False, lenient: bool = False, seed: int = 0, threads: int = 0,
          progress: Any = False) -> JudgeStudy:
    """Looks at the machines of a crowd, as `wisecrowd judges` does; docs/JUDGES.md says what the figures mean.

    answers : a data frame or the path of a file: task, worker, label; or question, worker, left, right, label; further columns kind, family,
        version, price, length (length_a, length_b), p_<class> or logprob_<class>
    machine_answers : answers of machines in a table of their own
    machines : names of workers who are machines
    workers : a table of workers: worker, kind, family, version, price
    items : a table of what is judged: item (or task), family, length
    gold : known truth: a table, or a Series by task
    ordered : the order of classes means something
    columns : names of the columns, (task, worker, label) or (question, worker, left, right, label)
    target_width : the ± within which each machine is to be known
    next : how many tasks to choose for people
    independent : count each machine as a voice of its own
    """
    if columns is not None and len(columns) not in (3, 5):
        raise ValueError("columns: three names (task, worker, label) or five (question, worker, left, right, label) are wanted")
    tables = {"answers": _table(answers, "answers"), "machine_answers": _table(machine_answers, "machine_answers"), "workers": _table(workers, "workers"),
              "items": _table(items, "items"), "gold": _table(gold, "gold")}
    if tables["answers"] is None:
        raise TypeError("answers: a data frame or the path of a table is wanted")
    options = {"ordered": bool(ordered), "machines": [str(name) for name in machines], "classes": [str(name) for name in classes or ()],
               "columns": [str(name) for name in columns or ()], "positive": "" if positive is None else str(positive), "target_width": float(target_width),
               "next": whole_number("next", next, 0), "independent": bool(independent), "lenient": bool(lenient)}
    with Progress(progress, "judges") as call:
        found = _engine.study_judges(tables, options, whole_number("seed", seed), whole_number("threads", threads, 0, 4096), call)
    for _, message in found["warnings"]:
        _warnings.warn(message, DataWarning, stacklevel=stacklevel())
    frames = {name: pd.DataFrame(made) for name, made in found["tables"].items()}
    frames["judges"] = frames["judges"].set_index("worker")
    preferences = [json.loads(line) for line in found["preferences"].splitlines()]
    return JudgeStudy(preferences=preferences, agreement=pd.Series(found["agreement"], name="agreement"), kind=found["kind"],
                      people_tasks=found["people_tasks"], warnings=found["warnings"], **frames)
