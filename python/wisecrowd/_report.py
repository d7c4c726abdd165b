"""The report of a fitted estimator: one HTML file that shows it to people."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Optional

import numpy as np
import pandas as pd

from . import _engine
from ._columns import gold_series
from ._parameters import NotFittedError, Progress


def report(estimator, path: Any = None, *, gold: Optional[Any] = None, title: str = "", compare: bool = True):
    """Writes a report of what was fitted: labels, workers, tasks and warnings on one page that needs no network.

    path : file name, optional
        Where to write it; without, the page is returned as a str. A name that ends with .json gets the data alone.
    gold : Series by task, optional
        Known truth that the fit did not see: the labels are scored on it. Not for fits that were given known labels.
    title : what the page is called
    compare : whether to run a few quick methods for comparison, if the data are small

    Returns the path, or the page.

    >>> import json, os, tempfile, wisecrowd
    >>> crowd = wisecrowd.simulate("one_coin_beta", tasks=100, workers=10, answers_per_task=5, seed=1)
    >>> fitted = wisecrowd.DawidSkene().fit(crowd.answers)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(fitted.report(os.path.join(folder, "crowd.json"), gold=crowd.gold)) as file:
    ...         json.load(file)["counts"]["tasks"]
    100
    """
    from ._learner import Learner

    if "_fit" not in vars(estimator):
        raise NotFittedError(f"there is nothing to report yet: call {type(estimator).__name__}.fit first")
    fit, crowd = estimator._fit, estimator._crowd
    if not fit.iterations and not getattr(estimator, "max_iterations", 1):
        raise ValueError("a fit without iterations is only where one begins: raise max_iterations to report it")
    seen = crowd.gold is not None
    if gold is not None and seen:
        raise ValueError("the fit was given known labels, so they are no test of it: leave gold out")
    codes = crowd.gold
    if gold is not None:
        gold = gold_series(gold)
        classes = crowd.class_index()
        unknown = gold[~gold.isin(classes)]
        if len(unknown):
            raise ValueError(f"gold: {unknown.iloc[0]!r} is none of the classes of the answers: fit with classes=[…] that has it")
        codes = pd.Series(classes.get_indexer(gold), index=gold.index).reindex(crowd.task_index(), fill_value=-1)
        codes = codes.to_numpy(dtype=np.int32)
    is_json = path is not None and os.fspath(path).endswith(".json")
    is_learner = isinstance(estimator, Learner)
    network, learned = (estimator._network(), estimator._learned) if is_learner else (None, None)
    with Progress(estimator.progress, "report") as progress:
        text = _engine.report(crowd.answers, fit, estimator._method, estimator._method_parameters(), network, learned, codes, seen,
                              title or "", bool(compare), is_json, *estimator._run(), progress)
    return delivered(text, path)


def delivered(text: str, path: Any):
    """The page itself, or the path where it now stands."""
    if path is None:
        return text
    folder = os.path.dirname(os.path.abspath(os.fspath(path)))
    # Beside its place first, so that it appears whole or not at all.
    handle, aside = tempfile.mkstemp(prefix=".report-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(aside, 0o666 & ~mask)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise
    return path
