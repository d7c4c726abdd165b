"""What there is besides estimators: looking at data, scoring, comparing, simulating."""
from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Iterable, Optional, Union

import numpy as np
import pandas as pd

from . import _engine, aggregation, learning
from ._columns import _index, as_index, gold_series, read, require_order
from ._parameters import Progress, class_name, whole_number
from ._plots import plot_calibration as _plot_calibration


NO_ROW = 0xFFFFFFFF  # of a task without features


@dataclass(repr=False)
class Description:
    """What answers look like before any method is run."""

    tasks: int
    workers: int
    classes: int
    answers: int
    single_answer_tasks: int
    workers_below_three_answers: int
    answers_per_task: dict
    answers_per_worker: dict
    answers_per_class: pd.Series
    krippendorff_alpha: float
    fleiss_kappa: float
    pairwise_agreement: float
    unanimous_share: float
    components: int
    largest_component_tasks: int
    largest_component_workers: int
    warnings: list = field(repr=False)
    ordinal_alpha: Optional[float] = None  # of ordered classes
    weighted_kappa: Optional[float] = None
    contradictions: Optional[pd.DataFrame] = None  # task, worker, said: who answered a task again, and not the same
    expected_wrong_gold: Optional[float] = None  # of the gold labels, if gold was given
    suspect_gold: Optional[pd.DataFrame] = None  # by task: gold, answers_say, gold_wrong (a probability), answers, for_gold, for_that
    twin_tasks: Optional[pd.DataFrame] = None  # tasks, contradict: the same features under several names, if features were given

    def _defects(self):
        if self.suspect_gold is not None:
            yield f"gold                about {self.expected_wrong_gold:.1f} labels look wrong, {len(self.suspect_gold)} stand out (suspect_gold)"
        if len(self.contradictions):
            yield f"repeats             {len(self.contradictions)} contradict what the worker said before (contradictions)"
        if self.twin_tasks is not None:
            yield f"twins               {len(self.twin_tasks)} groups of tasks with the same features, {int(self.twin_tasks.contradict.sum())} contradict themselves"

    def __str__(self):
        lines = [
            f"{self.answers:,} answers by {self.workers:,} workers to {self.tasks:,} tasks, {self.classes} classes",
            f"answers per task    {self.answers_per_task['minimum']:g} to {self.answers_per_task['maximum']:g}, mean "
            f"{self.answers_per_task['mean']:.2f}",
            f"answers per worker  {self.answers_per_worker['minimum']:g} to {self.answers_per_worker['maximum']:g}, mean "
            f"{self.answers_per_worker['mean']:.2f}",
            f"agreement           Krippendorff's alpha {self.krippendorff_alpha:.3f}, of pairs {self.pairwise_agreement:.3f}, unanimous tasks "
            f"{self.unanimous_share:.3f}",
            f"connected parts     {self.components}",
            *self._defects(),
        ]
        return "\n".join(lines + [f"warning: {message}" for _, message in self.warnings])

    __repr__ = __str__


def _contradictions(crowd, data, how):
    """Who answered a task again, and not the same; what repeats there were is read again if only the last ones were kept."""
    if crowd.answers.duplicates_contradicting:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            crowd = read(data, **{**how, "duplicates": "repeat"})
    tasks, workers, classes = crowd.task_index(), crowd.worker_index(), crowd.class_index()
    found = [(tasks[t], workers[w], [classes[k] for k in said]) for t, w, said in _engine.contradictions(crowd.answers)]
    return pd.DataFrame(found, columns=["task", "worker", "said"])


def _suspect_gold(crowd):
    found = _engine.check_gold(crowd.answers, crowd.gold)
    tasks, classes = crowd.task_index(), crowd.class_index()
    rows = [(tasks[t], classes[g], classes[c], *rest) for t, g, c, *rest in found["suspects"]]
    table = pd.DataFrame(rows, columns=["task", "gold", "answers_say", "gold_wrong", "answers", "for_gold", "for_that"]).set_index("task")
    return found["expected_wrong"], table


