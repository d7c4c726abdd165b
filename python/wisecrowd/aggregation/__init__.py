"""An estimator per aggregation method of the engine: labels from answers alone.

>>> import pandas as pd
>>> from wisecrowd.aggregation import DawidSkene
>>> answers = pd.DataFrame(
...     [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t2", "ann", "dog"), ("t2", "bob", "dog"), ("t2", "cid", "cat")],
...     columns=["task", "worker", "label"])
>>> DawidSkene(100).fit_predict(answers).to_dict()
{'t1': 'cat', 't2': 'dog'}
"""
from .._aggregator import Aggregator, make_class
from .._crowd_kit import CROWD_KIT, ITERATIONS
from .._engine import aggregation_methods as _methods
from .._parameters import class_name as _class_name
from .._votes import GoldMajorityVote, SegmentationMajorityVote


def _make(info):
    special = dict(CROWD_KIT.get(info["name"], {}))
    base = special.pop("base", Aggregator)
    names = {spec["name"] for spec in info["parameters"]} | {"seed"}
    synonyms = {theirs: ours for theirs, ours in ITERATIONS.items() if ours.name in names}
    synonyms.update(special.pop("synonyms", {}))
    return make_class(info, base, _class_name(info["name"]), __name__, synonyms=synonyms, **special)


CLASSES = {info["name"]: _make(info) for info in _methods()}
globals().update({cls.__name__: cls for cls in CLASSES.values()})
__all__ = ["Aggregator", "GoldMajorityVote", "SegmentationMajorityVote", *(cls.__name__ for cls in CLASSES.values())]
