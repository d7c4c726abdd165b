"""What the estimators for sequences have in common: reading tables, the fit, scores."""
from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Optional, Sequence

import numpy as np
import pandas as pd

from . import _engine
from ._kind_estimator import KindEstimator
from ._numbers import _table
from ._tables import ALIASES, TRUTH_ALIASES, ColumnError, DataWarning, find_column, shown

_ROLES = {
    "doc": ["doc", "document", *ALIASES["task"]],
    "position": "position pos token_position token_index token_id token_no index token_number idx offset".split(),
    "worker": ALIASES["worker"],
    "tag": ["tag", "bio", "ner_tag", "tags", *ALIASES["label"]],
}


def _columns(table, roles, columns=None, what="the table", truth=False):
    chosen = {name: wanted for wanted, name in (columns or {}).items()}
    found = []
    for role in roles:
        aliases = _ROLES[role] + (list(TRUTH_ALIASES) if truth and role == "tag" else [])
        name = chosen.get(role) or find_column(table.columns, aliases)
        if name is None or name not in table.columns:
            raise ColumnError(f"{what} has no column '{role}' among {shown(list(table.columns))}: rename one, or say which one it is, "
                              f"columns={{'its name': '{role}'}}")
        if table[name].isna().any():
            raise ValueError(f"column '{name}', row {int(table[name].isna().to_numpy().argmax())}: a value is missing")
        found.append(name)
    return found


def _positions(table, name):
    numbers = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=float)
    good = (numbers >= 0) & (numbers < 2**24) & (numbers == np.floor(numbers))
    if not good.all():
        row = int((~good).argmax())
        raise ValueError(f"column '{name}', row {row}: {table[name].iloc[row]!r} is not the position of a token; number the tokens of a document "
                         "0, 1, 2 … (or 1, 2, 3 …)")
    return numbers.astype(np.int64)


def _text(values):
    return np.array([value if type(value) is str else str(value) for value in values], dtype=object)


@dataclass(repr=False)
class SequenceData:
    """What files of sequences hold, whatever their shape."""

    answers: pd.DataFrame  #: doc, position, worker, tag
    gold: Optional[pd.DataFrame]  #: doc, position, tag
    tokens: Optional[pd.DataFrame]  #: doc, position, token

    def __repr__(self):
        return f"<{len(self.answers)} tags of {self.answers.doc.nunique()} documents by {self.answers.worker.nunique()} workers>"


def read(answers: Any, gold: Optional[Any] = None, tokens: Optional[Any] = None, *, wide: bool = False, format: Optional[str] = None,
         lenient: bool = False) -> SequenceData:
    """Reads files of sequences: a row per tag, wide tables, spans, CoNLL, or exports of platforms.

    answers : file name
    gold : file name, optional
    tokens : file name, optional: doc,position,token; where answers are spans, doc,text or doc,length will do
    wide : one column per worker
    format : csv, tsv, jsonl, conll, or a platform
    lenient : leave out what cannot be read instead of refusing the file

    >>> import os, tempfile
    >>> from wisecrowd import sequences
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in ("spans.csv", "doc,worker,start,end,type\\nd,ann,0,2,PER\\nd,bob,,,\\n"), ("lengths.csv", "doc,length\\nd,3\\n"):
    ...         with open(os.path.join(folder, name), "w") as file:
    ...             _ = file.write(text)
    ...     data = sequences.read(os.path.join(folder, "spans.csv"), tokens=os.path.join(folder, "lengths.csv"))
    >>> data.answers[data.answers.worker == "ann"].tag.tolist()
    ['B-PER', 'I-PER', 'O']
    """
    paths = [None if path is None else os.fspath(path) for path in (answers, gold, tokens)]
    found = _engine.read_sequences(*paths, wide, format or "", lenient)
    for warning in found["warnings"]:
        warnings.warn(str(warning[1]), DataWarning, stacklevel=2)
    names, tags = found["document_names"], np.array(found["tag_names"], dtype=object)
    table = pd.DataFrame({"doc": names[found["documents"]], "position": found["positions"].astype(np.int64),
                          "worker": found["worker_names"][found["workers"]], "tag": tags[found["tags"]]})
    lengths = found["lengths"].astype(np.int64)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    every = pd.DataFrame({"doc": np.repeat(names, lengths), "position": np.arange(int(lengths.sum())) - starts + found["first_position"]})
    known = found["gold"] != _engine.no_tag
    truth = every[known].assign(tag=tags[found["gold"][known]]).reset_index(drop=True) if len(known) else None
    return SequenceData(table, truth, every.assign(token=found["tokens"]) if found["tokens"] else None)


