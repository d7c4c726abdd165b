"""Answers that are sets of classes: tags, diagnoses, topics. The empty set is an answer.

>>> import pandas as pd
>>> from wisecrowd import sets
>>> answers = pd.DataFrame({"task": ["a", "a", "a", "b"], "worker": ["u", "v", "w", "u"], "label": [["x", "y"], ["x"], ["x", "y"], []]})
>>> sets.BinaryRelevance(base="majority").fit_predict(answers)
task
a    [x, y]
b        []
Name: agg_label, dtype: object
"""
from ._engine import set_methods as _methods
from ._parameters import class_name as _class_name
from ._sets import SetAggregator, compare, evaluate, make_class

CLASSES = {info["name"]: make_class(info, _class_name(info["name"]), __name__) for info in _methods()}
globals().update({cls.__name__: cls for cls in CLASSES.values()})
__all__ = ["SetAggregator", "compare", "evaluate", *(cls.__name__ for cls in CLASSES.values())]
