# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Callable, Iterable, Literal, Optional, Union

from .._aggregator import Aggregator as Aggregator
from .._crowd_kit import DawidSkeneBase, GLADBase, MACEBase, MMSRBase, MajorityVoteBase, OneCoinBase, WawaBase, ZeroBasedSkillBase
from .._votes import GoldMajorityVote as GoldMajorityVote, SegmentationMajorityVote as SegmentationMajorityVote

__all__ = [
    'Aggregator',
    'GoldMajorityVote',
    'SegmentationMajorityVote',
    'Automatic',
    'MajorityVote',
    'Wawa',
    'ZeroBasedSkill',
    'Crh',
    'OneCoinDawidSkene',
    'ConfusionVector',
    'DawidSkene',
    'HierarchicalDawidSkene',
    'GroupDawidSkene',
    'GraphDawidSkene',
    'IBCC',
    'SpammerMixture',
    'Gibbs',
    'BP',
    'GLAD',
    'MACE',
    'WorkerClusters',
    'CBCC',
    'EBCC',
    'MinimaxEntropy',
    'OrdinalDawidSkene',
    'LatentOrdinal',
    'MaxMargin',
    'KOS',
    'MultiSPA',
    'CNMF',
    'SymmetricNMF',
    'CoupledTensor',
    'SpectralEM',
    'SML',
    'Jaffe',
    'EigenRatio',
    'PGD',
    'MMSR',
]
CLASSES: dict[str, type[Aggregator]]

class Automatic(Aggregator):
    find_groups: bool
    pool: bool
    calibrate: bool
    evidence: float
    folds: int
    tested: int
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        find_groups: bool = ...,
        pool: bool = ...,
        calibrate: bool = ...,
        evidence: float = ...,
        folds: int = ...,
        tested: int = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        random_state: Any = ...,
    ) -> None: ...

class MajorityVote(MajorityVoteBase):
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    default_skill: Optional[float]
    on_missing_skill: str
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        default_skill: Optional[float] = ...,
        on_missing_skill: str = ...,
        *,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        random_state: Any = ...,
    ) -> None: ...

class Wawa(WawaBase):
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        random_state: Any = ...,
    ) -> None: ...

class ZeroBasedSkill(ZeroBasedSkillBase):
    max_iterations: int
    learning_rate: float
    halve_every: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        max_iterations: int = ...,
        learning_rate: float = ...,
        halve_every: int = ...,
        *,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
        lr_init: Any = ...,
        lr_steps_to_reduce: Any = ...,
        lr_reduce_factor: Any = ...,
        eps: Any = ...,
    ) -> None: ...

class Crh(Aggregator):
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class OneCoinDawidSkene(OneCoinBase):
    right_pseudo_count: float
    wrong_pseudo_count: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    initial_error_strategy: Optional[str]
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        max_iterations: int = ...,
        tolerance: float = ...,
        initial_error_strategy: Optional[str] = ...,
        *,
        right_pseudo_count: float = ...,
        wrong_pseudo_count: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class ConfusionVector(Aggregator):
    right_pseudo_count: float
    wrong_pseudo_count: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        right_pseudo_count: float = ...,
        wrong_pseudo_count: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class DawidSkene(DawidSkeneBase):
    pseudo_count: float
    diagonal_pseudo_count: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    initial_error_strategy: Optional[str]
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        max_iterations: int = ...,
        tolerance: float = ...,
        initial_error_strategy: Optional[str] = ...,
        *,
        pseudo_count: float = ...,
        diagonal_pseudo_count: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class HierarchicalDawidSkene(Aggregator):
    right_pseudo_count: float
    wrong_pseudo_count: float
    confusion_pseudo_count: float
    favourite_pseudo_count: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        right_pseudo_count: float = ...,
        wrong_pseudo_count: float = ...,
        confusion_pseudo_count: float = ...,
        favourite_pseudo_count: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class GroupDawidSkene(Aggregator):
    discovery: Literal['guarded', 'linkage']
    most_groups: int
    pseudo_count: float
    diagonal_pseudo_count: float
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        discovery: Literal['guarded', 'linkage'] = ...,
        most_groups: int = ...,
        pseudo_count: float = ...,
        diagonal_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class GraphDawidSkene(Aggregator):
    strength: float
    normalise_weights: bool
    inference: Literal['mean_field', 'bp']
    sweeps: int
    pseudo_count: float
    class_prior: Literal['learned', 'uniform']
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        strength: float = ...,
        normalise_weights: bool = ...,
        inference: Literal['mean_field', 'bp'] = ...,
        sweeps: int = ...,
        pseudo_count: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class IBCC(Aggregator):
    coins: Literal['full', 'one_coin']
    diagonal_prior: float
    off_diagonal_prior: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        coins: Literal['full', 'one_coin'] = ...,
        diagonal_prior: float = ...,
        off_diagonal_prior: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class SpammerMixture(Aggregator):
    diagonal_prior: float
    off_diagonal_prior: float
    spammer_prior: float
    honest_before: float
    spammers_before: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        diagonal_prior: float = ...,
        off_diagonal_prior: float = ...,
        spammer_prior: float = ...,
        honest_before: float = ...,
        spammers_before: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class Gibbs(Aggregator):
    sampler: Literal['collapsed', 'uncollapsed']
    chains: int
    burn_in: int
    sweeps: int
    thin: int
    diagonal_prior: float
    off_diagonal_prior: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    align: Literal['automatic', 'always', 'never']
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        sampler: Literal['collapsed', 'uncollapsed'] = ...,
        chains: int = ...,
        burn_in: int = ...,
        sweeps: int = ...,
        thin: int = ...,
        diagonal_prior: float = ...,
        off_diagonal_prior: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        align: Literal['automatic', 'always', 'never'] = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        random_state: Any = ...,
    ) -> None: ...

