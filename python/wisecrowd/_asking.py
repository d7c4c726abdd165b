"""What to ask next and whom; what that would have saved; what finished data need."""
from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Optional, Union

import numpy as np
import pandas as pd

from . import _engine
from ._columns import _names, gold_series, read
from ._parameters import Progress, whole_number
from ._rows import features_of, row_names_of
from ._state import CrowdState
from ._tables import ALIASES, find_column, table_of
from .tools import Simulation, aggregation_by_name


def policies() -> pd.DataFrame:
    """The ways of choosing, with their parameters and when to use which.

    >>> import wisecrowd
    >>> "random" in wisecrowd.policies().index
    True
    """
    infos = _engine.selectors()
    return pd.DataFrame({"summary": [info["summary"] for info in infos], "when_to_use": [info["when_to_use"] for info in infos],
                         "parameters": [{spec["name"]: spec["default"] for spec in info["parameters"]} for info in infos]},
                        index=pd.Index([info["name"] for info in infos], name="policy"))


def _offers(workers):
    """Who can be asked: names, costs, capacities (-1 without limit), and who is available; None for everybody."""
    if workers is None:
        return None, None
    if isinstance(workers, pd.Series):
        workers = pd.DataFrame({"worker": workers.index, "cost": workers.to_numpy()})
    if isinstance(workers, (str, bytes)):
        raise TypeError("workers is a table with the columns worker, cost, capacity, available and response, or a list of workers")
    if isinstance(workers, (list, tuple, set, np.ndarray, pd.Index)):
        columns, get = ["worker"], {"worker": list(workers)}.__getitem__
    else:
        columns, get = table_of(workers)
    known = {find_column(columns, ALIASES["worker"]): "worker"}
    for column in columns:
        if column not in known:
            known[column] = str(column)
    unknown = [name for name in known.values() if name not in ("worker", "cost", "capacity", "available", "response")]
    if None in known or unknown:
        raise ValueError(f"workers: the columns are {', '.join(map(repr, columns))}: there must be 'worker', and there may be 'cost', "
                         "'capacity', 'available' and 'response'")
    table = {role: list(get(column)) for column, role in known.items()}
    values = table["worker"]
    names = list(_names(values))
    if any(pd.isna(value) is True for value in values):
        raise ValueError("workers: one of them has no name")
    if len(set(names)) != len(names):
        raise ValueError(f"workers: {next(name for name in names if names.count(name) > 1)!r} is named twice")

    def column(role, default):
        return [default if pd.isna(value) is True else value for value in table.get(role, [default] * len(names))]

    cost = [float(value) for value in column("cost", 1.0)]
    for name, value in zip(names, cost):
        if not (0 < value < np.inf):
            raise ValueError(f"workers: the cost of {name!r} is {value!r}: it takes a number above 0")
    capacity = []
    for name, value in zip(names, column("capacity", -1)):
        if isinstance(value, float) and (value == np.inf or value.is_integer()):
            value = -1 if value == np.inf else int(value)
        capacity.append(-1 if value == -1 else whole_number(f"workers: the capacity of {name!r}", value))
    response = [float(value) for value in column("response", 1.0)]
    for name, value in zip(names, response):
        if not 0 < value <= 1:
            raise ValueError(f"workers: the response of {name!r} is {value!r}: it takes a probability above 0; who never answers is not "
                             "available")
    return (names, cost, capacity, [bool(value) for value in column("available", True)], response), values


def _policy(policy):
    return _engine.default_selector if policy is None else policy


def _method(method, usual=(_engine.default_refit_method, {})):
    """The name and the parameters of an aggregator that is given by name, as an estimator, or not at all."""
    if method is None:
        return usual
    made = aggregation_by_name(method)() if isinstance(method, str) else method
    return made._method, made._method_parameters()


def _run(seed, threads):
    return whole_number("seed", seed), whole_number("threads", threads, 0, 4096)