def _twin_tasks(crowd, features):
    features = pd.DataFrame(features)
    if not features.index.is_unique:
        raise ValueError(f"features: task {features.index[features.index.duplicated()][0]!r} is there twice")
    tasks = crowd.task_index()
    rows = features.index.get_indexer(tasks)
    if len(tasks) and (rows < 0).all():
        raise ValueError("features: no task of the answers is in their index; it must name the tasks")
    found = _engine.twin_tasks(crowd.answers, crowd.gold, features.to_numpy(dtype=np.float32), np.where(rows < 0, NO_ROW, rows).astype(np.uint32))
    return pd.DataFrame([([tasks[t] for t in twins], against) for twins, against in found], columns=["tasks", "contradict"]).astype({"contradict": bool})


def describe(data: Any, *, gold: Optional[Any] = None, features: Optional[Any] = None, classes: Optional[Iterable] = None, duplicates: str = "keep_last",
             columns: Optional[Any] = None, wide: bool = False, ordered: bool = False) -> Description:
    """Counts, balance, agreement, connected parts, what to beware of, and what is wrong with the data themselves.

    gold : known truth by task; suspect_gold lists labels that the answers contradict. A crowd that is misled looks the same
    features : numbers by task, a table whose index names tasks; twin_tasks lists those that are the same under several names
    columns, wide : how to read the table, as in `fit` of an estimator
    ordered : the order of classes means something: ordinal_alpha and weighted_kappa say how far workers agree on it

    >>> import wisecrowd
    >>> crowd = wisecrowd.simulate("dawid_skene", tasks=100, workers=10, answers_per_task=3)
    >>> wisecrowd.describe(crowd.answers).answers
    300
    """
    how = {"classes": classes, "gold": gold, "duplicates": duplicates, "columns": columns, "wide": wide}
    crowd = read(data, **how)
    found = _engine.describe(crowd.answers)
    found["contradictions"] = _contradictions(crowd, data, how)
    if gold is not None:
        found["expected_wrong_gold"], found["suspect_gold"] = _suspect_gold(crowd)
    if features is not None:
        found["twin_tasks"] = _twin_tasks(crowd, features)
    found.pop("unanswered_tasks", None)
    if ordered:
        crowd.order_classes(classes is not None)
        found["ordinal_alpha"], found["weighted_kappa"] = _engine.describe_ranks(crowd.answers)
    found["answers_per_class"] = pd.Series(found["answers_per_class"], index=crowd.class_index(), name="answers", dtype=np.int64)
    return Description(**found)


def _codes_of(labels, tasks, classes):
    codes = np.full(len(tasks), -1, dtype=np.int32)
    positions = tasks.get_indexer(_index(labels.index))
    codes[positions[positions >= 0]] = classes.get_indexer(_index(pd.Index(labels.to_numpy())))[positions >= 0]
    return codes


@dataclass(repr=False)
class Evaluation:
    """How good labels are against known truth."""

    measures: pd.DataFrame  # by measure: value, low, high
    curve: pd.DataFrame  # accuracy of the surest labels: coverage, accuracy, threshold
    tasks: int
    abstained: int
    calibration: pd.DataFrame = field(default_factory=pd.DataFrame)  # by bin of the top probability: tasks, probability, accuracy, low, high

    def __getattr__(self, name):
        measures = vars(self).get("measures")
        if measures is not None and name in measures.index:
            return float(measures.loc[name, "value"])
        raise AttributeError(f"there is no measure '{name}'; probabilities are needed for all but accuracy and macro_f1")

    plot_calibration = _plot_calibration

    def __str__(self):
        return f"{self.tasks:,} tasks with both a label and gold\n{self.measures.round(4).to_string()}"

    __repr__ = __str__


def _calibration(predicted, posterior, gold, confidence, bins=15):
    """How often labels of about the same top probability are right: the bins behind ece."""
    scored = (predicted >= 0) & (gold >= 0)
    top = posterior[scored].max(axis=1)
    places = np.clip(np.ceil(top * bins) - 1, 0, bins - 1).astype(int)
    tasks = np.bincount(places, minlength=bins)
    used = tasks > 0
    count = tasks[used]
    right = np.bincount(places, weights=(predicted == gold)[scored], minlength=bins)[used] / count
    # Wilson's interval of a share.
    z2 = NormalDist().inv_cdf(0.5 + confidence / 2) ** 2 / count
    middle, half = (right + z2 / 2) / (1 + z2), np.sqrt(z2 * (right * (1 - right) + z2 / 4)) / (1 + z2)
    edges = np.arange(bins + 1) / bins
    index = pd.IntervalIndex.from_arrays(edges[:-1][used].round(6), edges[1:][used].round(6), closed="right", name="bin")
    return pd.DataFrame({"tasks": count, "probability": np.bincount(places, weights=top, minlength=bins)[used] / count, "accuracy": right,
                         "low": np.maximum(middle - half, 0.0), "high": np.minimum(middle + half, 1.0)}, index=index)