class _Tokens:
    """The tokens of the documents that were answered: how long each is, and where its tokens stand among all."""

    def __init__(self, documents, parts):
        """`parts` are pairs of document codes (-1: not answered) and positions."""
        codes = np.concatenate([codes[codes >= 0] for codes, _ in parts])
        positions = np.concatenate([positions[codes >= 0] for codes, positions in parts])
        self.documents = documents
        self.base = int(min(positions.min(), 1)) if len(positions) else 0
        last = pd.Series(positions).groupby(codes).max().reindex(range(len(documents)), fill_value=self.base - 1).to_numpy()
        known = pd.Series(positions).groupby(codes).nunique().reindex(range(len(documents)), fill_value=0).to_numpy()
        self.lengths = (last + 1 - self.base).astype(np.uint32)
        if (known != self.lengths).any():
            worst = int((known != self.lengths).argmax())
            there = set(positions[codes == worst].tolist())
            missing = next(p for p in range(self.base, int(last[worst]) + 1) if p not in there)
            raise ValueError(f"document {documents[worst]!r} has no token at position {missing}: number tokens without gaps and give those outside of "
                             "spans the tag O")
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.uint64)]).astype(np.uint64)

    def index(self):
        """By document and position, as they were given."""
        documents = np.repeat(np.arange(len(self.documents)), self.lengths)
        positions = np.arange(int(self.offsets[-1])) - np.repeat(self.offsets[:-1].astype(np.int64), self.lengths) + self.base
        return pd.MultiIndex.from_arrays([self.documents[documents], positions], names=["doc", "position"])