class BP(Aggregator):
    model: Literal['one_coin', 'two_coin', 'tables']
    messages: Literal['quadrature', 'recursion', 'division', 'particles']
    prior: Literal['beta', 'mixture', 'two_points', 'spammer_hammer']
    right: float
    wrong: float
    second_share: float
    second_right: float
    second_wrong: float
    point: float
    second_point: float
    diagonal: float
    off_diagonal: float
    particles: int
    damping: float
    class_prior: Literal['uniform', 'learned']
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        model: Literal['one_coin', 'two_coin', 'tables'] = ...,
        messages: Literal['quadrature', 'recursion', 'division', 'particles'] = ...,
        prior: Literal['beta', 'mixture', 'two_points', 'spammer_hammer'] = ...,
        right: float = ...,
        wrong: float = ...,
        second_share: float = ...,
        second_right: float = ...,
        second_wrong: float = ...,
        point: float = ...,
        second_point: float = ...,
        diagonal: float = ...,
        off_diagonal: float = ...,
        particles: int = ...,
        damping: float = ...,
        class_prior: Literal['uniform', 'learned'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class GLAD(GLADBase):
    ability_mean: float
    ability_variance: float
    easiness_mean: float
    easiness_variance: float
    class_prior: Literal['uniform', 'learned']
    max_iterations: int
    tolerance: float
    newton_steps: int
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        max_iterations: int = ...,
        tolerance: float = ...,
        *,
        ability_mean: float = ...,
        ability_variance: float = ...,
        easiness_mean: float = ...,
        easiness_variance: float = ...,
        class_prior: Literal['uniform', 'learned'] = ...,
        newton_steps: int = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
        silent: Any = ...,
        labels_priors: Any = ...,
        alphas_priors_mean: Any = ...,
        betas_priors_mean: Any = ...,
        m_step_max_iter: Any = ...,
        m_step_tol: Any = ...,
    ) -> None: ...

class MACE(MACEBase):
    inference: Literal['variational', 'em']
    guesses: Literal['own', 'uniform']
    pseudo_count: float
    trust_prior: float
    guess_prior: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        restarts: int = ...,
        max_iterations: int = ...,
        inference: Literal['variational', 'em'] = ...,
        *,
        guesses: Literal['own', 'uniform'] = ...,
        pseudo_count: float = ...,
        trust_prior: float = ...,
        guess_prior: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        tolerance: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
        n_restarts: Any = ...,
        method: Any = ...,
        smoothing: Any = ...,
        default_noise: Any = ...,
        alpha: Any = ...,
        beta: Any = ...,
        verbose: Any = ...,
    ) -> None: ...

