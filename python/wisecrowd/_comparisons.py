"""What the estimators for comparisons have in common: reading tables, the fit, scores, questions, exports."""
from __future__ import annotations

import os
import warnings
from typing import Any, ClassVar, Optional, Sequence

import numpy as np
import pandas as pd

from . import _engine
from ._kind_estimator import KindEstimator
from ._learner import Learner, row_of_each
from ._numbers import _table
from ._parameters import NotFittedError
from ._report import delivered
from ._rows import features_of, row_names_of
from ._tables import ALIASES, ColumnError, DataWarning, find_column, shown

_PAIRS = [("left", "right"), ("model_a", "model_b"), ("item_a", "item_b"), ("item1", "item2"), ("first", "second"), ("a", "b")]
_CHOSEN = [("chosen", "rejected")]
_OUTCOMES = "label winner outcome choice answer preference result preferred vote judgment judgement response truth gold".split()
_WORDS = {**dict.fromkeys("left l a model_a item_a first option_a".split(), 0), **dict.fromkeys("right r b model_b item_b second option_b".split(), 1),
          **dict.fromkeys(["tie", "draw", "equal", "same", "both", "tied", "neither", "=", "tie (bothbad)", "both_bad", "bothbad", "both bad",
                           "both_good", "both good"], 2)}


def _text(values):
    return np.array([value if type(value) is str else str(value) for value in values], dtype=object)


def _pair_columns(table, columns, chosen):
    given = {role: name for name, role in (columns or {}).items()}
    if "left" in given or "right" in given:
        pair = (given.get("left", "left"), given.get("right", "right"))
        missing = [name for name in pair if name not in table.columns]
        if missing:
            raise ColumnError(f"there is no column '{missing[0]}' among {shown(list(table.columns))}")
        return pair, False
    for names, is_chosen in [*((pair, False) for pair in _PAIRS), *((pair, True) for pair in _CHOSEN if chosen)]:
        found = [find_column(table.columns, [name]) for name in names]
        if None not in found:
            return tuple(found), is_chosen
    raise ColumnError(f"there are no columns 'left' and 'right' among {shown(list(table.columns))}: rename two, or say which they are, "
                      "columns={'its name': 'left', 'the other': 'right'}")


def _outcomes(left, right, label, name):
    """0 left, 1 right, 2 tie; the winner's name counts before any word."""
    lowered = pd.Series(label).map(lambda value: _WORDS.get(str(value).strip().lower(), 255))
    codes = np.where(label == left, 0, np.where(label == right, 1, lowered)).astype(np.uint8)
    if (codes == 255).any():
        row = int((codes == 255).argmax())
        raise ValueError(f"column '{name}', row {row}: {label[row]!r} was said of {left[row]!r} and {right[row]!r}, but must be the name of one of "
                         "them, or left, right or tie")
    return codes


def _read_pairs(data, columns, chosen=True):
    """Left, right and outcomes of a table, whether sides are known, and the table."""
    table = _table(data)
    (left_name, right_name), is_chosen = _pair_columns(table, columns, chosen)
    for name in (left_name, right_name):
        if table[name].isna().any():
            raise ValueError(f"column '{name}', row {int(table[name].isna().to_numpy().argmax())}: a value is missing")
    left, right = table[left_name].to_numpy(dtype=object), table[right_name].to_numpy(dtype=object)
    same = left == right
    if len(table) and same.any():
        row = int(np.asarray(same).argmax())
        raise ValueError(f"column '{right_name}', row {row}: {right[row]!r} is compared with itself; correct or drop the row")
    if is_chosen:
        return left, right, np.zeros(len(table), np.uint8), False, table
    given = {role: name for name, role in (columns or {}).items()}
    label = given.get("label") or find_column([name for name in table.columns if name not in (left_name, right_name)], _OUTCOMES)
    if label is None or label not in table.columns:
        raise ColumnError(f"there is no column 'label' among {shown(list(table.columns))}: rename one, or say which one it is, "
                          "columns={'its name': 'label'}")
    return left, right, _outcomes(left, right, table[label].to_numpy(dtype=object), label), True, table


