# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Literal, Optional, Sequence

from ._numbers import NumberAggregator as NumberAggregator, compare as compare, evaluate as evaluate

__all__ = [
    'NumberAggregator',
    'compare',
    'evaluate',
    'Mean',
    'Median',
]
CLASSES: dict[str, type[NumberAggregator]]

class Mean(NumberAggregator): ...

class Median(NumberAggregator): ...
