# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Literal, Optional

from ._sequences import SequenceAggregator as SequenceAggregator, SequenceData as SequenceData, compare as compare, evaluate as evaluate, read as read

__all__ = [
    'SequenceAggregator',
    'SequenceData',
    'compare',
    'evaluate',
    'read',
    'Bsc',
    'HmmCrowd',
    'TokenIbcc',
    'TokenVote',
]
CLASSES: dict[str, type[SequenceAggregator]]

class Bsc(SequenceAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        worker_model: Literal['seq', 'cm', 'cv'] = ...,
        right_prior: float = ...,
        wrong_prior: float = ...,
        transition_prior: float = ...,
        bio: bool = ...,
        decode: Literal['marginals', 'viterbi'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class HmmCrowd(SequenceAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        pseudo_count: float = ...,
        transition_pseudo_count: float = ...,
        bio: bool = ...,
        decode: Literal['marginals', 'viterbi'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class TokenIbcc(SequenceAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        right_prior: float = ...,
        wrong_prior: float = ...,
        tag_prior: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class TokenVote(SequenceAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        ties: Literal['commonest', 'lowest', 'random'] = ...,
    ) -> None: ...