class ComparisonAggregator(KindEstimator):
    """The base of the estimators for comparisons. `fit` takes a table with a row per answer: worker, left, right and label, the winner's
    name or left, right or tie.

    Attributes
    ----------
    scores_ : Series by item, from the best on: log odds with mean 0
    strengths_ : Series by item: e^score, summing to 1 (crowd-kit's scores_)
    ranking_ : DataFrame by item: score, deviation, low, high, rank, rank_low, rank_high
    workers_ : DataFrame by worker: answers, reliability, side_bias, tie_rate
    pairs_ : DataFrame: left, right, label, and probabilities p_left, p_right, p_tie from scores and answers together
    groups_ : DataFrame by item with a score per group, for preference_groups; None for others
    feature_effect_ : Series by feature; None without features
    warnings_ : list of (code, message)
    """

    _method: ClassVar[str] = ""
    _info: ClassVar[dict] = {}
    _fitted = ("scores_", "strengths_", "ranking_", "workers_", "pairs_", "groups_", "feature_effect_", "warnings_", "status_", "n_iter_",
               "explanation_", "seconds_per_iteration_")

    def __init__(self, columns: Optional[dict] = None, duplicates: str = "repeat", seed: int = 0, threads: int = 0, **parameters: Any):
        self.columns, self.duplicates, self.seed, self.threads = columns, duplicates, seed, threads
        unknown = set(parameters) - {spec["name"] for spec in self._info.get("parameters", ())}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no parameter '{sorted(unknown)[0]}'")
        self.parameters = parameters

    def _read(self, data):
        left, right, outcomes, sides, table = _read_pairs(data, self.columns)
        codes, items = pd.factorize(np.concatenate([left, right]), sort=True)
        given = {role: name for name, role in (self.columns or {}).items()}
        worker = given.get("worker") or find_column(table.columns, ALIASES["worker"])
        if worker is None:
            workers, worker_values = np.zeros(len(table), np.uint32), pd.Index(["all"])
        else:
            workers, worker_values = pd.factorize(table[worker], sort=True)
            if (workers < 0).any():
                raise ValueError(f"column '{worker}', row {int((workers < 0).argmax())}: a value is missing")
        answers = _engine.comparison_answers(codes[:len(left)], codes[len(left):], workers, outcomes, _text(items), _text(worker_values),
                                             self.duplicates, sides)
        return answers, pd.Index(items, name="item"), pd.Index(worker_values, name="worker"), np.bincount(workers, minlength=len(worker_values))

    @staticmethod
    def _gold(gold, items, columns=None):
        """Rows of first, second, outcome of known pairs, and scores of known items; either may be None."""
        if gold is None:
            return None, None
        if isinstance(gold, pd.Series):
            return None, gold.reindex(items).to_numpy(dtype=float)
        left, right, outcomes, _, _ = _read_pairs(gold, columns, chosen=False)
        first, second = items.get_indexer(left), items.get_indexer(right)
        known = (first >= 0) & (second >= 0)
        return np.column_stack([first, second, outcomes])[known].astype(np.uint32), None

    @staticmethod
    def _features(features, items):
        if features is None:
            return None, []
        table = pd.DataFrame(features)
        missing = items.difference(table.index)
        if len(missing):
            raise ValueError(f"there are no features of the item {missing[0]!r}: features of every item are needed, by item")
        return table.loc[items].to_numpy(dtype=float), [str(name) for name in table.columns]

    def fit(self, data: Any, gold: Optional[Any] = None, features: Optional[pd.DataFrame] = None) -> ComparisonAggregator:
        """`data` has a row per answer; `gold` is a table of pairs whose outcome is known; `features` are numbers by item whose effect is
        taken out of the scores (bradley_terry)."""
        answers, items, workers, counts = self._read(data)
        known, _ = self._gold(gold, items, self.columns)
        values, names = self._features(features, items)
        fitted = _engine.fit_comparisons(answers, self._method, self.parameters, known, values, names, self.seed, self.threads, None)
        return self._keep(fitted, items, workers, counts, names, gold is not None)

    def _keep(self, fitted, items, workers, counts, names, gold_seen):
        self._engine_fit, self._items, self._workers, self._gold_seen = fitted, items, workers, gold_seen
        fit = fitted.as_dict()
        order = np.lexsort((np.arange(len(items)), -fit["score"]))
        keys = ("score", "deviation", "low", "high", "rank", "rank_low", "rank_high")
        self.ranking_ = pd.DataFrame({key: fit[key] for key in keys}, index=items).iloc[order]
        self.scores_ = self.ranking_["score"].rename("score")
        strength = np.exp(self.scores_ - self.scores_.max())
        self.strengths_ = (strength / strength.sum()).rename("strength")
        self.workers_ = pd.DataFrame({"answers": counts, **{key: fit[key] for key in ("reliability", "side_bias", "tie_rate")}}, index=workers)
        posterior = fit["pair_posterior"].reshape(-1, 3)
        first, second = fit["pair_first"].astype(int), fit["pair_second"].astype(int)
        best = posterior.argmax(axis=1) if len(posterior) else np.zeros(0, int)
        tied = (posterior == posterior.max(axis=1, keepdims=True)).sum(axis=1) > 1 if len(posterior) else np.zeros(0, bool)
        self.pairs_ = pd.DataFrame({"left": items[first], "right": items[second], "label": np.array(["left", "right", "tie"])[np.where(tied, 2, best)],
                                    "p_left": posterior[:, 0], "p_right": posterior[:, 1], "p_tie": posterior[:, 2]})
        groups = fit["group_count"]
        self.groups_ = None if groups == 0 else pd.DataFrame(
            fit["group_score"].reshape(groups, -1).T, index=items, columns=[f"group{g + 1}" for g in range(groups)])
        self.feature_effect_ = pd.Series(fit["feature_effect"], index=names) if names else None
        self.warnings_, self.status_, self.n_iter_ = list(fit["warnings"]), fit["status"], fit["iterations"]
        self.explanation_, self.seconds_per_iteration_ = fit["explanation"], fit["seconds_per_iteration"]
        for warning in self.warnings_:
            warnings.warn(str(warning[1]), DataWarning, stacklevel=3)
        return self

    def fit_predict(self, data: Any, gold: Optional[Any] = None) -> pd.Series:
        """The score of each item, from the best on."""
        return self.fit(data, gold).scores_

    def evaluate(self, gold: Any) -> pd.Series:
        """Scores against gold: a table of pairs (left, right, label), or a Series of known quality by item."""
        self._need_fit()
        known, scores = self._gold(gold, self._items, self.columns)
        return pd.Series(self._engine_fit.evaluate(known, scores))

    def questions(self, count: int = 10, seed: int = 0) -> pd.DataFrame:
        """The most informative questions to ask next: left, right, worker and the expected gain in nats."""
        self._need_fit()
        rows = self._engine_fit.questions(count, seed)
        return pd.DataFrame([(self._items[left], self._items[right], self._workers[worker], gain) for left, right, worker, gain in rows],
                            columns=["left", "right", "worker", "gain"])

    def preferences(self, texts: Optional[pd.DataFrame] = None) -> pd.DataFrame:
        """Pairs for training, as TRL takes them: prompt, chosen, rejected, weight and probability. `texts` has prompt and text by item."""
        import io

        return pd.read_json(io.StringIO(self.preferences_jsonl(texts)), lines=True, dtype=False)

    def preferences_jsonl(self, texts: Optional[pd.DataFrame] = None) -> str:
        """The same as JSON Lines."""
        self._need_fit()
        listed = []
        if texts is not None:
            missing = self._items.difference(texts.index)
            if len(missing):
                raise ValueError(f"there is no text for the item {missing[0]!r}: give one for each")
            listed = [(str(prompt), str(text)) for prompt, text in texts.loc[self._items, ["prompt", "text"]].itertuples(index=False)]
        return self._engine_fit.preferences(listed)

    def report(self, path: Any = None, *, gold: Optional[Any] = None, title: str = "") -> Any:
        """Writes a report of what was fitted: ranking, workers and warnings on one page that needs no network.

        path : file name, optional
            Where to write it; without, the page is returned as a str. A name that ends with .json gets the data alone.
        gold : known pairs or quality of items that the fit did not see, optional
        title : what the page is called

        Returns the path, or the page.
        """
        self._need_fit()
        if gold is not None and self._gold_seen:
            raise ValueError("the fit was given gold, so it is no test of it: leave gold out")
        known, scores = self._gold(gold, self._items, self.columns)
        is_json = path is not None and os.fspath(path).endswith(".json")
        return delivered(self._engine_fit.report(known, scores, title or "", is_json, self.threads), path)

    def _need_fit(self):
        if "_engine_fit" not in vars(self):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")


