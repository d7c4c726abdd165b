"""What the estimators for similarities have in common: reading tables, the fit, scores."""
from __future__ import annotations

import warnings
from typing import Any, ClassVar, Optional, Sequence

import numpy as np
import pandas as pd

from . import _engine
from ._kind_estimator import KindEstimator
from ._numbers import _table
from ._tables import ALIASES, TRUTH_ALIASES, ColumnError, DataWarning, find_column, shown

LEFT = ("left", "item_a", "item1", "item_1", "left_item", "first", "a")
RIGHT = ("right", "item_b", "item2", "item_2", "right_item", "second", "b")
SAME = {"same", "yes", "y", "1", "true", "t", "match", "equal", "identical", "alike", "similar", "duplicate", "must_link", "link", "positive", "1.0"}
DIFFERENT = {"different", "no", "n", "0", "false", "f", "no_match", "non_match", "nomatch", "nonmatch", "mismatch", "unequal", "distinct",
             "dissimilar", "differ", "not_same", "not_equal", "cannot_link", "negative", "0.0"}


def _column(table, role, aliases, columns):
    chosen = {name: wanted for wanted, name in (columns or {}).items()}
    name = chosen.get(role) or find_column(table.columns, aliases)
    if name is None or name not in table.columns:
        raise ColumnError(f"there is no column '{role}' among {shown(list(table.columns))}: rename one, or say which one it is, "
                          f"columns={{'its name': '{role}'}}")
    return name


def _same(column):
    """True for the same, False for different, by the words of the command line."""
    words = column.map(lambda value: str(value).strip().lower().replace(" ", "_").replace("-", "_"))
    unknown = ~words.isin(SAME | DIFFERENT)
    if unknown.any():
        row = int(unknown.to_numpy().argmax())
        raise ValueError(f"column '{column.name}', row {row}: {column.iloc[row]!r} must be same or different (yes or no, 1 or 0, match or no match)")
    return words.isin(SAME).to_numpy()


