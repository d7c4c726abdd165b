# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Literal, Optional, Sequence

from ._sets import SetAggregator as SetAggregator, compare as compare, evaluate as evaluate

__all__ = [
    'SetAggregator',
    'compare',
    'evaluate',
    'BestRelevance',
    'BinaryRelevance',
    'SharedRelevance',
    'ProfileRelevance',
]
CLASSES: dict[str, type[SetAggregator]]

class BestRelevance(SetAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        classes: Optional[Sequence[Any]] = ...,
        separator: str = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        evidence: float = ...,
        folds: int = ...,
        most_profiles: int = ...,
        most_answers: int = ...,
        threshold: float = ...,
        candidates: Literal['automatic', 'all', 'named'] = ...,
    ) -> None: ...

class BinaryRelevance(SetAggregator):
    def __init__(
        self,
        base_aggregator: Any = ...,
        *,
        columns: Optional[dict] = ...,
        classes: Optional[Sequence[Any]] = ...,
        separator: str = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        base: Literal['dawid_skene', 'majority'] = ...,
        pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        threshold: float = ...,
        candidates: Literal['automatic', 'all', 'named'] = ...,
    ) -> None: ...

class SharedRelevance(SetAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        classes: Optional[Sequence[Any]] = ...,
        separator: str = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        threshold: float = ...,
        candidates: Literal['automatic', 'all', 'named'] = ...,
    ) -> None: ...

class ProfileRelevance(SetAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        classes: Optional[Sequence[Any]] = ...,
        separator: str = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        profiles: int = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        threshold: float = ...,
        candidates: Literal['automatic', 'all', 'named'] = ...,
    ) -> None: ...