class ScoreNetwork(ComparisonAggregator):
    """A network that gives scores to items by their features, trained on comparisons; each worker has a reliability.

    `fit` takes features and answers, `predict` features. `network` is linear, mlp, cnn for images, or the path of a TorchScript file.
    It has the attributes of the other estimators, without deviations and intervals, and

    row_scores_ : Series by row of the features: the score of each, compared or not
    chosen_epoch_ : the epoch that was kept, counted from 1: chosen by hidden pairs
    """

    _info = _engine.comparison_learner()
    _method = _info["name"]
    _fitted = (*ComparisonAggregator._fitted, "row_scores_", "chosen_epoch_")

    def __init__(self, columns: Optional[dict] = None, duplicates: str = "repeat", seed: int = 0, threads: int = 0, network: str = "mlp",
                 hidden: int = 128, layers: int = 1, dropout: float = 0.5, **parameters: Any):
        super().__init__(columns, duplicates, seed, threads, **parameters)
        self.network, self.hidden, self.layers, self.dropout = network, hidden, layers, dropout

    def fit(self, X: Any, answers: Any) -> ScoreNetwork:  # type: ignore[override]
        """Trains the network.

        X : array of rows × columns, images rows × height × width [× channels], sparse matrix, or DataFrame
            What is known of each item; every compared item needs a row. Of an array, items are the numbers of its rows, counted from 0;
            the index of a DataFrame names the items. Rows that nobody compared get a score as well.
        answers : table with a row per answer, as for aggregators
        """
        rows, features = row_names_of(X), features_of(X)
        given, items, workers, counts = self._read(answers)
        row_of_item = row_of_each(items, rows)
        fitted, scores, self._regressor, self.chosen_epoch_ = _engine.learn_comparisons(
            given, features, row_of_item, self.parameters, Learner._network(self), self.seed, self.threads, None)
        self.row_scores_ = pd.Series(scores, index=pd.Index(rows, name="item"), name="score")
        return self._keep(fitted, items, workers, counts, [], False)

    def fit_predict(self, X: Any, answers: Any) -> pd.Series:  # type: ignore[override]
        """The score of each compared item, from the best on."""
        return self.fit(X, answers).scores_

    def predict(self, X: Any) -> np.ndarray:
        """The score of each row."""
        self._need_fit()
        return self._regressor.predict(features_of(X), self.threads)[:, 0]

    def save_model(self, folder: Any) -> None:
        """Writes the network for `wisecrowd predict` and other programs into an existing folder."""
        self._need_fit()
        self._regressor.save(os.fspath(folder))


