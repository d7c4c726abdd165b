# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Literal, Optional, Sequence

from ._comparisons import ComparisonAggregator as ComparisonAggregator, ScoreNetwork as ScoreNetwork, compare as compare
from ._comparisons import conservative_dpo_loss as conservative_dpo_loss, dpo_loss as dpo_loss, robust_dpo_loss as robust_dpo_loss

__all__ = [
    'ComparisonAggregator',
    'ScoreNetwork',
    'compare',
    'conservative_dpo_loss',
    'dpo_loss',
    'robust_dpo_loss',
    'BradleyTerry',
    'Davidson',
    'CrowdBt',
    'NoisyBradleyTerry',
    'PreferenceGroups',
    'ComparisonsDefault',
]
CLASSES: dict[str, type[ComparisonAggregator]]

class BradleyTerry(ComparisonAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        ridge: float = ...,
        intervals: Literal['analytic', 'bootstrap'] = ...,
        replicates: int = ...,
        resample: Literal['answers', 'workers'] = ...,
        algorithm: Literal['newton', 'minorisation'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class Davidson(ComparisonAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        ridge: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class CrowdBt(ComparisonAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        prior_right: float = ...,
        prior_wrong: float = ...,
        virtual_games: float = ...,
        start_reliability: float = ...,
        intervals: Literal['analytic', 'bootstrap'] = ...,
        replicates: int = ...,
        resample: Literal['answers', 'workers'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class NoisyBradleyTerry(ComparisonAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        prior_right: float = ...,
        prior_wrong: float = ...,
        virtual_games: float = ...,
        side_prior: float = ...,
        start_reliability: float = ...,
        intervals: Literal['analytic', 'bootstrap'] = ...,
        replicates: int = ...,
        resample: Literal['answers', 'workers'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class PreferenceGroups(ComparisonAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        groups: int = ...,
        restarts: int = ...,
        virtual_games: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
    ) -> None: ...

class ComparisonsDefault(ComparisonAggregator):
    def __init__(
        self,
        columns: Optional[dict] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        *,
        folds: int = ...,
        share: float = ...,
    ) -> None: ...
