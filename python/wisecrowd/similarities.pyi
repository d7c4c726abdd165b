# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Literal, Optional, Sequence

from ._similarities import SimilarityAggregator as SimilarityAggregator, compare as compare, evaluate as evaluate

__all__ = [
    'SimilarityAggregator',
    'compare',
    'evaluate',
    'CrowdClusters',
    'PairVote',
]
CLASSES: dict[str, type[SimilarityAggregator]]

class CrowdClusters(SimilarityAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        clusters: int = ...,
        max_clusters: int = ...,
        restarts: int = ...,
        hidden_share: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class PairVote(SimilarityAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        grouping: Literal['correlation', 'components'] = ...,
    ) -> None: ...