def make_class(info: dict, name: str, module: str) -> type:
    """The estimator of a method of the engine."""
    text = f"{info['summary']}\n\n{info['when_to_use']}\n" + (ComparisonAggregator.__doc__ or "").split("\n", 2)[2]
    return type(name, (ComparisonAggregator,), {"_method": info["name"], "_info": info, "__doc__": text, "__module__": module})


def compare(data: Any, methods: Optional[Sequence[str]] = None, folds: int = 5, share: float = 0.1, seed: int = 0, threads: int = 0,
            **reading: Any) -> pd.DataFrame:
    """Methods by the log probability that each, fitted to the other answers, gives to hidden ones: higher is better. No gold is needed."""
    answers = ComparisonAggregator(**reading)._read(data)[0]
    chosen = list(methods) if methods else [info["name"] for info in _engine.comparison_methods()]
    rows = _engine.compare_comparisons(answers, chosen, folds, share, seed, threads)
    if not rows:
        raise ValueError("no answer can be hidden, because there are too few")
    return pd.DataFrame(rows).set_index("method").sort_values("log_probability", ascending=False)


def dpo_loss(margin: Any) -> Any:
    """−log σ(margin), for numbers or arrays."""
    return _engine.dpo_loss(margin)


def conservative_dpo_loss(margin: Any, flip: Any) -> Any:
    """−(1 − flip) log σ(margin) − flip log σ(−margin)."""
    return _engine.conservative_dpo_loss(margin, flip)


def robust_dpo_loss(margin: Any, flip: Any) -> Any:
    """(−(1 − flip) log σ(margin) + flip log σ(−margin)) / (1 − 2 flip): unbiased where a share `flip` of the pairs is turned round."""
    return _engine.robust_dpo_loss(margin, flip)
