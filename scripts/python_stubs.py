#!/usr/bin/env python3
"""Writes the type stubs of wisecrowd.aggregation, numbers, comparisons, similarities, sets, sequences and learning, whose classes are made on import.

    python_stubs.py         writes them beside the package's sources
    python_stubs.py --check   exits with 1 when those that are there are not current

Needs an importable wisecrowd, such as PYTHONPATH=build/release/python.
"""
import inspect
import sys
from pathlib import Path

import wisecrowd
import wisecrowd.comparisons
import wisecrowd.numbers
import wisecrowd.sequences
import wisecrowd.sets
import wisecrowd.similarities
from wisecrowd import _crowd_kit, _engine

FOLDER = Path(__file__).resolve().parent.parent / "python/wisecrowd"
COMMON = {"classes": "Optional[Iterable[Any]]", "duplicates": "str", "seed": "int", "threads": "int",
          "progress": "Union[bool, Callable[[str, float, float, Optional[float]], Any]]"}
EXTRA = {"default_skill": "Optional[float]", "on_missing_skill": "str", "initial_error_strategy": "Optional[str]",
         "network": "str", "hidden": "int", "layers": "int", "dropout": "float"}
NOTE = "# Made by scripts/python_stubs.py from the engine's tables; do not edit."
HEAD = f'''{NOTE}
from typing import Any, Callable, Iterable, Literal, Optional, Union
'''


def type_of(cls, name):
    if name in COMMON:
        return COMMON[name]
    spec = next((spec for spec in cls._info["parameters"] if spec["name"] == name), None)
    if spec is None:
        return EXTRA[name]
    names = [choice for choice in spec["choices"] if "," not in choice]
    if len(names) < len(spec["choices"]):  # an example of shares stands for any
        return f"Union[Literal[{', '.join(map(repr, names))}], str, Iterable[float]]"
    if spec["choices"]:
        return f"Literal[{', '.join(map(repr, spec['choices']))}]"
    return {bool: "bool", int: "int", float: "float", str: "str"}[type(spec["default"])]


def class_stub(cls, base):
    lines = [f"class {cls.__name__}({base}):"]
    for name in cls._defaults:
        lines.append(f"    {name}: {type_of(cls, name)}")
    lines.append("    def __init__(")
    lines.append("        self,")
    keywords = False
    for name, parameter in cls.__signature__.parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            lines.append("        *,")
            keywords = True
        lines.append(f"        {name}: {type_of(cls, name)} = ...,")
    for theirs, synonym in cls._synonyms.items():
        if not keywords:
            lines.append("        *,")
            keywords = True
        if theirs not in cls._defaults:
            lines.append(f"        {theirs}: Any = ...,")
    lines.append("    ) -> None: ...")
    return "\n".join(lines) + "\n"


def kind_class_stub(cls):
    """Its parameters follow what all of its kind have; without any, it is as its base. What crowd-kit hands over comes first."""
    specs = cls._info["parameters"]
    base = cls.__mro__[1]
    if not specs:
        return f"class {cls.__name__}({base.__name__}): ...\n"
    lines = [f"class {cls.__name__}({base.__name__}):", "    def __init__(", "        self,"]
    own = [name for name in ("base_aggregator",) if name in inspect.signature(cls.__init__).parameters]
    lines += [*(f"        {name}: Any = ...," for name in own), *(["        *,"] if own else [])]
    for name, parameter in list(inspect.signature(base.__init__).parameters.items())[1:]:
        if parameter.kind is not parameter.VAR_KEYWORD:
            lines.append(f"        {name}: {parameter.annotation} = ...,")
    lines += [*([] if own else ["        *,"]), *(f"        {spec['name']}: {type_of(cls, spec['name'])} = ...," for spec in specs), "    ) -> None: ..."]
    return "\n".join(lines) + "\n"


def exported(module):
    return "\n".join(["__all__ = [", *(f"    {name!r}," for name in module.__all__), "]"])


