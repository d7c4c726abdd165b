"""Pictures by matplotlib, where it is installed."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np


def _axes(ax, size):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from None
    return plt.subplots(figsize=size)[1] if ax is None else ax


def plot_workers(self, ax: Optional[Any] = None, *, most: int = 40):
    """How often each worker is right, with the 95 % interval, and how many answers that rests on; returns matplotlib's axes.

    most : how many workers are shown: those with most answers, the best on top
    """
    table = self.worker_summary_.sort_values("answers", ascending=False).iloc[:most].sort_values("accuracy")
    ax = _axes(ax, (7, 1.2 + 0.22 * len(table)))
    places = np.arange(len(table))
    ax.hlines(places, table["accuracy_low"], table["accuracy_high"], color="0.6", linewidth=2)
    sizes = 12 + 88 * table["answers"] / max(table["answers"].max(), 1)
    ax.scatter(table["accuracy"], places, s=sizes, zorder=3)
    # A dollar sign would begin a formula.
    ax.set_yticks(places, [str(name)[:40].replace("$", r"\$") for name in table.index])
    ax.set_xlim(0, 1)
    ax.set_ylim(-1, len(table))
    ax.set_xlabel("share of right answers, with its 95 % interval")
    hidden = len(self.worker_summary_) - len(table)
    ax.set_title(f"{len(table)} workers" + (f" of {len(table) + hidden:,}, those with most answers" if hidden else ""))
    return ax


def plot_calibration(evaluation, ax: Optional[Any] = None):
    """The reliability diagram: how often labels of about the same probability are right; returns matplotlib's axes."""
    table = evaluation.calibration
    if not len(table):
        raise ValueError("there are no probabilities to look at: evaluate a fitted estimator, or give probas")
    ax = _axes(ax, (5, 5))
    ax.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="as often as it says")
    below, above = table["accuracy"] - table["low"], table["high"] - table["accuracy"]
    ax.errorbar(table["probability"], table["accuracy"], yerr=[below.clip(lower=0), above.clip(lower=0)], fmt="o", capsize=3, label="labels")
    for probability, accuracy, tasks in zip(table["probability"], table["accuracy"], table["tasks"]):
        ax.annotate(f"{tasks:,}", (probability, accuracy), textcoords="offset points", xytext=(5, -10), fontsize=7, color="0.4")
    ax.set_xlim(0, 1.02)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("probability of the label")
    ax.set_ylabel("share of right labels")
    ax.legend()
    return ax