def evaluate(labels: Any, gold: Any, probas: Optional[pd.DataFrame] = None, *, ties: str = "lowest", bootstrap: int = 1000,
             confidence: float = 0.95, seed: int = 0, threads: int = 0, ordered: bool = False,
             classes: Optional[Iterable] = None) -> Evaluation:
    """Scores labels against known truth, with intervals: Wilson's for accuracy, of a bootstrap over tasks for the others.

    labels : Series by task, such as labels_; missing values are abstentions. A fitted estimator may be given as well
    gold : Series by task, dict, or table with task and label
    probas : DataFrame task × label, such as probas_, for log-loss, Brier score and calibration
    ordered : the order of classes means something: rank_error and quadratic_kappa are measured, too
    classes : the classes from the lowest to the highest; None: those of probas, else by number

    The result has `measures` (each also by its name: score.accuracy), `calibration` (how often labels of about the same probability are
    right, in the bins behind ece) and `curve` (what accuracy would be if only the surest labels were kept).

    >>> import wisecrowd
    >>> crowd = wisecrowd.simulate("one_coin_beta", tasks=400, workers=20, answers_per_task=7, seed=1)
    >>> score = wisecrowd.evaluate(wisecrowd.DawidSkene().fit(crowd.answers), crowd.gold)
    >>> score.accuracy > 0.85
    True
    >>> list(score.measures.index)
    ['accuracy', 'macro_f1', 'log_loss', 'brier', 'ece']
    >>> int(score.calibration["tasks"].sum())
    400
    """
    if hasattr(labels, "probas_") and hasattr(labels, "labels_"):
        probas = labels.probas_ if probas is None else probas
        labels = labels.labels_
    labels = gold_series(labels)
    gold = gold_series(gold)
    tasks = _index(gold.index)
    values = [*pd.unique(gold), *pd.unique(labels)] + ([] if probas is None else list(probas.columns))
    listed = classes is not None or probas is not None
    classes = _index(pd.Index(list(classes) if classes is not None else list(probas.columns) if probas is not None else []))
    extra = pd.Index(pd.unique(pd.Series(values, dtype=None if values else object))).difference(classes, sort=False)
    try:
        extra = extra.sort_values()
    except TypeError:
        pass
    if ordered and listed and len(extra):
        raise ValueError(f"ordered: the place of class {extra[0]!r} is not known: list all classes from the lowest to the highest with classes=")
    classes = pd.Index(list(classes) + list(extra))
    if ordered and not listed:
        classes = pd.Index(sorted(classes, key=lambda k: pd.to_numeric(k, errors="coerce")))
        require_order(classes)
    predicted = _codes_of(labels, tasks, classes)
    if not (predicted >= 0).any():
        raise ValueError("no task has both a label and gold: check that both call tasks by the same names, of the same type")
    posterior = None
    if probas is not None:
        posterior = probas.reindex(index=tasks, columns=classes, fill_value=0.0).to_numpy(dtype=float)
        posterior = np.ascontiguousarray(np.nan_to_num(posterior))
        unanswered = posterior.sum(axis=1) <= 0
        posterior[unanswered] = 1 / len(classes)
    found = _engine.evaluate(predicted, posterior, _codes_of(gold, tasks, classes), len(classes), ties, bootstrap, confidence, seed,
                             threads)
    if ordered:
        found["measures"].update(_engine.evaluate_ranks(predicted, _codes_of(gold, tasks, classes), len(classes), seed, threads))
    measures = pd.DataFrame.from_dict(found["measures"], orient="index", columns=["value", "low", "high"])
    measures.index.name = "measure"
    curve = pd.DataFrame(found["curve"], columns=["coverage", "accuracy", "threshold"])
    bins = pd.DataFrame()
    if posterior is not None:
        bins = _calibration(predicted, posterior, _codes_of(gold, tasks, classes), confidence)
    return Evaluation(measures, curve, found["tasks"], found["abstained"], bins)


