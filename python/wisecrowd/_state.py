"""A persistent crowd in one SQLite file, which grows with every answer."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._aggregator import Fitted
from ._columns import Crowd, as_index, gold_series, read
from ._parameters import Progress, whole_number
from ._report import report as _report
from ._tables import row_times


def _alarms(found):
    table = pd.DataFrame(found, columns=["worker", "raised", "began", "evidence", "accuracy_before", "accuracy_since", "recovered"])
    table["recovered"] = table["recovered"].astype("Int64").mask(table["recovered"] == 0)
    return table


@dataclass
class Absorbed:
    """What `CrowdState.add` did."""

    answers: int  # new ones
    replaced: int  # that took the place of an earlier one of the same worker to the same task
    contradicting: int  # of those, how many say something else
    new_tasks: int
    new_workers: int
    new_classes: list
    tasks_touched: int  # re-estimated
    labels_changed: int  # of tasks that had answers before
    sweeps: int
    alarms: pd.DataFrame  # workers who got worse, as these answers show; as `CrowdState.alarms`
    refitted: bool = False


@dataclass
class StateSummary:
    """What is in a state, and how far it may be from the batch fit to the same answers."""

    tasks: int
    answered_tasks: int
    workers: int
    answers: int
    classes: list
    classes_are_fixed: bool
    class_prior: pd.Series
    duplicates: str
    schema_version: int
    staleness: dict
    advice: str  # why a refit is due, or nothing
    gold_tasks: int  # known truths, also of tasks that nobody answered yet
    gold_for: str  # inference: the fit sees them; evaluation: it does not, and the labels are scored on them
    gold_accuracy: tuple  # (value, low, high) with Wilson's 95 % interval; NaN unless gold is for evaluation
    warnings: list  # (code, message) of the last fit
    parameters: dict

    def __str__(self):
        lines = [f"{self.answers:,} answers by {self.workers:,} workers to {self.answered_tasks:,} of {self.tasks:,} tasks",
                 f"classes: {', '.join(self.classes) or 'none yet'}",
                 f"{self.staleness['answers_since']:,} answers since the last refit"]
        return "\n".join(lines + ([self.advice] if self.advice else []))


@dataclass
class TaskState:
    """One task of a state."""

    task: str
    label: Optional[str]
    probability: float
    uncertainty: float  # entropy in nats
    probas: pd.Series  # by label
    answers: pd.DataFrame  # worker, label


@dataclass
class WorkerView:
    """One worker of a state."""

    worker: str
    answers: int
    accuracy: float  # expected share of right answers
    errors: pd.DataFrame  # a row per label, a column per true label; columns sum to 1
    counts: pd.DataFrame  # the same as expected counts, without the prior


def _truths(gold):
    """Known truth as pairs of names."""
    return [] if gold is None else [(str(task), str(label)) for task, label in gold_series(gold).items()]


class StateResult(Fitted):
    """Everything that a state knew at one moment, with the attributes of a fitted estimator; tasks and workers in the order in which
    they became known."""

    _method = "dawid_skene"
    progress = False

    def __init__(self, answers, fit, names, gold, summary, threads):
        tasks, workers, classes = names
        self.threads = threads
        seen = gold is not None and summary["gold_for"] == "inference"
        self._crowd = Crowd(answers, tasks, workers, classes, gold if seen else None)
        self._test_gold = None
        if gold is not None and not seen:
            known = gold >= 0
            self._test_gold = pd.Series(np.asarray(classes, dtype=object)[gold[known]], index=np.asarray(tasks, dtype=object)[known])
        self._fit = fit
        self._summary_then = summary

    def _method_parameters(self):
        """Those of the batch fit that the state follows."""
        right, wrong = self._summary_then["smoothing"]
        given = self._summary_then["parameters"]
        return {"pseudo_count": wrong, "diagonal_pseudo_count": right - wrong,
                **{name: given[name] for name in ("class_prior", "class_pseudo_count", "max_iterations", "tolerance")}}

    def _run(self):
        return 0, self.threads

    def report(self, path: Any = None, *, gold: Optional[Any] = None, title: str = "", compare: bool = True):
        """As of an estimator; gold that the state keeps for evaluation scores the labels unless other gold is given."""
        return _report(self, path, gold=self._test_gold if gold is None else gold, title=title, compare=compare)

    def __repr__(self):
        return f"StateResult({len(self._crowd.tasks)} tasks, {len(self._crowd.workers)} workers)"


class CrowdState:
    """A persistent crowd in one SQLite file: every answer, the labels with their probabilities, and what is known of each worker.

    New answers are absorbed in time proportional to them; `refit` makes the state equal to the batch fit again. Every change is on
    the disk when the call returns, whole or not at all, and several processes may use one state. Names of tasks, workers and labels
    are kept as text.

    `CrowdState(path)` opens a state, `CrowdState.create(path, answers)` makes one; both can be used in `with`. docs/STATE.md tells
    the model and the file.

    Parameters
    ----------
    path : the file
    read_only : open it for looking only; nothing is written, and nobody is kept waiting
    threads : how many to use; 0 is all that the machine has

    Examples
    --------
    >>> import os, tempfile, wisecrowd
    >>> crowd = wisecrowd.simulate("dawid_skene", tasks=200, workers=20, answers_per_task=5, seed=1)
    >>> path = os.path.join(tempfile.mkdtemp(), "crowd.state")
    >>> with wisecrowd.CrowdState.create(path, crowd.answers[:600]) as state:
    ...     absorbed = state.add(crowd.answers[600:])
    ...     accuracy = (state.labels_ == crowd.gold.reindex(state.labels_.index)).mean()
    >>> absorbed.answers, bool(accuracy > 0.8)
    (400, True)
    >>> wisecrowd.CrowdState(path, read_only=True).summary().answers
    1000
    """

    def __init__(self, path: Any, *, read_only: bool = False, threads: int = 0):
        self.path = os.fspath(path)
        self.threads = whole_number("threads", threads, 0, 4096)
        self._state = _engine.open_state(self.path, bool(read_only))

    @classmethod
    def create(cls, path: Any, data: Optional[Any] = None, *, classes: Optional[Iterable] = None, duplicates: str = "keep_last",
               gold: Optional[Any] = None, gold_for: str = "inference", threads: int = 0, progress: Any = False,
               columns: Optional[Any] = None, wide: bool = False,
               **parameters: Any) -> "CrowdState":
        """Makes a new state from answers, or from nothing, by a batch fit. A file that is there already is never replaced.

        data : table with the columns task, worker and label
        classes : all labels that there may be; others are refused from then on. None: new ones may appear at any time
        duplicates : when a worker answers a task again: keep_last, reject, or repeat, which counts all; holds for good
        columns, wide : how to read the table, as in `fit` of an estimator
        gold : known truth, as for `fit`; tasks that nobody answered yet may be among it
        gold_for : 'inference', the fit sees the gold, or 'evaluation', it does not, and the labels are scored on it; holds for good
        parameters : fixed for good; `CrowdState.parameters()` lists them
        """
        state = cls.__new__(cls)
        state.path, state.threads = os.fspath(path), whole_number("threads", threads, 0, 4096)
        classes = None if classes is None else list(classes)
        answers = None
        if data is not None:
            answers = read(data, classes=classes, duplicates=duplicates, threads=threads, columns=columns, wide=wide).answers
        with Progress(progress, "create") as call:
            state._state = _engine.create_state(state.path, answers, [str(label) for label in classes or ()], classes is not None,
                                                duplicates, _truths(gold), gold_for, parameters, state.threads, call)
        return state

    @staticmethod
    def parameters() -> pd.DataFrame:
        """What can be set when a state is made: defaults, ranges and what they do."""
        specs = _engine.state_parameters()
        return pd.DataFrame({key: [spec[key] for spec in specs] for key in ("default", "range", "help")},
                            index=pd.Index([spec["name"] for spec in specs], name="parameter"))

    def close(self) -> None:
        """Lets go of the file. What was added is there already."""
        self._state.close()

    def __enter__(self) -> "CrowdState":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __repr__(self):
        return f"CrowdState({self.path!r})"

    def summary(self) -> StateSummary:
        """What is in the state, and whether a refit is due."""
        found = self._state.summary()
        for inner in ("should_auto_refit", "smoothing"):
            found.pop(inner)
        found["class_prior"] = pd.Series(found["class_prior"], index=self._class_index(found["classes"]), name="prior")
        return StateSummary(**found)

    @staticmethod
    def _class_index(classes, name="label"):
        return as_index(np.array(classes, dtype=object), name)

    def add(self, data: Optional[Any] = None, *, gold: Optional[Any] = None, gold_for: Optional[str] = None, refit: str = "auto",
            time: Optional[Any] = None, progress: Any = False, columns: Optional[Any] = None, wide: bool = False) -> Absorbed:
        """Absorbs answers, known truths or both, and re-estimates the tasks that they belong to; all of them or none.

        gold : known truth, as for `fit`; it replaces what was known of the same tasks
        gold_for : what the first gold of a state is for ('inference' or 'evaluation'); None: as the state has it
        refit : 'auto' estimates everything anew afterwards when it is due and the state is small, 'always' does so in any case, 'never'
            leaves it to you (`summary().advice` says when)
        time : when an answer was given, for alarms about workers who get worse: the name of a column, or a value per row; numbers or dates.
            None: the rows are in the order of time
        columns, wide : how to read the table, as in `fit` of an estimator
        """
        if refit not in ("auto", "always", "never"):
            raise ValueError(f"refit={refit!r}: choose auto, always or never")
        known = self._state.summary()
        classes = known["classes"] if known["classes_are_fixed"] else None
        if data is None and gold is None:
            raise ValueError("nothing to add: give answers, gold, or both")
        answers = rows = None
        if data is not None:
            crowd = read(data, classes=classes, duplicates=known["duplicates"], threads=self.threads, columns=columns, wide=wide, keep_rows=True)
            answers, rows = crowd.answers, (*crowd.rows.codes, row_times(data, time, crowd.rows, wide)[0])
        with Progress(progress, "add") as call:
            done = self._state.add(answers, rows, _truths(gold), gold_for, self.threads, call)
        absorbed = Absorbed(**{**done, "alarms": _alarms(done["alarms"])})
        if refit == "always" or (refit == "auto" and self._state.summary()["should_auto_refit"]):
            self.refit(progress=progress)
            absorbed.refitted = True
        return absorbed

    def refit(self, *, progress: Any = False) -> dict:
        """Batch EM on all answers to convergence; everything is estimated anew. Returns iterations, status, log-likelihood and warnings."""
        with Progress(progress, "refit") as call:
            return self._state.refit(self.threads, call)

    def result(self, *, progress: Any = False) -> StateResult:
        """All that the state knows at this moment: labels_, probas_, priors_, errors_, skills_, worker_summary_ and report() as of an
        estimator."""
        with Progress(progress, "result") as call:
            return StateResult(*self._state.whole(self.threads, call), self._state.summary(), self.threads)

    @property
    def labels_(self) -> pd.Series:
        """The label of each task. Reads everything: for several tables take `result()` once."""
        return self.result().labels_

    @property
    def probas_(self) -> pd.DataFrame:
        """The probability of each class for each task. Reads everything: for several tables take `result()` once."""
        return self.result().probas_

    @property
    def workers(self) -> pd.DataFrame:
        """Answers and expected share of right answers, by worker."""
        found = self._state.workers()
        return pd.DataFrame({"answers": found["answers"], "accuracy": found["accuracy"]}, index=as_index(found["names"], "worker"))

    def task(self, name: str) -> TaskState:
        """One task: its probabilities and who said what."""
        found = self._state.task(str(name))
        if found is None:
            raise KeyError(f"the state knows no task {name!r}")
        classes = np.array(self._state.summary()["classes"], dtype=object)
        label = classes[found["label"]] if found["label"] >= 0 else None
        answers = pd.DataFrame({"worker": np.array(found["workers"], dtype=object), "label": classes[found["labels"]]})
        return TaskState(str(name), label, found["probability"], found["uncertainty"],
                        pd.Series(found["posterior"], index=self._class_index(classes), name="probability"), answers)

    def worker(self, name: str) -> WorkerView:
        """One worker: how many answers, and what it says for each truth."""
        found = self._state.worker(str(name))
        if found is None:
            raise KeyError(f"the state knows no worker {name!r}")
        classes = self._state.summary()["classes"]

        def frame(table):
            return pd.DataFrame(table.T, index=self._class_index(classes), columns=self._class_index(classes, None))

        return WorkerView(str(name), found["answers"], found["accuracy"], frame(found["confusion"]), frame(found["counts"]))

    def candidates(self, tasks: int = 100, *, by: str = "entropy") -> pd.DataFrame:
        """The most uncertain tasks, the most uncertain first: answers so far, uncertainty, and the probability of each class.

        by : 'entropy', 'margin' or 'least_confidence'
        """
        found = self._state.candidates(whole_number("tasks", tasks, 1), by)
        table = pd.DataFrame({"answers": found["answers"], "uncertainty": found["uncertainty"]}, index=as_index(found["names"], "task"))
        for k, label in enumerate(self._state.summary()["classes"]):
            table[label] = found["posterior"][:, k]
        return table

    def settled(self, sure: float = 0.95, *, limit: Optional[int] = None, after: str = "") -> pd.DataFrame:
        """Answered tasks whose label has at least probability `sure`, in the order in which they became known: those that can be retired.

        limit, after : a page of so many, from the first one after the task `after` on
        """
        if not 0 <= sure <= 1:
            raise ValueError(f"sure={sure!r}: a probability, from 0 to 1")
        most = 2**63 - 1 if limit is None else whole_number("limit", limit, 1)
        found = self._state.settled(float(sure), most, str(after))
        return pd.DataFrame({"label": found["labels"], "probability": found["probability"], "answers": found["answers"]},
                            index=as_index(found["names"], "task"))

    def alarms(self) -> pd.DataFrame:
        """Workers who got worse while answers came in, one row per episode, in the order in which they were seen: worker, raised and began
        (which of its answers, counted from 1), evidence, accuracy_before, accuracy_since, recovered (NA while it lasts)."""
        return _alarms(self._state.alarms())

    def alerts(self, *, progress: Any = False) -> pd.DataFrame:
        """What needs attention, the urgent first: code, severity (warning or notice), message, count, workers and tasks. Reads everything."""
        with Progress(progress, "alerts") as call:
            found = self._state.alerts(self.threads, call)
        return pd.DataFrame(found, columns=["code", "severity", "message", "count", "workers", "tasks"])

    def report(self, path: Any = None, *, gold: Optional[Any] = None, title: str = "", compare: bool = True):
        """A report of the state as it is, as of an estimator: one HTML page, or its data if the path ends with .json."""
        return self.result().report(path, gold=gold, title=title, compare=compare)

    def export(self, folder: Any, *, progress: Any = False) -> None:
        """Writes what `wisecrowd aggregate` would: labels.csv, workers.csv, confusion.csv and run.json, whole or not at all."""
        with Progress(progress, "export") as call:
            self._state.export(os.fspath(folder), self.threads, call)

    def check(self, *, progress: Any = False) -> list:
        """What is wrong with the file: reads everything and compares. Empty when all is well."""
        with Progress(progress, "check") as call:
            return self._state.check(self.threads, call)