def stubs():
    bases = {cls: name for name, cls in vars(_crowd_kit).items() if name.endswith("Base")}
    used = sorted({bases[cls.__mro__[1]] for cls in wisecrowd.aggregation.CLASSES.values() if cls.__mro__[1] in bases})
    aggregation = [HEAD, "from .._aggregator import Aggregator as Aggregator", f"from .._crowd_kit import {', '.join(used)}",
                   "from .._votes import GoldMajorityVote as GoldMajorityVote, SegmentationMajorityVote as SegmentationMajorityVote", "",
                   exported(wisecrowd.aggregation), "CLASSES: dict[str, type[Aggregator]]", ""]
    for cls in wisecrowd.aggregation.CLASSES.values():
        aggregation.append(class_stub(cls, bases.get(cls.__mro__[1], "Aggregator")))
    learning = [HEAD, "from ._learner import Learner as Learner", "", exported(wisecrowd.learning), "CLASSES: dict[str, type[Learner]]", ""]
    for cls in wisecrowd.learning.CLASSES.values():
        learning.append(class_stub(cls, "Learner"))
    number = [f"{NOTE}\nfrom typing import Any, Literal, Optional, Sequence\n",
              "from ._numbers import NumberAggregator as NumberAggregator, NumberLearner as NumberLearner, compare as compare, evaluate as evaluate", "",
              exported(wisecrowd.numbers), "CLASSES: dict[str, type[NumberAggregator]]", "LEARNERS: dict[str, type[NumberLearner]]", "",
              *map(kind_class_stub, [*wisecrowd.numbers.CLASSES.values(), *wisecrowd.numbers.LEARNERS.values()])]
    comparison = [f"{NOTE}\nfrom typing import Any, Literal, Optional, Sequence\n",
                  "from ._comparisons import ComparisonAggregator as ComparisonAggregator, ScoreNetwork as ScoreNetwork, compare as compare",
                  "from ._comparisons import conservative_dpo_loss as conservative_dpo_loss, dpo_loss as dpo_loss, robust_dpo_loss as robust_dpo_loss",
                  "", exported(wisecrowd.comparisons), "CLASSES: dict[str, type[ComparisonAggregator]]", "",
                  *map(kind_class_stub, wisecrowd.comparisons.CLASSES.values())]
    similarity = [f"{NOTE}\nfrom typing import Any, Literal, Optional, Sequence\n",
                  "from ._similarities import SimilarityAggregator as SimilarityAggregator, compare as compare, evaluate as evaluate", "",
                  exported(wisecrowd.similarities), "CLASSES: dict[str, type[SimilarityAggregator]]", "",
                  *map(kind_class_stub, wisecrowd.similarities.CLASSES.values())]
    sets = [f"{NOTE}\nfrom typing import Any, Literal, Optional, Sequence\n",
            "from ._sets import SetAggregator as SetAggregator, compare as compare, evaluate as evaluate", "",
            exported(wisecrowd.sets), "CLASSES: dict[str, type[SetAggregator]]", "", *map(kind_class_stub, wisecrowd.sets.CLASSES.values())]
    sequence = [f"{NOTE}\nfrom typing import Any, Literal, Optional\n",
                "from ._sequences import SequenceAggregator as SequenceAggregator, SequenceData as SequenceData, compare as compare, evaluate as evaluate, read as read", "",
                exported(wisecrowd.sequences), "CLASSES: dict[str, type[SequenceAggregator]]", "",
                *map(kind_class_stub, wisecrowd.sequences.CLASSES.values())]
    engine = '''# What the package uses of the C++ module; the package is what people use.
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
'''
    return {"aggregation/__init__.pyi": "\n".join(aggregation), "numbers.pyi": "\n".join(number),
            "comparisons.pyi": "\n".join(comparison), "similarities.pyi": "\n".join(similarity), "sets.pyi": "\n".join(sets),
            "sequences.pyi": "\n".join(sequence), "learning.pyi": "\n".join(learning),
            "_engine.pyi": engine}


def main():
    outdated = []
    for name, text in stubs().items():
        path = FOLDER / name
        if "--check" in sys.argv:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                outdated.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    if outdated:
        print(f"not current: {', '.join(outdated)}; run scripts/python_stubs.py")
    return 1 if outdated else 0


if __name__ == "__main__":
    assert _engine.__version__
    sys.exit(main())
