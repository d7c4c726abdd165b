"""What all estimators have in common: parameters from the engine's tables, as scikit-learn wants them."""
from __future__ import annotations

import inspect
import operator
import sys
import warnings
from typing import Any, Callable, ClassVar, Optional

from ._output import shown_in_notebook
from ._tables import stacklevel

# What every estimator has besides the parameters of its method: name, default, help.
COMMON = (
    ("classes", None, "all classes in order, also those that nobody answered; None takes them from the data"),
    ("duplicates", "keep_last", "when a worker answered a task more than once: keep_last, reject, or repeat, which counts all"),
    ("seed", 0, "results are bit-identical for a given seed, whatever the thread count"),
    ("threads", 0, "how many to use; 0 is all that the machine has"),
    ("progress", False, "True shows a bar (by tqdm, where it is installed); or a function of stage, done, total and objective"),
)

_SPECIAL_NAMES = {
    "aggnet": "AggNet", "bayes_dgc": "BayesDGC", "bp": "BP", "cbcc": "CBCC", "ccem": "CCEM", "cnmf": "CNMF",
    "coinnet": "COINNet", "conal": "CoNAL", "dalc": "DALC", "deep_bp": "DeepBP", "deep_mf": "DeepMF", "ebcc": "EBCC",
    "geocrowdnet_f": "GeoCrowdNetF", "geocrowdnet_w": "GeoCrowdNetW", "glad": "GLAD", "ibcc": "IBCC", "kos": "KOS",
    "lfc": "LFC", "mace": "MACE", "max_mig": "MaxMIG", "mbem": "MBEM", "mmsr": "MMSR", "multispa": "MultiSPA",
    "one_coin": "OneCoinDawidSkene", "pgd": "PGD", "sml": "SML", "spectral_em": "SpectralEM", "stal": "STAL",
    "symmetric_nmf": "SymmetricNMF",
}  # fmt: skip


def class_name(method: str) -> str:
    """How the class of a method is called: dawid_skene is DawidSkene."""
    return _SPECIAL_NAMES.get(method) or "".join(part.capitalize() for part in method.split("_"))


