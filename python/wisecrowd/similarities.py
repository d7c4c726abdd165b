"""Answers that say whether two items are the same: clusters of items, and how often workers err.

>>> import pandas as pd
>>> from wisecrowd import similarities
>>> answers = pd.DataFrame({"worker": ["u", "u", "u", "v", "v"], "left": ["a", "b", "c", "a", "b"], "right": ["b", "c", "d", "b", "d"],
...                         "label": ["same", "different", "same", "same", "different"]})
>>> similarities.PairVote().fit_predict(answers).to_dict()
{'a': '1', 'b': '1', 'c': '2', 'd': '2'}
"""
from ._engine import similarity_methods as _methods
from ._parameters import class_name as _class_name
from ._similarities import SimilarityAggregator, compare, evaluate, make_class

CLASSES = {info["name"]: make_class(info, _class_name(info["name"]), __name__) for info in _methods()}
globals().update({cls.__name__: cls for cls in CLASSES.values()})
__all__ = ["SimilarityAggregator", "compare", "evaluate", *(cls.__name__ for cls in CLASSES.values())]