class SimilarityAggregator(KindEstimator):
    """The base of the estimators for similarities. `fit` takes a table with a row per answer: worker, left, right and label.

    Attributes
    ----------
    clusters_ : DataFrame by item: cluster and probability
    pairs_ : DataFrame by pair: left, right and the probability to be the same
    workers_ : DataFrame by worker: answers, false_different and false_same
    warnings_ : list of (code, message)
    """

    _method: ClassVar[str] = ""
    _info: ClassVar[dict] = {}
    _fitted: ClassVar[tuple] = ("clusters_", "pairs_", "workers_", "warnings_", "explanation_", "status_", "n_iter_", "n_clusters_")

    def __init__(self, columns: Optional[dict] = None, duplicates: str = "keep_last", seed: int = 0, threads: int = 0, **parameters: Any):
        self.columns, self.duplicates, self.seed, self.threads = columns, duplicates, seed, threads
        unknown = set(parameters) - {spec["name"] for spec in self._info.get("parameters", ())}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no parameter '{sorted(unknown)[0]}'")
        self.parameters = parameters

    def _read(self, data):
        table = _table(data)
        names = [_column(table, role, aliases, self.columns)
                 for role, aliases in (("worker", ALIASES["worker"]), ("left", LEFT), ("right", RIGHT), ("label", ALIASES["label"]))]
        for name in names:
            if table[name].isna().any():
                raise ValueError(f"column '{name}', row {int(table[name].isna().to_numpy().argmax())}: a value is missing")
        workers, worker_values = pd.factorize(table[names[0]], sort=True)
        items, item_values = pd.factorize(pd.concat([table[names[1]], table[names[2]]], ignore_index=True), sort=True)
        left, right = items[:len(table)], items[len(table):]
        if (left == right).any():
            row = int((left == right).argmax())
            raise ValueError(f"row {row}: {item_values[left[row]]!r} is compared with itself; correct one of the two items, or drop the row")
        worker_texts, item_texts = [str(value) for value in worker_values], [str(value) for value in item_values]
        self._given = (workers.astype(np.uint32), left.astype(np.uint32), right.astype(np.uint32), _same(table[names[3]]), worker_texts, item_texts,
                       self.duplicates)
        answers = _engine.similarity_answers(*self._given)
        # The engine orders names in its own way ("t2" before "t10").
        by_item, by_worker = dict(zip(item_texts, item_values)), dict(zip(worker_texts, worker_values))
        return (answers, pd.Index([by_item[name] for name in answers.item_names], name="item"),
                pd.Index([by_worker[name] for name in answers.worker_names], name="worker"), pd.Series(worker_values[workers]).value_counts())

    @staticmethod
    def _gold(gold, items):
        if gold is None:
            return None, []
        if not isinstance(gold, pd.Series):
            table = _table(gold)
            gold = table.set_index(_column(table, "item", ALIASES["task"], None))[_column(table, "cluster", ("cluster", *TRUTH_ALIASES), None)]
        if gold.index.has_duplicates:
            raise ValueError(f"gold has two rows for item {gold.index[gold.index.duplicated()][0]!r}; keep one of them")
        codes, names = pd.factorize(gold.reindex(items), sort=True)
        return np.where(codes < 0, _engine.no_cluster, codes).astype(np.uint32), [str(name) for name in names]

    def fit(self, data: Any, gold: Optional[Any] = None) -> SimilarityAggregator:
        """`data` has a row per answer: a DataFrame, a dict of arrays, or what else tables are made of; `gold` has the clusters of items."""
        answers, items, workers, counts = self._read(data)
        known, names = self._gold(gold, items)
        fit = _engine.fit_similarities(answers, self._method, self.parameters, known, names, self.seed, self.threads, None)
        self._fit, self._known, self._known_names = fit, known, names
        clusters = np.array(fit["clusters"], dtype=object)
        self.clusters_ = pd.DataFrame({"cluster": clusters[np.array(fit["cluster"], dtype=int)], "probability": fit["probability"]}, index=items)
        self.pairs_ = pd.DataFrame({"left": items[fit["left"]], "right": items[fit["right"]], "probability": fit["same"]})
        self.workers_ = pd.DataFrame({"answers": counts.reindex(workers, fill_value=0).to_numpy(), "false_different": fit["false_different"],
                                      "false_same": fit["false_same"]}, index=workers)
        self.warnings_, self.explanation_ = list(fit["warnings"]), fit["explanation"]
        self.status_, self.n_iter_, self.n_clusters_ = fit["status"], fit["iterations"], len(clusters)
        for warning in self.warnings_:
            warnings.warn(str(warning[1]), DataWarning, stacklevel=2)
        return self

    def fit_predict(self, data: Any, gold: Optional[Any] = None) -> pd.Series:
        """The cluster of each item."""
        return self.fit(data, gold).clusters_["cluster"]

    def report(self, path: Any = None, *, gold: Optional[Any] = None, title: str = "") -> Any:
        """Writes a report of what was fitted: clusters, items, workers and warnings on one page that needs no network.

        path : file name, optional
            Where to write it; without, the page is returned as a str. A name that ends with .json gets the data alone.
        gold : clusters by item, optional
            Known truth that the fit did not see: the clusters are scored on it. Not for fits that were given gold.
        title : what the page is called

        Returns the path, or the page.
        """
        def write(seen, is_json):
            known, names = (self._known, self._known_names) if gold is None else self._gold(gold, self.clusters_.index)
            return _engine.report_similarities(_engine.similarity_answers(*self._given), self._fit, self._method, self.parameters, known, names, seen, title or "",
                                               is_json, self.seed, self.threads)
        return self._report(path, gold, write)


def make_class(info: dict, name: str, module: str) -> type:
    """The estimator of a method of the engine."""
    text = f"{info['summary']}\n\n{info['when_to_use']}\n" + (SimilarityAggregator.__doc__ or "").split("\n", 1)[1]
    return type(name, (SimilarityAggregator,), {"_method": info["name"], "_info": info, "__doc__": text, "__module__": module})


def evaluate(clusters: Any, gold: pd.Series) -> pd.Series:
    """Scores clusters against the true ones, both by item: Hungarian accuracy with a 95 % interval, NMI, adjusted Rand index and F1 of pairs.

    `clusters` is a fitted estimator or a Series; `gold` a Series. Names of clusters mean nothing.
    """
    found = clusters.clusters_["cluster"] if isinstance(clusters, SimilarityAggregator) else clusters
    both = found.index.intersection(gold.dropna().index)
    if not len(both):
        raise ValueError("no item has both a cluster and gold")
    codes = [pd.factorize(series.reindex(both))[0].astype(np.uint32) for series in (found, gold)]
    return pd.Series(_engine.evaluate_similarities(*codes))


def compare(data: Any, methods: Optional[Sequence[str]] = None, folds: int = 5, share: float = 0.1, seed: int = 0, threads: int = 0,
            **reading: Any) -> pd.DataFrame:
    """Methods by the log probability that each, fitted to the other answers, gives to hidden ones: higher is better. No gold is needed."""
    answers = SimilarityAggregator(**reading)._read(data)[0]
    chosen = list(methods) if methods else [info["name"] for info in _engine.similarity_methods()]
    rows = _engine.compare_similarities(answers, chosen, folds, share, seed, threads)
    if not rows:
        raise ValueError("there are too few answers to hide some")
    return pd.DataFrame(rows).set_index("method").sort_values("log_probability", ascending=False)
