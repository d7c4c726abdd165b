"""Answers that are numbers: ratings, measurements, points, boxes.

>>> import pandas as pd
>>> from wisecrowd import numbers
>>> answers = pd.DataFrame({"task": ["a", "a", "a", "b", "b"], "worker": ["u", "v", "w", "u", "v"], "value": [1, 2, 9, 4, 6]})
>>> numbers.Median().fit_predict(answers)
task
a    2.0
b    5.0
Name: estimate, dtype: float64
"""
from ._engine import number_learning_methods as _learners
from ._engine import number_methods as _methods
from ._numbers import NumberAggregator, NumberLearner, compare, evaluate, make_class
from ._parameters import class_name as _class_name

CLASSES = {info["name"]: make_class(info, _class_name(info["name"]), __name__) for info in _methods()}
LEARNERS = {info["name"]: make_class(info, _class_name(info["name"]), __name__, NumberLearner) for info in _learners()}
globals().update({cls.__name__: cls for cls in (*CLASSES.values(), *LEARNERS.values())})
__all__ = ["NumberAggregator", "NumberLearner", "compare", "evaluate", *(cls.__name__ for cls in CLASSES.values()), *(cls.__name__ for cls in LEARNERS.values())]
