"""Any torch module, trained on the answers of a crowd.

`fit` is the whole recipe of the engine over your module and dataset; `CrowdLoss` is a loss for a training loop of your own. torch is only
imported with this module.
"""
from __future__ import annotations

import time
from functools import cached_property
from typing import Any, Callable, Iterable, Optional

import numpy as np
import pandas as pd
import torch

from . import _engine
from ._aggregator import Fitted
from ._asking import _offers
from ._columns import _index, _names, read
from ._learner import row_of_each
from ._model import RowModel
from ._parameters import Progress, whole_number
from ._tables import ROLES, columns_of
from ._torch_network import Items, Modules, Network

__all__ = ["CrowdLoss", "CrowdModule", "CrowdResult", "QuestionLoop", "fit", "losses"]

_LOOK_AT_ROWS = ("dalc", "lfc", "stal")  # learners whose reliabilities are functions of the features


def losses() -> list:
    """The learners that CrowdLoss takes. `fit` takes all but raykar, which is defined for linear classifiers."""
    return list(_engine.crowd_losses())


def _row_names(tasks, count):
    names = pd.RangeIndex(count) if tasks is None else _index(pd.Index(tasks))
    if len(names) != count:
        raise ValueError(f"tasks has {len(names)} names, but there are {count} rows")
    if not names.is_unique:
        raise ValueError(f"tasks: {names[names.duplicated()][0]!r} is there twice: a task is one row")
    return names


def _features(features, method, count):
    """What learners see of rows beside the network; a column of nothing where they see none."""
    if features is None:
        if method in _LOOK_AT_ROWS:
            raise ValueError(f"{method} learns on which rows each worker can be trusted, from numbers: give features=, an array with a row per item")
        return np.zeros((count, 1), np.float32)
    found = np.ascontiguousarray(features.detach().cpu() if isinstance(features, torch.Tensor) else features, dtype=np.float32)
    if found.ndim != 2 or len(found) != count:
        raise ValueError(f"features have the shape {found.shape}: one row of numbers for each of {count} items is needed")
    return found


class CrowdResult(Fitted):
    """What is known of tasks and workers after training: labels_, probas_, errors_, skills_, worker_summary_, … as of an estimator."""

    def __init__(self, crowd, found, names, threads):
        self._crowd, self._fit, self._learned, self._row_index, self.threads = crowd, found["fit"], found, names, threads

    @cached_property
    def row_probas_(self) -> pd.DataFrame:
        """The network's probabilities for all rows, answered or not."""
        return pd.DataFrame(self._learned["row_probabilities"], index=self._row_index.rename("task"), columns=self._crowd.class_index())

    @property
    def answer_reliability_(self) -> Optional[np.ndarray]:
        """P(the answer is right), per answer in task order; None where the method does not know it."""
        return self._learned["answer_reliability"]


class CrowdModule(RowModel, CrowdResult):
    """A trained module with what was learned of tasks and workers. `module` has the weights that were kept."""

    def __init__(self, crowd, found, names, threads, seed, networks, columns):
        self._classifier = found.pop("classifier")
        super().__init__(crowd, found, names, threads)
        self.seed, self._networks, self._columns = seed, networks, columns
        self._outputs_of(np.zeros(1, np.uint32))  # leaves the weights that were kept in the module
        self.module: torch.nn.Module = networks.module

    def _outputs_of(self, rows):
        self._classifier.predict(np.zeros((len(rows), self._columns), np.float32), self.threads)

    def _parts(self):
        return self._classifier, self._crowd.class_index(), self._crowd.worker_index(), self.threads, self.seed

    def _rows(self, X):
        """Names and features of other items. The features are given as a pair (dataset, array) where reliabilities look at them."""
        dataset, given = X if isinstance(X, tuple) and len(X) == 2 and not isinstance(X, torch.Tensor) else (X, None)
        items = Items(dataset)
        found = items.features() if given is None else np.asarray(given, dtype=np.float32)
        if found is None or found.shape[1] != self._columns:
            found = np.zeros((len(items), self._columns), np.float32)
        self._networks.items = items
        return pd.RangeIndex(len(items)), found

    def predict_proba(self, dataset: Any) -> np.ndarray:
        """The probability of each class for the items of a dataset, by the network alone: items × classes_."""
        return self._classifier.predict(self._rows(dataset)[1], self.threads)

    def predict(self, dataset: Any) -> np.ndarray:
        """The label of each item, by the network alone."""
        return self.classes_[self.predict_proba(dataset).argmax(axis=1)]

    def score(self, dataset: Any, y: Any) -> float:
        """The share of items whose predicted label is y."""
        return float((self.predict(dataset) == np.asarray(y)).mean())

    @cached_property
    def curve_(self) -> pd.DataFrame:
        """Objective and held-out log probability by epoch."""
        objective = self._learned["curve_objective"]
        return pd.DataFrame({"objective": objective, "held_out": self._learned["curve_held_out"]},
                            index=pd.RangeIndex(1, len(objective) + 1, name="epoch"))

    @property
    def chosen_epoch_(self) -> int:
        """The epoch that was kept, chosen by the likelihood of hidden answers."""
        return self._learned["chosen_epoch"]

    def __getstate__(self):
        raise TypeError("a module is saved by torch.save(result.module.state_dict(), …), and what is known of the crowd by its tables")