def select(crowd: Union[CrowdState, Any], budget: float, *, workers: Optional[Any] = None, policy: Optional[str] = None,
           method: Optional[Any] = None, candidates: int = 0, round: int = 0, seed: int = 0, threads: int = 0,
           progress: Any = False, columns: Optional[Any] = None, wide: bool = False, features: Optional[Any] = None,
           loop: Optional[Any] = None, **parameters: Any) -> pd.DataFrame:
    """What to ask next and whom: task, worker, expected_gain (in nats) and cost, the most valuable pair first.

    crowd : a CrowdState, or a table of answers, which is fitted first
    budget : what the answers may cost together; each costs 1 unless `workers` says otherwise
    workers : who can be asked: a table with the columns worker, cost, capacity and available, of which only the first must be there,
        or a list of workers; None for everybody who is known. New ones are taken for average
    policy : how to choose; `policies()` lists them and the parameters that may follow
    method : for answers: the aggregator, by name or as an estimator
    candidates : of a state: look at so many of the most uncertain tasks; 0 is ten per pair, at least 10,000
    round : changes the lots of a policy that draws them; 0 is the number of answers so far
    columns, wide : how to read a table of answers, as in `fit` of an estimator
    features : for a state and the policies dalc, bald and predictive_entropy, which ask, wait and learn: what is known of each task, also of
        those that nobody answered yet, as X of a learner. Each call learns from the answers that came since the last one, gives up what nobody
        answered in time, and returns task, worker, uncertainty (in nats), reliability (the probability that the worker is right) and cost;
        `.attrs` says what happened since the last call
    loop : for these: the file that keeps what the loop knows from one call to the next; the state's path and `.loop` if it is left out.
        `parameters` are then those of the loop (first_answers, timeout in hours, …), of the learner DALC, and network, hidden, layers, dropout

    >>> import wisecrowd
    >>> crowd = wisecrowd.simulate("hammer_spammer", tasks=100, workers=20, answers_per_task=3, seed=1)
    >>> wisecrowd.select(crowd.answers, budget=3).columns.tolist()
    ['task', 'worker', 'expected_gain', 'cost']
    >>> len(wisecrowd.select(crowd.answers, 10, workers={"worker": ["somebody new"], "cost": [2.5]}, policy="entropy"))
    4
    """
    if _engine.is_live_policy(_policy(policy)) or features is not None:
        return _select_by_loop(crowd, budget, workers, _policy(policy), features, loop, seed, threads, progress, parameters)
    offers, given = _offers(workers)
    request = {"budget": float(budget), "offers": offers, "candidates": whole_number("candidates", candidates),
               "round": whole_number("round", round)}
    seed, threads = _run(seed, threads)
    with Progress(progress, "select") as call:
        if isinstance(crowd, CrowdState):
            found = _engine.select_state(crowd._state, request, _policy(policy), parameters, seed, threads, call)
            tasks, who = np.array(found["task_names"], dtype=object), np.array(found["worker_names"], dtype=object)
        else:
            read_crowd = read(crowd, threads=threads, columns=columns, wide=wide)
            name, values = _method(method)
            found = _engine.select_answers(read_crowd.answers, name, values, request, _policy(policy), parameters, seed, threads, call)
            tasks, who = read_crowd.tasks.take(found["task"]), _workers_chosen(read_crowd, found, offers, given)
    return pd.DataFrame({"task": tasks, "worker": who, "expected_gain": found["expected_gain"], "cost": found["cost"]})


def _select_by_loop(crowd, budget, workers, policy, features, loop, seed, threads, progress, parameters):
    """A round of the loop with features: see `select`."""
    if not _engine.is_live_policy(policy):
        raise ValueError(f"features are for the policies that a network decides, and {policy!r} is none: choose 'dalc', 'bald' or "
                         "'predictive_entropy'")
    if features is None:
        raise ValueError(f"policy {policy!r} needs features: what is known of each task, also of those that nobody has answered yet")
    if not isinstance(crowd, CrowdState):
        raise TypeError(f"policy {policy!r} asks, waits and learns, so it needs a CrowdState to take answers from; not {type(crowd).__name__}")
    names, given = row_names_of(features), features_of(features)
    network = {name: parameters.pop(name, default) for name, default in (("network", "mlp"), ("hidden", 128), ("layers", 1), ("dropout", .5))}
    request = {"budget": float(budget), "offers": _offers(workers)[0], "candidates": 0, "round": 0}
    with Progress(progress, "select") as call:
        found = _engine.select_by_loop(crowd._state, request, policy, os.fspath(crowd.path + ".loop" if loop is None else loop), given,
                                       _names(names), parameters, network, int(time.time()), *_run(seed, threads), call)
    table = pd.DataFrame({name: found[name] for name in ("task", "worker", "uncertainty", "reliability", "cost")})
    table.attrs = {name: found[name] for name in ("by_chance", "trained", "new_answers", "given_up", "refunded", "waiting")}
    return table


def _workers_chosen(crowd, found, offers, given):
    """Workers as they were given, those in the answers and those whom the offers brought."""
    is_known = found["worker"] < len(crowd.workers)
    if is_known.all():
        return crowd.workers.take(found["worker"])
    brought = dict(zip(offers[0], given))
    return np.array([crowd.workers[position] if known else brought[name]
                     for position, known, name in zip(found["worker"], is_known, found["worker_names"])], dtype=object)


