# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Literal, Optional, Sequence

from ._numbers import NumberAggregator as NumberAggregator, NumberLearner as NumberLearner, compare as compare, evaluate as evaluate

__all__ = [
    'NumberAggregator',
    'NumberLearner',
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
    'CrowdRegression',
]
CLASSES: dict[str, type[NumberAggregator]]
LEARNERS: dict[str, type[NumberLearner]]

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

class CrowdRegression(NumberLearner):
    def __init__(
        self,
        values: Optional[Sequence[str]] = ...,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        *,
        layer: Literal['automatic', 'none', 'S', 'B', 'S+B', 'B+S'] = ...,
        own_noise: bool = ...,
        task_error: bool = ...,
        prior_answers: float = ...,
        epochs: int = ...,
        batch: int = ...,
        optimizer: Literal['adam', 'rmsprop', 'sgd'] = ...,
        learning_rate: float = ...,
        weight_decay: float = ...,
        decoupled_decay: float = ...,
        input_dropout: float = ...,
        schedule: Literal['constant', 'cosine', 'one_cycle'] = ...,
        average_epochs: float = ...,
        held_out: float = ...,
        patience: int = ...,
        standardise: bool = ...,
    ) -> None: ...