def _specified(info, parameters):
    known = {spec["name"]: spec["default"] for spec in info["parameters"]}
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise TypeError(f"{info['name']} has no parameter '{unknown[0]}': there are {', '.join(known)}")
    return {**known, **parameters}


def _info(method):
    found = {info["name"]: info for info in _engine.learning_methods()}
    if method not in found:
        raise ValueError(f"there is no learner {method!r}: there are {', '.join(found)}")
    return found[method]


def fit(module: Any, dataset: Any, answers: Any, method: str = "max_mig", *, tasks: Optional[Iterable] = None, gold: Optional[Any] = None,
        features: Optional[Any] = None, classes: Optional[Iterable] = None, duplicates: str = "keep_last", device: Any = None,
        call: Optional[Callable] = None, seed: int = 0, threads: int = 0, progress: Any = False, columns: Optional[Any] = None,
        wide: bool = False, **parameters: Any) -> CrowdModule:
    """Trains a module on the answers of a crowd, by the recipe of the learners: hidden tasks choose the epoch, weights are averaged.

    module : torch.nn.Module, or a function of the number of outputs that makes one
        It gives a logit per class. A module begins, in each of the runs, with the weights that it has; a function is called for each.
        Parameters with requires_grad=False stay as they are. Afterwards it has the weights that were kept.
    dataset : torch.utils.data.Dataset, or a tensor with a row per item
        Items are what the module takes, or tuples that begin with it, or dicts of its arguments.
    answers : table with the columns task, worker and label
    method : a learner of `wisecrowd methods`
    tasks : the names of the items, in their order; None: their numbers
    gold : known truth of some tasks, a Series by task
    features : numbers of each item for learners that look at them (dalc, lfc, stal); None: the items, if they are rows of numbers
    device : where the module works; None: where it is. The engine keeps the weights on the CPU, so that each step copies them
    call : function of module and batch that gives the logits, where module(batch) does not
    parameters : of the learner: epochs, batch, learning_rate, …

    >>> import torch, wisecrowd, wisecrowd.torch
    >>> crowd = wisecrowd.simulate("dawid_skene", tasks=200, workers=20, gaussian_features=3.0, seed=1)
    >>> X = torch.tensor(crowd.features.to_numpy(), dtype=torch.float32)
    >>> module = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    >>> result = wisecrowd.torch.fit(module, X, crowd.answers, "ccem", tasks=crowd.features.index, epochs=10, learning_rate=0.01)
    >>> bool((result.labels_ == crowd.gold).mean() > 0.9)
    True
    """
    info = _info(method)
    items = Items(dataset)
    names = _row_names(tasks, len(items))
    seen = _features(items.features() if features is None else features, method, len(items))
    crowd = read(answers, classes=classes, gold=gold, duplicates=duplicates, threads=threads, columns=columns, wide=wide, feature_rows=names)
    networks = Modules(module, items, device, call)
    spec = {"network": "mlp", "hidden": 1, "layers": 1, "dropout": 0.5 if networks.drops() else 0.0, "module": networks}
    seed, threads = whole_number("seed", seed), whole_number("threads", threads, 0, 4096)
    with Progress(progress, method) as shown:
        found = _engine.learn(crowd.answers, seen, _names(names), row_of_each(_index(crowd.task_index()), names), method,
                              _specified(info, parameters), spec, crowd.gold, seed, threads, shown)
    return CrowdModule(crowd, found, names, threads, seed, networks, seen.shape[1])


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, engine, tasks):
        values = logits.detach().to("cpu", torch.float64).contiguous()
        gradient = torch.empty_like(values)
        loss = engine.loss(tasks, np.from_dlpack(values), gradient.numpy())
        ctx.save_for_backward(gradient.to(logits.device, logits.dtype))
        return logits.new_tensor(loss)

    @staticmethod
    def backward(ctx, upstream):
        return ctx.saved_tensors[0] * upstream, None, None