class SequenceAggregator(KindEstimator):
    """The base of the estimators for sequences. `fit` takes a table with a row per tag: doc, position, worker, tag.

    Attributes
    ----------
    tags_ : DataFrame by doc and position: tag, and its probability
    spans_ : DataFrame: doc, first, last, type and probability of each span that the tags make
    probabilities_ : DataFrame by doc and position: the probability of every tag
    workers_ : DataFrame by worker: documents, tags and accuracy, the expected share of right tags
    tables_ : array, workers × truth × answer: how each worker tags; the order of tags is that of probabilities_
    warnings_ : list of (code, message)
    """

    _method: ClassVar[str] = ""
    _info: ClassVar[dict] = {}
    _fitted: ClassVar[tuple] = ("tags_", "spans_", "probabilities_", "workers_", "tables_", "warnings_", "status_", "n_iter_")

    def __init__(self, columns: Optional[dict] = None, seed: int = 0, threads: int = 0, **parameters: Any):
        self.columns, self.seed, self.threads = columns, seed, threads
        unknown = set(parameters) - {spec["name"] for spec in self._info.get("parameters", ())}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no parameter '{sorted(unknown)[0]}'")
        self.parameters = parameters

    def _read(self, data, gold=None):
        table = _table(data)
        doc, position, worker, tag = _columns(table, ("doc", "position", "worker", "tag"), self.columns)
        documents, document_values = pd.factorize(table[doc], sort=True)
        workers, worker_values = pd.factorize(table[worker], sort=True)
        positions = _positions(table, position)
        twice = pd.DataFrame({"d": documents, "p": positions, "w": workers}).duplicated()
        if twice.any():
            row = int(twice.to_numpy().argmax())
            raise ValueError(f"row {row}: worker {table[worker].iloc[row]!r} tagged position {positions[row]} of document {table[doc].iloc[row]!r} before; "
                             "keep one of the two")
        codes, texts = pd.factorize(table[tag].astype(str))
        parts = [(documents, positions)]
        known = None
        if gold is not None:
            known = _gold_rows(gold, document_values)
            parts.append(known[:2])
        tokens = _Tokens(pd.Index(document_values), parts)
        all_texts = list(texts) + (sorted(set(known[2]) - set(texts)) if known is not None else [])
        answers = _engine.sequence_answers(documents.astype(np.uint32), workers.astype(np.uint32), (positions - tokens.base).astype(np.uint32),
                                           codes.astype(np.uint32), all_texts, _text(document_values), _text(worker_values), tokens.lengths)
        truth = None if known is None else _gold_tags(answers, known, tokens)
        counts = pd.DataFrame({"w": workers, "d": documents}).groupby("w").d.agg(["nunique", "size"])
        return answers, tokens, pd.Index(worker_values, name="worker"), counts, truth

    def fit(self, data: Any, gold: Optional[Any] = None) -> SequenceAggregator:
        """`data` has a row per tag; `gold` has doc, position and tag of the tokens whose truth is known."""
        answers, tokens, workers, counts, truth = self._read(data, gold)
        fit = _engine.fit_sequences(answers, self._method, self.parameters, truth, self.seed, self.threads, None)
        self._answers, self._tokens, self._fit, self._known = answers, tokens, fit, truth
        names = np.array(answers.tag_names, dtype=object)
        index = tokens.index()
        self.tags_ = pd.DataFrame({"tag": names[fit["tags"]], "probability": fit["probability"]}, index=index)
        self.probabilities_ = pd.DataFrame(fit["posterior"], index=index, columns=list(names))
        types = np.array(answers.types, dtype=object)
        self.spans_ = pd.DataFrame({"doc": tokens.documents[fit["span_document"]], "first": fit["span_first"].astype(np.int64) + tokens.base,
                                    "last": fit["span_end"].astype(np.int64) - 1 + tokens.base, "type": types[fit["span_type"]],
                                    "probability": fit["span_probability"]})
        self.workers_ = pd.DataFrame({"documents": counts["nunique"].to_numpy(), "tags": counts["size"].to_numpy(), "accuracy": fit["accuracy"]},
                                     index=workers)
        self.tables_ = fit["tables"]
        self.warnings_ = list(fit["warnings"])
        self.status_, self.n_iter_ = fit["status"], fit["iterations"]
        for warning in self.warnings_:
            warnings.warn(str(warning[1]), DataWarning, stacklevel=2)
        return self

    def fit_predict(self, data: Any, gold: Optional[Any] = None):
        """The tag of each token."""
        return self.fit(data, gold).tags_["tag"]

    def report(self, path: Any = None, *, gold: Optional[Any] = None, tokens: Optional[Any] = None, title: str = "") -> Any:
        """Writes a report of what was fitted: documents with their spans, types, workers and warnings on one page that needs no network.

        path : file name, optional
            Where to write it; without, the page is returned as a str. A name that ends with .json gets the data alone.
        gold : table of doc, position and tag, optional
            Known truth that the fit did not see: the tags are scored on it. Not for fits that were given gold.
        tokens : table of doc, position and token, optional
            The texts, to be shown with their spans.
        title : what the page is called

        Returns the path, or the page.
        """
        def write(seen, is_json):
            known = _gold_tags(self._answers, _gold_rows(gold, self._tokens.documents), self._tokens) if gold is not None else self._known
            texts = [] if tokens is None else _token_texts(tokens, self._tokens)
            return _engine.report_sequences(self._answers, self._fit, self._method, self.parameters, known, seen, texts, self._tokens.base, title or "", is_json,
                                            self.seed, self.threads, None)
        return self._report(path, gold, write)


def _gold_rows(gold, documents):
    """Document codes (-1 where nobody answered), positions and texts of the tags."""
    table = _table(gold.reset_index() if isinstance(gold, (pd.Series, pd.DataFrame)) and isinstance(gold.index, pd.MultiIndex) else gold)
    doc, position, tag = _columns(table, ("doc", "position", "tag"), None, "gold", truth=True)
    positions = _positions(table, position)
    twice = pd.DataFrame({"d": table[doc].to_numpy(), "p": positions}).duplicated()
    if twice.any():
        row = int(twice.to_numpy().argmax())
        raise ValueError(f"gold, row {row}: position {positions[row]} of document {table[doc].iloc[row]!r} stands there twice; keep one of the two")
    return pd.Index(documents).get_indexer(table[doc]), positions, table[tag].astype(str).to_numpy()


