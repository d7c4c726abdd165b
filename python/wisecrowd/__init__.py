"""Learning from crowds: many people (or models) label the same data; here are the true labels, and whom to trust.

>>> import wisecrowd
>>> crowd = wisecrowd.simulate("hammer_spammer", tasks=1000, workers=40, classes=3, seed=1)
>>> labels = wisecrowd.Automatic().fit_predict(crowd.answers)
>>> bool((labels == crowd.gold).mean() > 0.95)
True

Estimators have the names and the shapes of crowd-kit: code that was written for it runs after changing the import.
"""
from . import aggregation, learning
from ._columns import DataWarning
from ._engine import __version__
from ._parameters import NotFittedError
from .aggregation import *  # noqa: F403
from .learning import *  # noqa: F403
from .tools import Description, Evaluation, Simulation, compare, describe, estimator, evaluate, methods, simulate, simulation_kinds

__all__ = [
    *aggregation.__all__, *learning.__all__, "DataWarning", "Description", "Evaluation", "NotFittedError", "Simulation", "__version__",
    "compare", "describe", "estimator", "evaluate", "methods", "simulate", "simulation_kinds",
]  # fmt: skip