def whole_number(name, value, least=0, most=2**63 - 1):
    """A whole number of Python or numpy, within bounds."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise ValueError(f"{name}={value!r}: it takes a whole number from {least} on" + (f" to {most}" if most < 2**31 else ""))
    return number


class NotFittedError(ValueError, AttributeError):
    """An attribute that only `fit` can give was asked for before it."""


def not_fitted(message: str) -> NotFittedError:
    """The error; where scikit-learn is in use, it is one of its own as well."""
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is None:
        return NotFittedError(message)
    return type("NotFittedError", (NotFittedError, theirs.NotFittedError), {"__module__": NotFittedError.__module__})(message)


class Synonym:
    """A name that another package has for a parameter of ours."""

    def __init__(self, name: Optional[str], convert: Callable[[Any], Any] = lambda value: value, note: str = ""):
        self.name = name
        self.convert = convert
        self.note = note


class Estimator:
    """Parameters, their names and defaults; `get_params` and `set_params` as in scikit-learn."""

    _method: ClassVar[str]
    _info: ClassVar[dict]
    _defaults: ClassVar[dict]
    _positional: ClassVar[tuple] = ()
    _synonyms: ClassVar[dict] = {}
    _after_fit: ClassVar[tuple] = ()  # attributes that fit sets itself

    def __init__(self, *args, **kwargs):
        if len(args) > len(self._positional):
            raise TypeError(
                f"{type(self).__name__} takes {len(self._positional) or 'no'} arguments by position"
                + (f" ({', '.join(self._positional)})" if self._positional else "")
                + ": give the others by name"
            )
        given = dict(zip(self._positional, args))
        vars(self).update(self._defaults)
        for name, value in kwargs.items():
            ours, value = self._own(name, value)
            if ours in given:
                raise TypeError(f"{type(self).__name__}: {ours} is given twice, the second time as {name}")
            if ours is not None:
                given[ours] = value
        vars(self).update(given)

    @classmethod
    def _own(cls, name, value):
        """A parameter by our name. The name is None where another package's parameter has no meaning here."""
        if name in cls._defaults:
            return name, value
        renamed = cls._renamed(name)
        if renamed is not None:
            warnings.warn(f"{cls.__name__}: {name} is now called {renamed}", FutureWarning, stacklevel=stacklevel())
            return renamed, value
        synonym = cls._synonyms.get(name)
        if synonym is None:
            raise TypeError(f"{cls.__name__} has no parameter '{name}': there are {', '.join(cls._defaults)}")
        value = synonym.convert(value)
        if synonym.name is None and value is not None:
            warnings.warn(f"{cls.__name__}: {name} has no effect here; {synonym.note}", stacklevel=stacklevel())
        return synonym.name, value

    @classmethod
    def _renamed(cls, name):
        """What a parameter is called today whose name was this; None if there is none."""
        return next((spec["name"] for spec in cls._info["parameters"] if name in spec["former_names"]), None)

    def get_params(self, deep: bool = True) -> dict:
        """All parameters with their values."""
        return {name: getattr(self, name) for name in self._defaults}

    def set_params(self, **params):
        """Changes parameters; returns the estimator."""
        for name, value in params.items():
            ours, value = self._own(name, value)
            if ours is not None:
                setattr(self, ours, value)
        return self

    def __repr__(self):
        changed = []
        for name, default in self._defaults.items():
            value = getattr(self, name)
            if value is not default and not (type(value) is type(default) and value == default):
                changed.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(changed)})"

    _repr_html_ = shown_in_notebook

    def __getattr__(self, name):
        synonym = type(self)._synonyms.get(name)
        if synonym is not None and synonym.name is not None:
            return getattr(self, synonym.name)
        renamed = type(self)._renamed(name)
        if renamed is not None:
            return getattr(self, renamed)
        # A property that raises AttributeError comes here as well.
        of_fit = name in self._after_fit or (name.endswith("_") and not name.startswith("_") and hasattr(type(self), name))
        if of_fit and "_fit" not in vars(self):
            raise not_fitted(f"{name} is known after fit: call {type(self).__name__}.fit first")
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    def _method_parameters(self):
        return {spec["name"]: getattr(self, spec["name"]) for spec in self._info["parameters"]}

    def _run(self):
        """Seed and number of threads, checked."""
        return whole_number("seed", self.seed), whole_number("threads", self.threads, 0, 4096)

    def __sklearn_is_fitted__(self):
        return "_fit" in vars(self)

    def __sklearn_tags__(self):
        """Of aggregators: X is a table of answers, and y, which they can do without, known truth."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), transformer_tags=TransformerTags(),
                    input_tags=InputTags(two_d_array=False, string=True, categorical=True))


def signature_of(cls) -> inspect.Signature:
    """What `inspect.signature` and notebooks show: all parameters with their defaults."""
    kinds = inspect.Parameter
    ordered = [*cls._positional, *(name for name in cls._defaults if name not in cls._positional)]
    return inspect.Signature([
        kinds(name, kinds.POSITIONAL_OR_KEYWORD if name in cls._positional else kinds.KEYWORD_ONLY, default=cls._defaults[name])
        for name in ordered
    ])


def sign(cls) -> None:
    """Gives a class an __init__ that says what it takes, for those who look there: scikit-learn and editors."""

    def __init__(self, *args, **kwargs):
        super(cls, self).__init__(*args, **kwargs)

    cls.__signature__ = signature_of(cls)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = cls.__signature__.replace(parameters=[own, *cls.__signature__.parameters.values()])
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = __init__


class Progress:
    """The bar that a fit shows, or the function of the user that it calls."""

    def __init__(self, wanted, title):
        self.call = None
        self.bar = None
        if callable(wanted):
            self.call = wanted
        elif wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                warnings.warn("progress=True needs tqdm (pip install tqdm); a function may be given instead", stacklevel=5)
            else:
                self.bar = tqdm(desc=title, leave=False)
                self.call = self.move

    def move(self, stage, done, total, objective):
        if total and self.bar.total != total:
            self.bar.total = total
        self.bar.n = done
        if objective is not None:
            self.bar.set_postfix({"objective": f"{objective:.6g}"}, refresh=False)
        self.bar.set_description(stage, refresh=False)
        self.bar.refresh()

    def __enter__(self):
        return self.call

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()


def describe_class(info, extra, attributes, example) -> str:
    """The docstring of an estimator, from the engine's tables."""
    lines = [f"{info['title']}. {info['summary']}", ""]
    for title, key in (("When to use", "when_to_use"), ("Assumes", "assumptions"), ("Cost", "cost"), ("Reference", "reference")):
        if info.get(key):
            lines += [f"{title}: {info[key]}", ""]
    lines += ["Parameters", "----------"]
    for spec in info["parameters"]:
        default = spec["default"]
        lines += [f"{spec['name']} : {spec['range']}, default {default!r}", f"    {spec['help']}"]
    for name, default, help_text in (*extra, *COMMON):
        lines += [f"{name} : default {default!r}", f"    {help_text}"]
    lines += ["", "Attributes", "----------"]
    for name, text in attributes:
        lines += [name, f"    {text}"]
    lines += ["", "Examples", "--------", *example]
    return "\n".join(lines) + "\n"
