# Made by scripts/python_stubs.py from the engine's tables; do not edit.
from typing import Any, Callable, Iterable, Literal, Optional, Union

from ._learner import Learner as Learner

__all__ = [
    'Learner',
    'AutoLearner',
    'TwoStage',
    'Raykar',
    'AggNet',
    'MBEM',
    'BayesDGC',
    'DeepMF',
    'DeepBP',
    'CCEM',
    'TraceReg',
    'GeoCrowdNetF',
    'GeoCrowdNetW',
    'COINNet',
    'CoNAL',
    'InstanceDependent',
    'CrowdLayer',
    'DoctorNet',
    'MaxMIG',
    'DALC',
    'LFC',
    'STAL',
]
CLASSES: dict[str, type[Learner]]

class AutoLearner(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    combine: Literal['choice', 'pool']
    margin: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        combine: Literal['choice', 'pool'] = ...,
        margin: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class TwoStage(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    aggregator: Literal['automatic', 'majority_vote', 'wawa', 'zero_based_skill', 'crh', 'one_coin', 'confusion_vector', 'dawid_skene', 'hierarchical_dawid_skene', 'group_dawid_skene', 'ibcc', 'spammer_mixture', 'gibbs', 'bp', 'glad', 'mace', 'worker_clusters', 'cbcc', 'ebcc', 'minimax_entropy', 'max_margin', 'kos', 'multispa', 'cnmf', 'symmetric_nmf', 'coupled_tensor', 'spectral_em', 'sml', 'jaffe', 'eigen_ratio', 'pgd', 'mmsr']
    targets: Literal['automatic', 'hard', 'soft', 'confident', 'truth']
    doubt_features: bool
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        aggregator: Literal['automatic', 'majority_vote', 'wawa', 'zero_based_skill', 'crh', 'one_coin', 'confusion_vector', 'dawid_skene', 'hierarchical_dawid_skene', 'group_dawid_skene', 'ibcc', 'spammer_mixture', 'gibbs', 'bp', 'glad', 'mace', 'worker_clusters', 'cbcc', 'ebcc', 'minimax_entropy', 'max_margin', 'kos', 'multispa', 'cnmf', 'symmetric_nmf', 'coupled_tensor', 'spectral_em', 'sml', 'jaffe', 'eigen_ratio', 'pgd', 'mmsr'] = ...,
        targets: Literal['automatic', 'hard', 'soft', 'confident', 'truth'] = ...,
        doubt_features: bool = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class Raykar(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    pseudo_count: float
    diagonal_count: float
    logit_penalty: float
    newton_steps: int
    max_iterations: int
    tolerance: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        pseudo_count: float = ...,
        diagonal_count: float = ...,
        logit_penalty: float = ...,
        newton_steps: int = ...,
        max_iterations: int = ...,
        tolerance: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class AggNet(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    warm_up: int
    pseudo_count: float
    diagonal_count: float
    ceiling: float
    label_every: int
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        warm_up: int = ...,
        pseudo_count: float = ...,
        diagonal_count: float = ...,
        ceiling: float = ...,
        label_every: int = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class MBEM(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    rounds: int
    pooled_answers: float
    pseudo_count: float
    cross_fit: bool
    class_prior: Literal['uniform', 'learned']
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        rounds: int = ...,
        pooled_answers: float = ...,
        pseudo_count: float = ...,
        cross_fit: bool = ...,
        class_prior: Literal['uniform', 'learned'] = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class BayesDGC(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    coins: Literal['full', 'one_coin']
    right: float
    wrong: float
    prior: Literal['network', 'product', 'divide']
    warm_up: int
    class_pseudo_count: float
    delay: float
    forgetting: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        coins: Literal['full', 'one_coin'] = ...,
        right: float = ...,
        wrong: float = ...,
        prior: Literal['network', 'product', 'divide'] = ...,
        warm_up: int = ...,
        class_pseudo_count: float = ...,
        delay: float = ...,
        forgetting: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class DeepMF(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    coins: Literal['full', 'one_coin']
    right: float
    wrong: float
    ceiling: float
    warm_up: int
    updates: int
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        coins: Literal['full', 'one_coin'] = ...,
        right: float = ...,
        wrong: float = ...,
        ceiling: float = ...,
        warm_up: int = ...,
        updates: int = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class DeepBP(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    model: Literal['one_coin', 'two_coin', 'tables']
    right: float
    wrong: float
    particles: int
    propagation_iterations: int
    propagation_tolerance: float
    ceiling: float
    warm_up: int
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        model: Literal['one_coin', 'two_coin', 'tables'] = ...,
        right: float = ...,
        wrong: float = ...,
        particles: int = ...,
        propagation_iterations: int = ...,
        propagation_tolerance: float = ...,
        ceiling: float = ...,
        warm_up: int = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class CCEM(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    start: Literal['votes', 'identity', 'expert']
    start_accuracy: float
    pooled_answers: float
    worker_learning_rate: float
    warm_up: int
    solver: Literal['gradient', 'em']
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        start: Literal['votes', 'identity', 'expert'] = ...,
        start_accuracy: float = ...,
        pooled_answers: float = ...,
        worker_learning_rate: float = ...,
        warm_up: int = ...,
        solver: Literal['gradient', 'em'] = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class TraceReg(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    start: Literal['votes', 'identity', 'expert']
    start_accuracy: float
    pooled_answers: float
    worker_learning_rate: float
    warm_up: int
    penalty: Literal['trace', 'log']
    strength: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        start: Literal['votes', 'identity', 'expert'] = ...,
        start_accuracy: float = ...,
        pooled_answers: float = ...,
        worker_learning_rate: float = ...,
        warm_up: int = ...,
        penalty: Literal['trace', 'log'] = ...,
        strength: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class GeoCrowdNetF(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    start: Literal['votes', 'identity', 'expert']
    start_accuracy: float
    pooled_answers: float
    worker_learning_rate: float
    warm_up: int
    solver: Literal['gradient', 'em']
    strength: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        start: Literal['votes', 'identity', 'expert'] = ...,
        start_accuracy: float = ...,
        pooled_answers: float = ...,
        worker_learning_rate: float = ...,
        warm_up: int = ...,
        solver: Literal['gradient', 'em'] = ...,
        strength: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class GeoCrowdNetW(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    start: Literal['votes', 'identity', 'expert']
    start_accuracy: float
    pooled_answers: float
    worker_learning_rate: float
    warm_up: int
    strength: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        start: Literal['votes', 'identity', 'expert'] = ...,
        start_accuracy: float = ...,
        pooled_answers: float = ...,
        worker_learning_rate: float = ...,
        warm_up: int = ...,
        strength: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class COINNet(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    start: Literal['votes', 'identity', 'expert']
    start_accuracy: float
    pooled_answers: float
    worker_learning_rate: float
    warm_up: int
    outlier_strength: float
    volume_strength: float
    power: float
    outlier_learning_rate: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        start: Literal['votes', 'identity', 'expert'] = ...,
        start_accuracy: float = ...,
        pooled_answers: float = ...,
        worker_learning_rate: float = ...,
        warm_up: int = ...,
        outlier_strength: float = ...,
        volume_strength: float = ...,
        power: float = ...,
        outlier_learning_rate: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class CoNAL(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    start: Literal['votes', 'identity', 'expert']
    start_accuracy: float
    pooled_answers: float
    worker_learning_rate: float
    warm_up: int
    gate_width: int
    strength: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        start: Literal['votes', 'identity', 'expert'] = ...,
        start_accuracy: float = ...,
        pooled_answers: float = ...,
        worker_learning_rate: float = ...,
        warm_up: int = ...,
        gate_width: int = ...,
        strength: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class InstanceDependent(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    start: Literal['votes', 'identity', 'expert']
    start_accuracy: float
    pooled_answers: float
    worker_learning_rate: float
    warm_up: int
    variant: Literal['schedule', 'anchors']
    trace_strength: float
    table_epochs: int
    row_width: int
    embedding: int
    row_decay: float
    anchor_confidence: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        start: Literal['votes', 'identity', 'expert'] = ...,
        start_accuracy: float = ...,
        pooled_answers: float = ...,
        worker_learning_rate: float = ...,
        warm_up: int = ...,
        variant: Literal['schedule', 'anchors'] = ...,
        trace_strength: float = ...,
        table_epochs: int = ...,
        row_width: int = ...,
        embedding: int = ...,
        row_decay: float = ...,
        anchor_confidence: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class CrowdLayer(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    layer: Literal['MW', 'VW', 'VB', 'VW+B', 'SW']
    start: Literal['identity', 'votes']
    worker_learning_rate: float
    warm_up: int
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        layer: Literal['MW', 'VW', 'VB', 'VW+B', 'SW'] = ...,
        start: Literal['identity', 'votes'] = ...,
        worker_learning_rate: float = ...,
        warm_up: int = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class DoctorNet(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    weights: Literal['equal', 'answers', 'learned']
    width: int
    warm_up: int
    worker_learning_rate: float
    worker_decay: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        weights: Literal['equal', 'answers', 'learned'] = ...,
        width: int = ...,
        warm_up: int = ...,
        worker_learning_rate: float = ...,
        worker_decay: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class MaxMIG(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    divergence: Literal['kl', 'pearson', 'js']
    start: Literal['automatic', 'votes', 'aggregator', 'coupled', 'random']
    aggregator: Literal['automatic', 'majority_vote', 'wawa', 'zero_based_skill', 'crh', 'one_coin', 'confusion_vector', 'dawid_skene', 'hierarchical_dawid_skene', 'group_dawid_skene', 'ibcc', 'spammer_mixture', 'gibbs', 'bp', 'glad', 'mace', 'worker_clusters', 'cbcc', 'ebcc', 'minimax_entropy', 'max_margin', 'kos', 'multispa', 'cnmf', 'symmetric_nmf', 'coupled_tensor', 'spectral_em', 'sml', 'jaffe', 'eigen_ratio', 'pgd', 'mmsr']
    class_prior: Union[Literal['automatic', 'uniform', 'learned'], str, Iterable[float]]
    pooled_answers: float
    warm_up: int
    worker_learning_rate: float
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        divergence: Literal['kl', 'pearson', 'js'] = ...,
        start: Literal['automatic', 'votes', 'aggregator', 'coupled', 'random'] = ...,
        aggregator: Literal['automatic', 'majority_vote', 'wawa', 'zero_based_skill', 'crh', 'one_coin', 'confusion_vector', 'dawid_skene', 'hierarchical_dawid_skene', 'group_dawid_skene', 'ibcc', 'spammer_mixture', 'gibbs', 'bp', 'glad', 'mace', 'worker_clusters', 'cbcc', 'ebcc', 'minimax_entropy', 'max_margin', 'kos', 'multispa', 'cnmf', 'symmetric_nmf', 'coupled_tensor', 'spectral_em', 'sml', 'jaffe', 'eigen_ratio', 'pgd', 'mmsr'] = ...,
        class_prior: Union[Literal['automatic', 'uniform', 'learned'], str, Iterable[float]] = ...,
        pooled_answers: float = ...,
        warm_up: int = ...,
        worker_learning_rate: float = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class DALC(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    reliability: Literal['low_rank', 'per_worker_logistic', 'one_coin']
    rank: int
    worker_ridge: float
    shared_ridge: float
    own_ridge: float
    pooled_level: bool
    samples: int
    warm_up: int
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        reliability: Literal['low_rank', 'per_worker_logistic', 'one_coin'] = ...,
        rank: int = ...,
        worker_ridge: float = ...,
        shared_ridge: float = ...,
        own_ridge: float = ...,
        pooled_level: bool = ...,
        samples: int = ...,
        warm_up: int = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class LFC(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    ridge: float
    warm_up: int
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        ridge: float = ...,
        warm_up: int = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...

class STAL(Learner):
    network: str
    hidden: int
    layers: int
    dropout: float
    components: int
    mixture_iterations: int
    variance_floor: float
    ridge: float
    warm_up: int
    epochs: int
    batch: int
    optimizer: Literal['adam', 'rmsprop', 'sgd']
    learning_rate: float
    weight_decay: float
    decoupled_decay: float
    input_dropout: float
    schedule: Literal['constant', 'cosine', 'one_cycle']
    average_epochs: float
    held_out: float
    patience: int
    answer_power: float
    standardise: bool
    classes: Optional[Iterable[Any]]
    duplicates: str
    seed: int
    threads: int
    progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]]
    def __init__(
        self,
        *,
        network: str = ...,
        hidden: int = ...,
        layers: int = ...,
        dropout: float = ...,
        components: int = ...,
        mixture_iterations: int = ...,
        variance_floor: float = ...,
        ridge: float = ...,
        warm_up: int = ...,
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
        answer_power: float = ...,
        standardise: bool = ...,
        classes: Optional[Iterable[Any]] = ...,
        duplicates: str = ...,
        seed: int = ...,
        threads: int = ...,
        progress: Union[bool, Callable[[str, float, float, Optional[float]], Any]] = ...,
    ) -> None: ...
