"""Answers that are sequences: tags of the tokens of a document, in the BIO scheme.

>>> import pandas as pd
>>> from wisecrowd import sequences
>>> said = {"ann": ["B-PER", "I-PER", "O"], "bob": ["B-PER", "I-PER", "O"], "cid": ["O", "O", "O"]}
>>> answers = pd.DataFrame([("d", t, worker, tag) for worker, tags in said.items() for t, tag in enumerate(tags)],
...                        columns=["doc", "position", "worker", "tag"])
>>> sequences.TokenVote().fit(answers).spans_[["doc", "first", "last", "type"]]
  doc  first  last type
0   d      0     1  PER
"""
from ._engine import sequence_methods as _methods
from ._parameters import class_name as _class_name
from ._sequences import SequenceAggregator, SequenceData, compare, evaluate, make_class, read

CLASSES = {info["name"]: make_class(info, _class_name(info["name"]), __name__) for info in _methods()}
globals().update({cls.__name__: cls for cls in CLASSES.values()})
__all__ = ["SequenceAggregator", "SequenceData", "compare", "evaluate", "read", *(cls.__name__ for cls in CLASSES.values())]