class WorkerClusters(Aggregator):
    communities: int
    most_communities: int
    pseudo_count: float
    diagonal_pseudo_count: float
    membership_prior: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        communities: int = ...,
        most_communities: int = ...,
        pseudo_count: float = ...,
        diagonal_pseudo_count: float = ...,
        membership_prior: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class CBCC(Aggregator):
    strength: float
    communities: int
    most_communities: int
    pseudo_count: float
    diagonal_pseudo_count: float
    membership_prior: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        strength: float = ...,
        communities: int = ...,
        most_communities: int = ...,
        pseudo_count: float = ...,
        diagonal_pseudo_count: float = ...,
        membership_prior: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class EBCC(Aggregator):
    subtypes: int
    subtype_prior: float
    diagonal_prior: float
    off_diagonal_prior: float
    row_prior: Literal['fixed', 'learned']
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    restarts: int
    combine: Literal['best', 'average']
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        subtypes: int = ...,
        subtype_prior: float = ...,
        diagonal_prior: float = ...,
        off_diagonal_prior: float = ...,
        row_prior: Literal['fixed', 'learned'] = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        restarts: int = ...,
        combine: Literal['best', 'average'] = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class MinimaxEntropy(Aggregator):
    form: Literal['categorical', 'ordinal', 'ordinal_pairs']
    decision: Literal['mode', 'median', 'mean']
    worker_penalty: float
    task_penalty: float
    class_prior: Literal['learned', 'uniform']
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        form: Literal['categorical', 'ordinal', 'ordinal_pairs'] = ...,
        decision: Literal['mode', 'median', 'mean'] = ...,
        worker_penalty: float = ...,
        task_penalty: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class OrdinalDawidSkene(Aggregator):
    decision: Literal['mode', 'median', 'mean']
    pseudo_count: float
    diagonal_pseudo_count: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    start: Literal['votes', 'majority', 'random']
    restarts: int
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        decision: Literal['mode', 'median', 'mean'] = ...,
        pseudo_count: float = ...,
        diagonal_pseudo_count: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        start: Literal['votes', 'majority', 'random'] = ...,
        restarts: int = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class LatentOrdinal(Aggregator):
    decision: Literal['mode', 'median', 'mean']
    bias_spread: float
    noise_spread: float
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        decision: Literal['mode', 'median', 'mean'] = ...,
        bias_spread: float = ...,
        noise_spread: float = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class MaxMargin(Aggregator):
    cost: float
    margin: float
    usual_weight: float
    max_iterations: int
    passes: int
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        cost: float = ...,
        margin: float = ...,
        usual_weight: float = ...,
        max_iterations: int = ...,
        passes: int = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class KOS(Aggregator):
    variant: Literal['messages', 'singular']
    many_classes: Literal['one_vs_rest', 'thresholds', 'refuse']
    start: Literal['votes', 'random']
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        max_iterations: int = ...,
        seed: int = ...,
        *,
        variant: Literal['messages', 'singular'] = ...,
        many_classes: Literal['one_vs_rest', 'thresholds', 'refuse'] = ...,
        start: Literal['votes', 'random'] = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class MultiSPA(Aggregator):
    min_common: int
    column_shrinkage: float
    pseudo_count: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        min_common: int = ...,
        column_shrinkage: float = ...,
        pseudo_count: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        random_state: Any = ...,
    ) -> None: ...

class CNMF(Aggregator):
    solver: Literal['em', 'mirror_descent']
    weights: Literal['tasks', 'equal']
    min_common: int
    pseudo_count: float
    max_iterations: int
    tolerance: float
    start: Literal['multispa', 'votes', 'random']
    column_shrinkage: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        solver: Literal['em', 'mirror_descent'] = ...,
        weights: Literal['tasks', 'equal'] = ...,
        min_common: int = ...,
        pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        start: Literal['multispa', 'votes', 'random'] = ...,
        column_shrinkage: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class SymmetricNMF(Aggregator):
    loss: Literal['squares', 'absolute']
    min_common: int
    pull: float
    max_iterations: int
    tolerance: float
    start: Literal['votes', 'imputation', 'random']
    rotations: int
    pseudo_count: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        loss: Literal['squares', 'absolute'] = ...,
        min_common: int = ...,
        pull: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        start: Literal['votes', 'imputation', 'random'] = ...,
        rotations: int = ...,
        pseudo_count: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class CoupledTensor(Aggregator):
    min_common: int
    triples_per_worker: int
    pull: float
    max_iterations: int
    tolerance: float
    start: Literal['votes', 'random']
    pseudo_count: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        min_common: int = ...,
        triples_per_worker: int = ...,
        pull: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        start: Literal['votes', 'random'] = ...,
        pseudo_count: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class SpectralEM(Aggregator):
    partitions: int
    power_starts: int
    power_iterations: int
    pseudo_count: float
    class_prior: Literal['learned', 'uniform']
    class_pseudo_count: float
    max_iterations: int
    tolerance: float
    acceleration: Literal['none', 'squarem']
    gold_weight: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        partitions: int = ...,
        power_starts: int = ...,
        power_iterations: int = ...,
        pseudo_count: float = ...,
        class_prior: Literal['learned', 'uniform'] = ...,
        class_pseudo_count: float = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        acceleration: Literal['none', 'squarem'] = ...,
        gold_weight: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class SML(Aggregator):
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class Jaffe(Aggregator):
    balance: Literal['moments', 'likelihood']
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        balance: Literal['moments', 'likelihood'] = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class EigenRatio(Aggregator):
    diagonal: Literal['filled', 'ones']
    min_common: int
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        diagonal: Literal['filled', 'ones'] = ...,
        min_common: int = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        random_state: Any = ...,
    ) -> None: ...

class PGD(Aggregator):
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        max_iterations: int = ...,
        tolerance: float = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...

class MMSR(MMSRBase):
    trim: int
    min_common: int
    polish: int
    max_iterations: int
    tolerance: float
    ties: Literal['lowest', 'highest', 'random', 'fractional']
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        max_iterations: int = ...,
        tolerance: float = ...,
        seed: int = ...,
        *,
        trim: int = ...,
        min_common: int = ...,
        polish: int = ...,
        ties: Literal['lowest', 'highest', 'random', 'fractional'] = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
        n_iter: Any = ...,
        tol: Any = ...,
        random_state: Any = ...,
    ) -> None: ...