@dataclass(repr=False)
class Advice:
    """What finished data need."""

    tasks: pd.DataFrame  # by task, the most rewarding first: label, probability, answers, ask, expected_gain
    workers: pd.DataFrame  # by worker: advice, reason, effect (on the labels), answers, accuracy and score with intervals, spammer (a probability), information and capacity in bits
    settled: int = 0  # tasks that are sure enough
    not_worth_cost: int = 0  # tasks to which no answer is worth its price

    def __str__(self):
        counts = self.workers["advice"].value_counts()
        lines = [f"{len(self.tasks):,} tasks deserve another answer; the most rewarding:", self.tasks.head(10).round(3).to_string(),
                 "workers: " + ", ".join(f"{what} {counts.get(what, 0)}" for what in ("keep", "retrain", "recode", "check", "stop", "unsure"))]
        troubled = self.workers[self.workers["advice"].isin(["stop", "recode", "check", "retrain"])].sort_values("answers", ascending=False, kind="stable")
        if len(troubled):
            lines.append(troubled[["advice", "answers", "accuracy", "reason"]].head(10).round(3).to_string())
        return "\n".join(lines)

    __repr__ = __str__


def advise(data: Any, *, workers: Optional[Any] = None, policy: Optional[str] = None, method: Optional[Any] = None, seed: int = 0,
           threads: int = 0, progress: Any = False, columns: Optional[Any] = None, wide: bool = False, **parameters: Any) -> Advice:
    """Which tasks of finished data deserve more answers and from whom, and which workers to keep, to retrain, to recode or to stop asking.

    workers, policy, method, columns, wide, parameters : as of `select`; tasks are for those among the known workers who can be had

    >>> import wisecrowd
    >>> crowd = wisecrowd.simulate("hammer_spammer", tasks=300, workers=20, answers_per_task=5, seed=1)
    >>> advice = wisecrowd.advise(crowd.answers)
    >>> sorted(set(advice.workers["advice"]) - {"unsure"})
    ['keep', 'stop']
    """
    crowd = read(data, threads=threads, columns=columns, wide=wide)
    if not crowd.answers.answer_count:
        raise ValueError("there are no answers, so there is nothing to advise")
    offers, _ = _offers(workers)
    name, values = _method(method)
    with Progress(progress, "advise") as call:
        found = _engine.advise(crowd.answers, name, values, offers, _policy(policy), parameters, *_run(seed, threads), call)
    asked, fit = found["task"], found["fit"]
    tasks = pd.DataFrame(
        {"label": crowd.classes.take(fit.labels[asked]), "probability": fit.posterior.max(axis=1)[asked],
         "answers": found["task_answers"][asked], "ask": crowd.workers.take(found["worker"]), "expected_gain": found["expected_gain"]},
        index=crowd.task_index().take(asked))
    judged = pd.DataFrame(found["workers"], index=crowd.worker_index())
    for column in ("information", "capacity"):
        judged[f"{column}_bits"] = judged.pop(column) / np.log(2)
    return Advice(tasks, judged, found["settled"], found["not_worth_cost"])


@dataclass(repr=False)
class Replay:
    """Recorded answers, played again under several policies."""

    curves: pd.DataFrame  # policy, answers, cost, accuracy, low, high
    savings: pd.DataFrame  # policy, slack, reached, answers, low, high, saved, saved_low, saved_high
    seeds: pd.DataFrame  # policy, seed, answers, accuracy
    target: float  # accuracy with all answers
    all_answers: int
    scored_tasks: int
    repetitions: int
    answers_per_round: int
    areas: pd.Series = field(repr=False, default=None)  # mean height of the curve, by policy
    stopped: pd.Series = field(repr=False, default=None)  # repetitions in which a policy stopped by its own rule

    @property
    def words(self) -> str:
        """The sentence that people want to read."""
        first = self.savings["policy"].iloc[0]
        exact = self.savings[(self.savings["slack"] == self.savings["slack"].min()) & (self.savings["policy"] != first)]
        reached = exact[exact["reached"]]
        if not len(reached):
            return f"No policy reached the accuracy of all answers ({self.target:.1%}) before it had bought all that it wanted."
        best = reached.loc[reached["saved"].idxmax()]
        return (f"With {best['policy']} you would have reached the same accuracy ({self.target:.1%}) with {best['saved']:.1%} fewer answers "
                f"than with {first} [{best['saved_low']:.1%} to {best['saved_high']:.1%}].")

    def __str__(self):
        return (f"{self.all_answers:,} answers, accuracy on {self.scored_tasks:,} tasks, {self.repetitions} repetitions\n"
                f"{self.savings.round(4).to_string(index=False)}\n{self.words}")

    __repr__ = __str__


