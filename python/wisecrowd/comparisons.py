"""Answers that say which of two items is better: rankings with intervals, workers, preferences.

>>> import pandas as pd
>>> from wisecrowd import comparisons
>>> answers = pd.DataFrame({"worker": ["u", "v", "w", "u"], "left": ["a", "a", "b", "b"], "right": ["b", "b", "a", "a"], "label": ["a", "a", "a", "b"]})
>>> comparisons.BradleyTerry().fit_predict(answers).round(3)
item
a    0.549
b   -0.549
Name: score, dtype: float64
"""
from ._comparisons import ComparisonAggregator, ScoreNetwork, compare, conservative_dpo_loss, dpo_loss, make_class, robust_dpo_loss
from ._engine import comparison_methods as _methods
from ._parameters import class_name as _class_name

CLASSES = {info["name"]: make_class(info, _class_name(info["name"]), __name__) for info in _methods()}
globals().update({cls.__name__: cls for cls in CLASSES.values()})
__all__ = ["ComparisonAggregator", "ScoreNetwork", "compare", "conservative_dpo_loss", "dpo_loss", "robust_dpo_loss", *(cls.__name__ for cls in CLASSES.values())]