class CrowdLoss(torch.nn.Module):
    """The loss of a crowd's answers at the logits of a network that you train. The engine computes loss and gradient on the CPU.

    method : one of losses()
    answers : table with the columns task, worker and label
    tasks : the names of the items of your dataset in their order, or how many there are, if answers name tasks by numbers from 0
    hidden : rows (numbers of items) whose answers are not learned from, but foreseen: see held_out
    gold, features, classes, duplicates, columns, wide, seed, threads : as of fit
    parameters : of the learner; those of training (epochs, batch, learning_rate, …) have no effect, training is yours

    Each epoch begins with begin_epoch; each step is loss, backward, the optimiser's step and step(), which moves what the method knows of
    the workers; end_training comes before result.

    >>> import torch, wisecrowd, wisecrowd.torch
    >>> crowd = wisecrowd.simulate("dawid_skene", tasks=200, workers=20, gaussian_features=3.0, seed=1)
    >>> X = torch.tensor(crowd.features.to_numpy(), dtype=torch.float32)
    >>> module = torch.nn.Linear(X.shape[1], 2)
    >>> criterion = wisecrowd.torch.CrowdLoss("crowd_layer", crowd.answers, tasks=crowd.features.index)
    >>> optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    >>> for epoch in range(15):
    ...     criterion.begin_epoch(epoch, 15, lambda: module(X))
    ...     for rows in torch.randperm(200).split(50):
    ...         optimizer.zero_grad()
    ...         criterion(module(X[rows]), rows).backward()
    ...         optimizer.step()
    ...         criterion.step()
    ...     criterion.end_epoch()
    >>> criterion.end_training()
    >>> bool((criterion.result(module(X)).labels_ == crowd.gold).mean() > 0.9)
    True
    """

    def __init__(self, method: str, answers: Any, *, tasks: Any, hidden: Optional[Iterable[int]] = None, gold: Optional[Any] = None,
                 features: Optional[Any] = None, classes: Optional[Iterable] = None, duplicates: str = "keep_last", seed: int = 0,
                 threads: int = 0, columns: Optional[Any] = None, wide: bool = False, **parameters: Any):
        super().__init__()
        count = tasks if isinstance(tasks, int) else len(tasks)
        self._names_of_rows = _row_names(None if isinstance(tasks, int) else tasks, count)
        self._crowd = read(answers, classes=classes, gold=gold, duplicates=duplicates, threads=threads, columns=columns, wide=wide,
                           feature_rows=self._names_of_rows)
        apart = np.zeros(count, dtype=bool)
        if hidden is not None:
            apart[np.asarray(list(hidden), dtype=np.int64)] = True
        self._threads = whole_number("threads", threads, 0, 4096)
        self._engine = _engine.CrowdLoss(self._crowd.answers, _features(features, method, count), _names(self._names_of_rows),
                                         row_of_each(_index(self._crowd.task_index()), self._names_of_rows), apart, method,
                                         _specified(_info(method), parameters), self._crowd.gold, whole_number("seed", seed), self._threads)
        self._rows = np.asarray(self._engine.rows, dtype=np.int64)  # of the tasks that are learned from
        self._task_of_row = np.full(count, -1, dtype=np.int64)
        self._task_of_row[self._rows] = np.arange(len(self._rows))
        self._epoch = None
        self.method = method
        #: The classes in order: the logits, where outputs is their number.
        self.classes_ = np.asarray(self._crowd.classes)
        #: How many numbers the network must give for each row.
        self.outputs: int = self._engine.outputs

    def _of_tasks(self, logits, rows):
        """Outputs of all rows, cut to some of them."""
        found = logits() if callable(logits) else logits
        if tuple(found.shape) != (len(self._task_of_row), self.outputs):
            raise ValueError(f"outputs for all {len(self._task_of_row)} rows are needed, {self.outputs} each; their shape is {tuple(found.shape)}")
        return found.detach().to("cpu", torch.float64).numpy()[rows]

    def begin_epoch(self, epoch: int, epochs: int, predict: Optional[Callable] = None, sample: Optional[Callable] = None) -> None:
        """Before each epoch, counted from 0, of so many.

        predict : function that gives the network's outputs for all rows, without dropout; methods that infer labels between epochs call it
        sample : the same with dropout, another draw at each call (dalc); None takes predict
        """
        self._epoch = (epoch, epochs, *(None if f is None else (lambda f=f: self._of_tasks(torch.no_grad()(f), self._rows))
                                        for f in (predict, sample or predict)))
        self._engine.begin_epoch(*self._epoch)

    def end_epoch(self) -> None:
        """After each epoch."""
        self._engine.end_epoch(*self._running())

    def end_training(self) -> None:
        """When training is over, before result and held_out: methods bring labels up to date with the network."""
        number, total, predict, sample = self._running()
        self._engine.end_training(number + 1, total, predict, sample)

    def _running(self):
        if self._epoch is None:
            raise RuntimeError("call begin_epoch before each epoch: methods infer labels, or start, there")
        return self._epoch

    def forward(self, logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """The mean loss of the rows that have answers; 0 where none of them has."""
        self._running()
        if logits.ndim != 2 or logits.shape[1] != self.outputs or len(logits) != len(rows):
            raise ValueError(f"logits have the shape {tuple(logits.shape)} for {len(rows)} rows; {self.method} needs {self.outputs} for each")
        tasks = self._task_of_row[np.asarray(rows.cpu() if isinstance(rows, torch.Tensor) else rows, dtype=np.int64)]
        answered = np.nonzero(tasks >= 0)[0]
        if not len(answered):
            return logits.sum() * 0
        if len(answered) < len(tasks):
            logits = logits[torch.from_numpy(answered).to(logits.device)]
        return _Loss.apply(logits, self._engine, tasks[answered].astype(np.uint32))

    def step(self, pace: float = 1.0) -> None:
        """Moves what the method knows of the workers by what the last loss found; pace is a factor on its rates."""
        self._engine.step(float(pace))

    def held_out(self, logits: Any) -> float:
        """The mean log probability of an answer to a hidden row, given the network's outputs for all rows."""
        rows = np.asarray(self._engine.hidden_rows, dtype=np.int64)
        if not len(rows):
            raise ValueError("no row with answers is hidden: give hidden= when the loss is made")
        names = self._names_of_rows[rows]
        counts = np.diff(self._crowd.answers.task_offsets.astype(np.int64))[_index(self._crowd.task_index()).get_indexer(names)]
        return float(self._engine.hidden_likelihoods(np.ascontiguousarray(self._of_tasks(logits, rows))).sum() / counts.sum())

    def predict_proba(self, logits: torch.Tensor) -> np.ndarray:
        """The probability of each class by the network alone, rows × classes_: the softmax, unless the method has another function."""
        values = np.ascontiguousarray(logits.detach().to("cpu", torch.float64).numpy())
        return np.asarray(self._engine.classify(values)).reshape(len(values), -1)

    def result(self, logits: Any) -> CrowdResult:
        """What network and answers say together of tasks and workers, given the network's outputs for all rows."""
        everything = np.arange(len(self._task_of_row))
        found = self._engine.conclude(np.ascontiguousarray(self._of_tasks(logits, everything)))
        return CrowdResult(self._crowd, found, self._names_of_rows, self._threads)


class QuestionLoop:
    """What to ask next and whom, while your module learns from the answers: the loop of DALC over a living crowd.

    module : as of fit, with dropout: draws of it say how unsure the network is
    dataset : all items that may be asked about
    classes : all classes in the order of the module's outputs
    tasks, device, call, seed, threads : as of fit
    features : rows of numbers by which it learns whom to trust on what; None: the items, if they are that
    policy : 'dalc' asks those who know such items best about what network and answers leave open, 'bald' and 'predictive_entropy' look at the
        network alone
    parameters : of the loop (first_answers, first_epochs, round_epochs, draws, …), or of the learner dalc (batch, learning_rate, …)

    >>> import torch, wisecrowd, wisecrowd.torch
    >>> crowd = wisecrowd.simulate("dawid_skene", tasks=100, workers=8, gaussian_features=2.0, seed=1)
    >>> X = torch.tensor(crowd.features.to_numpy(), dtype=torch.float32)
    >>> module = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 8), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    >>> loop = wisecrowd.torch.QuestionLoop(module, X, ["0", "1"], tasks=crowd.features.index, first_answers=50, first_epochs=5)
    >>> loop.add(crowd.answers[:200])
    >>> asked = loop.next_questions(workers=["ann", "bob"], budget=10)
    >>> len(asked), asked.columns.tolist()
    (10, ['task', 'worker', 'uncertainty', 'reliability', 'cost'])
    """

    def __init__(self, module: Any, dataset: Any, classes: Iterable, *, tasks: Optional[Iterable] = None, features: Optional[Any] = None,
                 policy: str = "dalc", device: Any = None, call: Optional[Callable] = None, seed: int = 0, threads: int = 0, **parameters: Any):
        items = Items(dataset)
        self._names_of_rows = _row_names(tasks, len(items))
        self._features = _features(items.features() if features is None else features, "dalc", len(items))
        self._networks = Modules(module, items, device, call)
        if not self._networks.drops():
            raise ValueError("the module drops nothing, so its draws are all the same and say nothing of how unsure it is: add torch.nn.Dropout")
        if not _engine.is_live_policy(policy):
            raise ValueError(f"policy={policy!r}: choose dalc, bald or predictive_entropy")
        self.classes_ = list(classes)
        self._columns = [[], [], []]  # tasks, workers and labels so far
        self._seed, self._threads = whole_number("seed", seed), whole_number("threads", threads, 0, 4096)
        self._loop = _engine.QuestionLoop(policy, parameters, {"network": "mlp", "hidden": 1, "layers": 1, "dropout": 0.5, "module": self._networks})

    def add(self, answers: Any, *, columns: Optional[Any] = None) -> None:
        """Answers that came in: a table with the columns task, worker and label."""
        for so_far, (_, values) in zip(self._columns, columns_of(answers, ROLES, columns)):
            so_far.extend(pd.Series(values).tolist())

    def next_questions(self, pool: Optional[Iterable] = None, workers: Optional[Any] = None, budget: float = 10, *, most: int = 10_000,
                       now: Optional[int] = None, progress: Any = False) -> pd.DataFrame:
        """Learns from what was added since the last round, and says what to ask: a table of task, worker, uncertainty, reliability and cost.

        pool : the tasks that may be asked about; None: all
        workers : who can be asked: a list, or a table of worker, cost, capacity, available and response; None: those who have answered
        budget : what the answers may cost together; workers without a price cost 1
        most : questions at most

        Questions count as open until they are answered or given up (`timeout`); `attrs` of the table says what the round did.
        """
        offers, given = _offers(workers)
        answers = pd.DataFrame(dict(zip(ROLES, (pd.Series(values, dtype=None if values else object) for values in self._columns))))
        crowd = read(answers, classes=self.classes_, threads=self._threads, all_tasks=self._names_of_rows,
                     all_workers=None if given is None else pd.Index(list(given)))
        in_pool = np.ones(len(crowd.tasks), bool) if pool is None else np.asarray(_index(crowd.task_index()).isin(list(pool)))
        cost, capacity, response = np.ones(len(crowd.workers)), np.full(len(crowd.workers), -1), np.ones(len(crowd.workers))
        if given is not None:
            places = _index(crowd.worker_index()).get_indexer(pd.Index(list(given)))
            cost[:] = 0
            names, prices, limits, available, chances = offers
            cost[places] = np.where(np.asarray(available, dtype=bool), prices, 0)
            capacity[places], response[places] = limits, chances
        with Progress(progress, "next_questions") as shown:
            found = self._loop.next(crowd.answers, self._features, _names(self._names_of_rows),
                                    row_of_each(_index(crowd.task_index()), self._names_of_rows), in_pool, list(cost), list(capacity),
                                    list(response), float(budget), whole_number("most", most, 1), int(time.time()) if now is None else int(now),
                                    self._seed, self._threads, shown)
        table = pd.DataFrame({"task": _index(crowd.task_index()).take(found["task"]), "worker": _index(crowd.worker_index()).take(found["worker"]),
                              "uncertainty": found["uncertainty"], "reliability": found["reliability"], "cost": found["cost"]})
        table.attrs = {name: found[name] for name in ("by_chance", "trained", "new_answers", "given_up", "waiting")}
        self._keep_weights()
        return table

    def _keep_weights(self):
        """The module gets the weights that the loop has now; they are empty until it has learned something."""
        weights, buffers = self._loop.weights
        if len(weights):
            network = Network(self._networks, self._networks.module, len(self.classes_))
            network.weights.put(network.weights.trained, weights)
            network.weights.put(network.weights.kept, buffers)

    @property
    def module(self) -> Optional[torch.nn.Module]:
        """The module, with the weights that it has after the last round."""
        return self._networks.module