def _token_texts(table, tokens):
    table = _table(table)
    doc, position = _columns(table, ("doc", "position"), None, "the table of tokens")
    token = find_column(table.columns, ["token", "word", "text", "form", "token_text"])
    if token is None:
        raise ColumnError(f"the table of tokens has no column 'token' among {shown(list(table.columns))}")
    texts = pd.Series(table[token].astype(str).to_numpy(), index=pd.MultiIndex.from_arrays([table[doc], _positions(table, position)]))
    return texts[~texts.index.duplicated()].reindex(tokens.index()).fillna("").tolist()


def _gold_tags(answers, known, tokens):
    codes, positions, texts = known
    here = (codes >= 0) & (positions >= tokens.base)
    here[here] &= positions[here] - tokens.base < tokens.lengths[codes[here]]  # of tokens that there are
    truth = np.full(int(tokens.offsets[-1]), _engine.no_tag, dtype=np.uint16)
    places = tokens.offsets[codes[here]].astype(np.int64) + positions[here] - tokens.base
    truth[places] = _engine.sequence_tags(answers, list(texts[here]))
    return truth


def make_class(info: dict, name: str, module: str) -> type:
    """The estimator of a method of the engine."""
    text = f"{info['summary']}\n\n{info['when_to_use']}\n" + (SequenceAggregator.__doc__ or "").split("\n", 1)[1]
    return type(name, (SequenceAggregator,), {"_method": info["name"], "_info": info, "__doc__": text, "__module__": module})


def evaluate(tags: Any, gold: Any) -> pd.DataFrame:
    """Scores tags against gold, both tables of doc, position and tag: precision, recall and F1 of spans with 95 % intervals.

    `tags` may be a fitted estimator. Rows are strict (both ends and the type agree), relaxed (a token is shared and the type agrees) and, strict, every
    type. `attrs` of the result holds documents, tokens and token_accuracy.
    """
    if isinstance(tags, SequenceAggregator):
        tags = tags.tags_
    found = tags.reset_index() if isinstance(tags.index, pd.MultiIndex) else tags
    doc, position, tag = _columns(found, ("doc", "position", "tag"), None, "the table of tags")
    table = pd.DataFrame({"doc": found[doc].to_numpy(), "position": _positions(found, position), "tag": found[tag].astype(str).to_numpy(), "worker": 0})
    answers, tokens, _, _, truth = SequenceAggregator()._read(table, gold)
    own = np.full(int(tokens.offsets[-1]), _engine.no_tag, dtype=np.uint16)
    places = tokens.offsets[pd.Index(tokens.documents).get_indexer(table.doc)].astype(np.int64) + table.position.to_numpy() - tokens.base
    own[places] = _engine.sequence_tags(answers, list(table.tag))
    documents, count, accuracy, strict, relaxed, by_type = _engine.evaluate_sequences(tokens.offsets, own, truth, len(answers.types))
    scores = pd.DataFrame([strict, relaxed, *by_type], index=["strict", "relaxed", *answers.types])
    scores.attrs.update(documents=documents, tokens=count, token_accuracy=accuracy)
    return scores


def compare(data: Any, methods: Optional[Sequence[str]] = None, folds: int = 5, share: float = 0.1, seed: int = 0, threads: int = 0,
            **reading: Any) -> pd.DataFrame:
    """Methods by the log probability that each, fitted to the other answers, gives to all that a hidden worker said of a document: higher is better.

    No gold is needed.
    """
    answers = SequenceAggregator(**reading)._read(data)[0]
    chosen = list(methods) if methods else [info["name"] for info in _engine.sequence_methods()]
    rows = _engine.compare_sequences(answers, chosen, folds, share, seed, threads)
    if not rows:
        raise ValueError("no answer can be hidden, because each document has one at most")
    return pd.DataFrame(rows).set_index("method").sort_values("log_probability", ascending=False)
