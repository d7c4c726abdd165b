"""Answers in blocks of whole tasks, which machines can work on apart from each other: EM whose sums are integers.

Nothing here knows of Spark: `run` takes a function that adds up the steps of all blocks, wherever they lie.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import numpy as np

from . import _engine

METHODS = ("dawid_skene", "one_coin", "majority_vote")


@dataclass
class Model:
    """Which model, and what is added to its counts; the names and defaults are those of the engine's methods."""

    method: str = "dawid_skene"
    pseudo_count: float = 0.01
    diagonal_pseudo_count: float = 0.0
    right_pseudo_count: float = 1.0
    wrong_pseudo_count: float = 1.0
    class_pseudo_count: float = 0.0
    max_iterations: int = 300
    tolerance: float = 1e-8

    def __post_init__(self):
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r}: in blocks there are {', '.join(METHODS)}")

    def added(self):
        return (self.right_pseudo_count, self.wrong_pseudo_count) if self.method == "one_coin" else (self.pseudo_count, self.diagonal_pseudo_count)


@dataclass
class Tables:
    """What the next step needs: logarithms of tables (workers × labels × truth) and of the shares of classes; none before the first."""

    log_rows: np.ndarray = field(default_factory=lambda: np.zeros(0))
    log_prior: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass
class Sums:
    """Integer sums of a step over any number of blocks."""

    counts: np.ndarray
    class_mass: np.ndarray
    log_likelihood: int = 0
    answered_tasks: int = 0

    def __add__(self, other):
        return Sums(self.counts + other.counts, self.class_mass + other.class_mass, self.log_likelihood + other.log_likelihood,
                    self.answered_tasks + other.answered_tasks)


@dataclass
class Block:
    """Whole tasks with their answers, sorted by task, worker and label."""

    offsets: np.ndarray  # uint32
    workers: np.ndarray  # uint32
    labels: np.ndarray  # uint16


def pack(tasks, workers, labels, duplicates="once"):
    """A block of codes of tasks (numbered from 0), workers and labels; and how many answers were repeated, and contradicted others."""
    order = np.lexsort((labels, workers, tasks))
    tasks, workers, labels = tasks[order], workers[order], labels[order]
    repeated = contradicting = 0
    if len(tasks) and duplicates != "repeat":
        same = (tasks[1:] == tasks[:-1]) & (workers[1:] == workers[:-1])
        repeated, contradicting = int(same.sum()), int((same & (labels[1:] != labels[:-1])).sum())
        if repeated and duplicates == "reject":
            raise ValueError(f"{repeated} answers are of workers who answered the same task before: duplicates='once' keeps one of them")
        keep = np.append(~same, True)  # the last in the order of the classes: partitions have no order of rows
        tasks, workers, labels = tasks[keep], workers[keep], labels[keep]
    count = int(tasks[-1]) + 1 if len(tasks) else 0
    offsets = np.searchsorted(tasks, np.arange(count + 1)).astype(np.uint32)
    return Block(offsets, workers.astype(np.uint32), labels.astype(np.uint16)), repeated, contradicting


def step(block: Block, worker_count: int, classes: int, tables: Tables, with_posterior: bool = False):
    """The sums of a block, and the posteriors of its tasks if they are wanted."""
    found = _engine.step_of_block(block.offsets, block.workers, block.labels, worker_count, classes, tables.log_rows, tables.log_prior, with_posterior)
    return Sums(found["counts"], found["class_mass"], found["log_likelihood"], found["answered_tasks"]), found.get("posterior")


def next_tables(model: Model, sums: Sums, classes: int):
    """The M-step: tables from sums, and their part of the objective."""
    rows, objective = _engine.rows_of_counts(model.method, *model.added(), classes, sums.counts)
    mass = sums.class_mass * _engine.COUNT_UNIT + model.class_pseudo_count
    log_prior = np.log(np.maximum(mass / mass.sum(), 1e-12))
    return Tables(rows, log_prior), objective + model.class_pseudo_count * float(log_prior.sum())


@dataclass
class State:
    """Where a run stands: sums after so many iterations, the tables they were made with, and the objective by iteration."""

    iteration: int = 0
    sums: Optional[Sums] = None
    tables: Tables = field(default_factory=Tables)
    trace: list = field(default_factory=list)
    status: str = "iteration_limit"


def run(model: Model, classes: int, total: Callable[[Tables], Sums], state: Optional[State] = None,
        after: Callable[[State], Any] = lambda state: None) -> State:
    """EM from the votes, or from where a state stands: each iteration is an M-step here and one call of `total`.

    total : function of tables that adds up the steps of all blocks
    after : called after each iteration
    """
    state = state or State()
    if state.sums is None:
        state.sums = total(Tables())
        after(state)
    if model.method == "majority_vote":
        state.status = "converged"
        return state
    while state.iteration < model.max_iterations and state.status != "converged":
        tables, of_tables = next_tables(model, state.sums, classes)
        sums = total(tables)
        state.tables, state.sums = tables, sums
        state.trace.append(of_tables + sums.log_likelihood * _engine.LOG_UNIT)
        state.iteration += 1
        gain = state.trace[-1] - state.trace[-2] if len(state.trace) > 1 else np.inf
        if gain <= model.tolerance * abs(state.trace[-1]):
            state.status = "converged"
        after(state)
    return state
