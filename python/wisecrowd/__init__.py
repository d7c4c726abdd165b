"""Learning from crowds: many people (or models) label the same data; here are the true labels, and whom to trust.

>>> import wisecrowd
>>> crowd = wisecrowd.simulate("hammer_spammer", tasks=1000, workers=40, classes=3, seed=1)
>>> labels = wisecrowd.Automatic().fit_predict(crowd.answers)
>>> bool((labels == crowd.gold).mean() > 0.95)
True

Estimators have the names and the shapes of crowd-kit: code that was written for it runs after changing the import.
"""
import numpy as _numpy

from . import _cpu

_cpu.load()
from . import _engine

if int(_numpy.__version__.partition(".")[0]) >= 2 and not _engine.numpy_2:
    raise ImportError(f"this build of wisecrowd is for numpy 1, and numpy {_numpy.__version__} is installed: build it with pybind11 2.12 or "
                      "later (pip install . does), or use the numpy that it was built for")

from . import aggregation, fairness, judges, learning
from ._asking import Advice, Replay, advise, policies, replay, select
from ._dalc_loop import DalcLoop, dalc_loop
from ._engine import __version__
from ._model import Model, load_model
from ._parameters import NotFittedError
from ._rowwise import answers_by_row
from ._platforms import PlatformData, convert, platforms, read_platform
from ._state import CrowdState
from ._tables import ColumnError, DataWarning
from ._trust import Trust, trust
from .aggregation import *  # noqa: F403
from .learning import *  # noqa: F403
from .tools import Description, Evaluation, Simulation, compare, describe, estimator, evaluate, methods, simulate, simulation_kinds

__all__ = [
    *aggregation.__all__, *learning.__all__, "Advice", "ColumnError", "CrowdState", "DalcLoop", "DataWarning", "Description", "Evaluation", "Model", "NotFittedError", "Replay",
    "Simulation", "__version__", "advise", "answers_by_row", "compare", "dalc_loop", "describe", "estimator", "evaluate", "load_model", "methods", "policies", "replay", "select",
    "PlatformData", "Trust", "convert", "platforms", "read_platform", "simulate", "simulation_kinds", "trust",
]  # fmt: skip
