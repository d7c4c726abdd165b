# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Literal, Optional, Sequence

from ._numbers import NumberAggregator as NumberAggregator, compare as compare, evaluate as evaluate

__all__ = [
    'NumberAggregator',
    'compare',
    'evaluate',
    'NumbersAutomatic',
    'Mean',
    'Median',
    'TrimmedMean',
    'CrhNumbers',
    'GaussianEm',
    'StudentEm',
    'WorkerTypes',
    'WorkerCovariance',
]
CLASSES: dict[str, type[NumberAggregator]]

class NumbersAutomatic(NumberAggregator):
    def __init__(
        self,
        values: Optional[Sequence[str]] = ...,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        threshold: float = ...,
        folds: int = ...,
        most_answers: int = ...,
    ) -> None: ...

class Mean(NumberAggregator): ...

class Median(NumberAggregator): ...

class TrimmedMean(NumberAggregator):
    def __init__(
        self,
        values: Optional[Sequence[str]] = ...,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        share: float = ...,
    ) -> None: ...

class CrhNumbers(NumberAggregator):
    def __init__(
        self,
        values: Optional[Sequence[str]] = ...,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        distance: Literal['squared', 'absolute'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class GaussianEm(NumberAggregator):
    def __init__(
        self,
        values: Optional[Sequence[str]] = ...,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        bias: bool = ...,
        prior_answers: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class StudentEm(NumberAggregator):
    def __init__(
        self,
        values: Optional[Sequence[str]] = ...,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        degrees: float = ...,
        bias: bool = ...,
        prior_answers: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class WorkerTypes(NumberAggregator):
    def __init__(
        self,
        values: Optional[Sequence[str]] = ...,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        types: int = ...,
        ratio: float = ...,
        learn_shares: bool = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class WorkerCovariance(NumberAggregator):
    def __init__(
        self,
        values: Optional[Sequence[str]] = ...,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        prior_tasks: float = ...,
        strictness: float = ...,
        max_iterations: int = ...,
    ) -> None: ...