def _compare_learners(features, data, gold, methods, changed, reading):
    """Trains each learner on the same data. Gold is for the scores alone."""
    rows = {}
    for method in learning.CLASSES if methods is None else methods:
        made = estimator(method) if isinstance(method, str) else method
        if not isinstance(made, learning.Learner):
            raise ValueError(f"{type(made).__name__} does not learn from features: leave features out, or it")
        learner = type(made)(**{**made.get_params(), **changed})
        started = time.perf_counter()
        try:
            learner.fit(features, data, **reading)
        except ValueError as error:
            rows[learner._method] = {"refusal": str(error)}
            continue
        chosen = learner.chosen_epoch_
        row = {"log_probability": learner.curve_["held_out"].get(chosen, np.nan), "epoch": chosen, "epochs": len(learner.curve_)}
        if gold is not None:
            answered = learner.labels_.index.intersection(gold.index)
            score = evaluate(learner.labels_[answered], gold, learner.probas_.loc[answered], seed=learner.seed)
            row.update(accuracy=score.accuracy, low=score.measures.loc["accuracy", "low"], high=score.measures.loc["accuracy", "high"],
                       log_loss=score.log_loss)
        rows[learner._method] = {**row, "seconds": time.perf_counter() - started, "refusal": ""}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "method"
    return table.sort_values("log_probability", ascending=False, kind="stable") if "log_probability" in table else table


