"""What estimators show and hand on: tables in the form that the user likes, and themselves in notebooks."""
from __future__ import annotations

import html
import sys
from typing import Any, Optional

import pandas as pd

_FORMS = ("default", "pandas", "polars")


class Output:
    """`set_output` as in scikit-learn: in which form `transform` gives its table."""

    def set_output(self, *, transform: Optional[str] = None):
        """Which form transform and fit_transform give.

        transform : 'default' is a numpy array, 'pandas' and 'polars' are DataFrames; None changes nothing
        """
        if transform is not None:
            if transform not in _FORMS:
                raise ValueError(f"transform={transform!r}: choose one of {', '.join(_FORMS)}")
            self._sklearn_output_config = {"transform": transform}  # the name under which scikit-learn's clone looks for it
        return self

    def get_feature_names_out(self, input_features: Any = None):
        """The names of the columns that transform gives: the method and a class each."""
        import numpy as np

        name = type(self).__name__.lower()
        return np.array([f"{name}_{label}" for label in self.classes_], dtype=object)

    def _formed(self, table: pd.DataFrame):
        """A table of probabilities as the user wants it."""
        form = vars(self).get("_sklearn_output_config", {}).get("transform")
        if form is None and "sklearn" in sys.modules:
            form = sys.modules["sklearn"].get_config().get("transform_output")
        if form in (None, "default"):
            return table.to_numpy()
        table = table.set_axis(self.get_feature_names_out(), axis=1)
        if form == "pandas":
            return table
        import polars

        return polars.DataFrame({name: table[name].to_numpy() for name in table.columns})


def _row(name, value):
    return f"<tr><td>{html.escape(str(name))}</td><td>{html.escape(str(value))}</td></tr>"


def shown_in_notebook(estimator) -> str:
    """What a notebook shows of an estimator: whether it was fitted, to what, and its parameters, those that were changed first."""
    parameters = estimator.get_params(deep=False)
    changed = [name for name, value in parameters.items() if repr(value) != repr(estimator._defaults[name])]
    lines = [_row(name, repr(parameters[name])) for name in changed]
    others = [_row(name, repr(value)) for name, value in parameters.items() if name not in changed]
    crowd, fit = vars(estimator).get("_crowd"), vars(estimator).get("_fit")
    told = "not fitted"
    if crowd is not None and fit is not None:
        told = (f"fitted to {crowd.answers.answer_count:,} answers of {len(crowd.workers):,} workers to {len(crowd.tasks):,} tasks, "
                f"{len(crowd.classes):,} classes")
    warned = "".join(f"<li>{html.escape(message)}</li>" for _, message in estimator.warnings_) if fit is not None else ""
    return (f"<div class='wisecrowd'><b>{html.escape(type(estimator).__name__)}</b> <small>{html.escape(told)}</small>"
            + (f"<table>{''.join(lines)}</table>" if lines else "")
            + f"<details><summary>all parameters</summary><table>{''.join(lines + others)}</table></details>"
            + (f"<details><summary>warnings</summary><ul>{warned}</ul></details>" if warned else "") + "</div>")