def _played(policies_given, parameters):
    """Policies as (name, selector, parameters)."""
    if policies_given is None:
        policies_given = ["random", "entropy/random", _engine.default_selector]
    elif isinstance(policies_given, str):
        policies_given = [policies_given]
    if isinstance(policies_given, Mapping):
        policies_given = list(policies_given.items())
    specs = {info["name"]: {spec["name"] for spec in info["parameters"]} for info in _engine.selectors()}
    played, used = [], set()
    for entry in policies_given:
        name, own = (entry, {}) if isinstance(entry, str) else entry
        way, _, rule = name.partition("/")
        if way not in specs:
            raise ValueError(f"there is no policy '{way}': there are {', '.join(specs)}")
        shared = {key: value for key, value in parameters.items() if key in specs[way]}
        used.update(shared)
        played.append((name, way, {**shared, **({"worker": rule} if rule else {}), **own}))
    names = [name for name, _, _ in played]
    if not names or len(set(names)) != len(names):
        raise ValueError(f"policies {names}: name one at least, and each once")
    if set(parameters) - used:
        raise TypeError(f"none of the policies {names} has a parameter '{sorted(set(parameters) - used)[0]}'")
    return played


def replay(crowd: Union[Simulation, Any], gold: Optional[Any] = None, *,
           policies: Optional[Iterable[Any]] = None, method: Optional[Any] = None, seeds: int = _engine.default_seeds,
           answers_per_round: int = 0, most_answers: int = 0, first_answers: int = 0, workers: Optional[Any] = None, seed: int = 0,
           threads: int = 0, progress: Any = False, columns: Optional[Any] = None, wide: bool = False, **parameters: Any) -> Replay:
    """Plays answers again from none to all under several policies: accuracy against answers bought, and what each would have saved.

    crowd : a table of recorded answers, of which only those can be asked; or what `simulate` made: then everybody can be asked everything
    gold : the truth, for the curves alone; policies do not see it
    policies : names, or (name, parameters); 'entropy/thompson' sets the rule for workers; the first is what others are measured against
    method : the aggregator between rounds, by name or as an estimator; None is gibbs with short chains
    seeds : repetitions with other chance
    answers_per_round : bought between two fits; 0 is a fiftieth of all
    most_answers : where to stop; 0 is all, or ten per task of a simulated crowd
    first_answers : so many answers per task come from random workers first
    columns, wide : how to read a table of answers, as in `fit` of an estimator
    parameters : of the policies that have them

    >>> import wisecrowd
    >>> crowd = wisecrowd.simulate("hammer_spammer", tasks=60, workers=15, answers_per_task=6, seed=1)
    >>> played = wisecrowd.replay(crowd.answers, crowd.gold, seeds=2, answers_per_round=60)
    >>> played.savings["policy"].tolist()[:3]
    ['random', 'entropy/random', 'expected_information']
    """
    tables = None
    if isinstance(crowd, Simulation):
        gold = crowd.gold if gold is None else gold
        read_crowd = read(crowd.answers, gold=gold, threads=threads)
        errors = crowd.errors.reindex(pd.MultiIndex.from_product([read_crowd.worker_index(), read_crowd.class_index()]))
        side = len(read_crowd.classes)
        tables = errors.reindex(columns=read_crowd.class_index()).to_numpy().reshape(-1, side, side)
        tables = np.ascontiguousarray(np.swapaxes(tables, 1, 2))
        if np.isnan(tables).any():
            raise ValueError("the simulation has no table for every worker and class in its answers")
    elif gold is None:
        raise ValueError("replay needs gold: policies do not see the truth, but accuracy is measured with it")
    else:
        read_crowd = read(crowd, gold=gold_series(gold), threads=threads, columns=columns, wide=wide)
    options = {"seeds": whole_number("seeds", seeds, 1, 100_000), "answers_per_round": whole_number("answers_per_round", answers_per_round),
               "most_answers": whole_number("most_answers", most_answers), "first_answers": whole_number("first_answers", first_answers),
               "offers": _offers(workers)[0]}
    name, values = _method(method, _engine.usual_replay_refit(len(read_crowd.classes)))
    with Progress(progress, "replay") as call:
        found = _engine.replay(read_crowd.answers, read_crowd.gold, tables, _played(policies, parameters), name, values, options,
                               *_run(seed, threads), call)
    curves, repetitions = [], []
    for curve in found["curves"]:
        curves.append(pd.DataFrame({key: curve[key] for key in ("policy", "answers", "cost", "accuracy", "low", "high")}))
        for number, (answers, accuracy) in enumerate(zip(curve["answers_by_seed"], curve["by_seed"])):
            repetitions.append(pd.DataFrame({"policy": curve["policy"], "seed": number, "answers": answers, "accuracy": accuracy}))
    index = pd.Index([curve["policy"] for curve in found["curves"]], name="policy")
    return Replay(pd.concat(curves, ignore_index=True), pd.DataFrame(found["savings"]), pd.concat(repetitions, ignore_index=True),
                  found["target"], found["all_answers"], found["scored_tasks"], found["seeds"], found["answers_per_round"],
                  pd.Series([curve["area"] for curve in found["curves"]], index=index, name="area"),
                  pd.Series([curve["stopped"] for curve in found["curves"]], index=index, name="stopped"))