def compare(data: Any, gold: Optional[Any] = None, *, features: Optional[Any] = None,
            methods: Optional[Iterable[Union[str, aggregation.Aggregator, learning.Learner]]] = None,
            folds: int = 5, hide: float = 0.1, classes: Optional[Iterable] = None, duplicates: str = "keep_last", seed: int = 0,
            threads: int = 0, progress: Any = False, columns: Optional[Any] = None, wide: bool = False, ordered: bool = False,
            graph: Optional[Any] = None) -> pd.DataFrame:
    """Runs several methods on the same answers and scores each, the best one first.

    With gold, by its labels on the gold tasks, which methods do not see. Without, by held-out answers: in each of `folds` rounds a
    share `hide` of the answers is hidden, and a method is scored by the log probability that it gives to them.

    With features, learners are compared: by the log probability of answers to tasks that were held out while the epoch was chosen, which
    needs no gold, and, where there is gold, by the labels of its tasks.

    methods : names or estimators; all when None. Methods by name have the defaults of the command line
    features : as for `fit` of a learner
    classes : all classes in order, also those that nobody answered; None takes them from the data
    columns, wide, ordered, graph : as in `fit` of an estimator; methods that need ordered classes or a graph of tasks are left out unless
        these are given

    >>> import wisecrowd
    >>> crowd = wisecrowd.simulate("hammer_spammer", tasks=300, workers=20, seed=2)
    >>> table = wisecrowd.compare(crowd.answers, methods=["majority_vote", wisecrowd.DawidSkene(pseudo_count=1)])
    >>> table.index[0]
    'dawid_skene'
    """
    if features is not None:
        changed = {"classes": classes, "duplicates": duplicates, "seed": seed, "threads": threads, "progress": progress}
        return _compare_learners(features, data, None if gold is None else gold_series(gold), methods, changed,
                                 {"columns": columns, "wide": wide})
    entrants = []
    able = [name for name, cls in aggregation.CLASSES.items()
            if (ordered or not cls._info["uses_order"]) and (graph is not None or not cls._info["uses_task_graph"])]
    for method in able if methods is None else methods:
        if isinstance(method, str):
            entrants.append((aggregation_by_name(method)._method, {}))
        elif isinstance(method, aggregation.Aggregator):
            entrants.append((method._method, method._method_parameters()))
        else:
            raise TypeError(f"methods are names such as 'dawid_skene' or estimators such as DawidSkene(); not {method!r}")
    crowd = read(data, classes=classes, gold=gold, duplicates=duplicates, threads=threads, columns=columns, wide=wide)
    if not crowd.answers.answer_count:
        raise ValueError("there are no answers, so there is nothing to compare")
    if ordered:
        crowd.order_classes(classes is not None)
    if graph is not None:
        crowd.join_tasks(graph)
    if gold is None:
        if folds * hide > 1 + 1e-9 or folds < 1 or hide <= 0:
            raise ValueError(f"folds={folds} and hide={hide}: their product must be above 0 and at most 1")
        with Progress(progress, "compare") as call:
            scores = _engine.compare(crowd.answers, entrants, folds, hide, seed, threads, call)
        if not scores:
            raise ValueError("nothing can be held out, because every task has one answer: compare with gold")
        rows = {}
        for score in scores:
            value, low, high = score["log_probability"]
            refused = bool(score["refusal"])
            rows[score["method"]] = {
                "log_probability": np.nan if refused else value, "low": np.nan if refused else low, "high": np.nan if refused else high,
                "behind_best": np.nan if refused else score["behind_best"][0], "seconds": score["seconds"], "refusal": score["refusal"]}
        table = pd.DataFrame.from_dict(rows, orient="index").sort_values("log_probability", ascending=False, kind="stable")
        table.index.name = "method"
        return table
    rows = {}
    for name, parameters in entrants:
        started = time.perf_counter()
        try:
            with Progress(progress, name) as call:
                fit = _engine.aggregate(crowd.answers, name, parameters, None, None, seed, threads, call)
        except ValueError as error:
            rows[name] = {"refusal": str(error)}
            continue
        seconds = time.perf_counter() - started
        found = _engine.evaluate(fit.labels, fit.posterior, crowd.gold, len(crowd.classes), fit.tie_rule, 1000, 0.95, seed, threads)
        measures = found["measures"]
        rows[name] = {"accuracy": measures["accuracy"][0], "low": measures["accuracy"][1], "high": measures["accuracy"][2],
                      **{key: measures[key][0] for key in ("macro_f1", "log_loss", "brier", "ece")},
                      "iterations": fit.iterations, "status": fit.status, "seconds": seconds, "refusal": ""}
        if ordered:
            rows[name]["rank_error"] = _engine.evaluate_ranks(fit.labels, crowd.gold, len(crowd.classes), seed, threads)["rank_error"][0]
    table = pd.DataFrame.from_dict(rows, orient="index")
    if "accuracy" in table:
        table = table.sort_values("accuracy", ascending=False, kind="stable")
    table.index.name = "method"
    return table


@dataclass(repr=False)
class Simulation:
    """A crowd whose truth is known."""

    answers: pd.DataFrame  # task, worker, label; and time, where workers change with it
    gold: pd.Series  # true_label by task
    workers: pd.DataFrame  # by worker: kind, accuracy
    errors: pd.DataFrame  # the true tables, as errors_
    priors: pd.Series
    test_answers: pd.DataFrame  # answers to tasks outside of train
    splits: pd.Series  # train, valid or test, by task
    features: Optional[pd.DataFrame] = None  # by task
    groups: Optional[pd.Series] = None  # by task, of kinds that have groups

    def __repr__(self):
        columns = "" if self.features is None else f", {self.features.shape[1]} features"
        return (f"Simulation({len(self.answers):,} answers by {len(self.workers):,} workers to {len(self.gold):,} tasks, "
                f"{len(self.priors)} classes{columns})")


