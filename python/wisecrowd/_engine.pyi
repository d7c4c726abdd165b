# What the package uses of the C++ module; the package is what people use.
from typing import Any

__version__: str
default_aggregation_method: str
default_learning_method: str
default_number_method: str
default_set_method: str
default_comparison_method: str
default_similarity_method: str
default_sequence_method: str
largest_number: float
no_cluster: int
no_tag: int

def __getattr__(name: str) -> Any: ...