def simulate(kind: str = "dawid_skene", *, tasks: Optional[int] = None, workers: Optional[int] = None, classes: Optional[int] = None,
             answers_per_task: Optional[int] = None, test_tasks: int = 0, class_shares: Optional[Iterable[float]] = None,
             gaussian_features: Optional[float] = None, gaussian_columns: int = 0, seed: int = 0, threads: int = 0,
             progress: Any = False, **parameters: Any) -> Simulation:
    """Draws a crowd of a kind that `simulation_kinds()` lists. Each kind has parameters of its own, given by name.

    >>> import wisecrowd
    >>> crowd = wisecrowd.simulate("hammer_spammer", tasks=1000, workers=40, classes=3, seed=1)
    >>> crowd.answers.shape
    (5000, 3)
    """
    size = {"tasks": tasks, "workers": workers, "classes": classes, "answers_per_task": answers_per_task}
    size = {name: whole_number(name, value) for name, value in size.items() if value is not None}
    seed, threads, test_tasks = whole_number("seed", seed), whole_number("threads", threads), whole_number("test_tasks", test_tasks)
    with Progress(progress, "simulate") as call:
        made = _engine.simulate(
            kind, size, parameters,
            {"test_tasks": test_tasks, "class_shares": None if class_shares is None else list(class_shares),
             "gaussian_features": gaussian_features, "gaussian_columns": gaussian_columns}, seed, threads, call)
    task_index = as_index(made["tasks"], "task")
    worker_index = as_index(made["workers"], "worker")
    class_index = as_index(made["classes"], "label")

    def frame(columns):
        table = pd.DataFrame({"task": made["tasks"][columns[0]], "worker": made["workers"][columns[1]],
                              "label": made["classes"][columns[2]]})
        if made["in_order"]:
            table["time"] = np.arange(1, len(table) + 1)
        return table

    tables = made["confusion"]
    priors = made["class_prior"]
    names = np.array(["train", "valid", "test"], dtype=object)
    splits = names[made["splits"]] if len(made["splits"]) else np.full(len(task_index), "train", dtype=object)
    return Simulation(
        answers=frame(made["answers"]),
        gold=pd.Series(made["classes"][made["gold"]], index=task_index, name="true_label"),
        workers=pd.DataFrame({"kind": made["worker_kind"], "accuracy": np.einsum("wkk,k->w", tables, priors)}, index=worker_index),
        errors=pd.DataFrame(np.swapaxes(tables, 1, 2).reshape(-1, len(class_index)),
                            index=pd.MultiIndex.from_product([worker_index, class_index]), columns=as_index(made["classes"], None)),
        priors=pd.Series(priors, index=class_index, name="prior"),
        test_answers=frame(made["test_answers"]),
        splits=pd.Series(splits, index=task_index, name="split"),
        features=None if made["features"] is None else pd.DataFrame(made["features"], index=task_index),
        groups=pd.Series(made["group_names"][made["groups"]], index=task_index, name="group") if len(made["groups"]) else None,
    )


def simulation_kinds() -> pd.DataFrame:
    """The kinds of crowds that `simulate` draws, with their parameters."""
    kinds = _engine.simulation_kinds()
    return pd.DataFrame({"summary": [kind["summary"] for kind in kinds],
                         "parameters": [{spec["name"]: spec["default"] for spec in kind["parameters"]} for kind in kinds]},
                        index=pd.Index([kind["name"] for kind in kinds], name="kind"))


def methods(features: Optional[bool] = None) -> pd.DataFrame:
    """What there is: all methods with their classes, one sentence each, and when to use which.

    features : True for those that learn from features, False for those that see answers alone; None for all

    >>> import wisecrowd
    >>> wisecrowd.methods().loc["dawid_skene", "estimator"]
    'DawidSkene'
    """
    rows = []
    for learns, infos in ((False, _engine.aggregation_methods()), (True, _engine.learning_methods())):
        if features is None or features == learns:
            rows += [{"method": info["name"], "estimator": class_name(info["name"]), "features": learns, "summary": info["summary"],
                      "when_to_use": info["when_to_use"]} for info in infos]
    return pd.DataFrame(rows).set_index("method")


def aggregation_by_name(name: str):
    """The class of a method: 'dawid_skene' is DawidSkene."""
    if name in aggregation.CLASSES:
        return aggregation.CLASSES[name]
    for cls in aggregation.CLASSES.values():
        if cls.__name__ == name:
            return cls
    raise ValueError(f"there is no method '{name}': there are {', '.join(aggregation.CLASSES)}")


def estimator(name: str, **parameters: Any):
    """An estimator by the name of its method, as on the command line.

    >>> import wisecrowd
    >>> wisecrowd.estimator("dawid_skene", max_iterations=20)
    DawidSkene(max_iterations=20)
    """
    if name in learning.CLASSES:
        return learning.CLASSES[name](**parameters)
    return aggregation_by_name(name)(**parameters)
