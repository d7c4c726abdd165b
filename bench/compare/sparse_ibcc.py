"""IBCC (mean-field variational Bayes) on scipy.sparse, as one would write it: Dawid–Skene's two products, and digammas."""
import time
from dataclasses import dataclass, field

import numpy as np
from scipy.special import digamma, gammaln, logsumexp
from sparse_em import matrices


@dataclass
class Fit:
    posterior: np.ndarray
    bound: float
    iteration_seconds: list = field(default_factory=list)


def log_beta(parameters, axis):
    return gammaln(parameters).sum(axis=axis) - gammaln(parameters.sum(axis=axis))


def straightforward(tasks, workers, labels, class_count, iterations, diagonal=4.0, off_diagonal=1.0, class_prior=1.0):
    """Starts from vote shares; each iteration updates the tables and the class prior and then the posterior. The bound
    is not part of the time."""
    answers, by_pair, posterior, worker_count = matrices(tasks, workers, labels, class_count)
    before = off_diagonal + (diagonal - off_diagonal) * np.eye(class_count)[None]  # worker, label, truth
    fit = Fit(posterior, 0.0)
    for _ in range(iterations):
        started = time.perf_counter()
        counts = (by_pair @ posterior).reshape(worker_count, class_count, class_count)
        tables = before + counts
        log_tables = digamma(tables) - digamma(tables.sum(axis=1, keepdims=True))
        shares = class_prior + posterior.sum(axis=0)
        log_shares = digamma(shares) - digamma(shares.sum())
        joint = answers @ log_tables.reshape(-1, class_count) + log_shares
        normaliser = logsumexp(joint, axis=1, keepdims=True)
        sizes = posterior.sum(axis=0)
        posterior = np.exp(joint - normaliser)
        fit.iteration_seconds.append(time.perf_counter() - started)
    # The expected logarithms belong to the counts that made them, the normalisers to the new posterior.
    fit.bound = float(normaliser.sum() + (log_beta(tables, 1) - log_beta(before, 1)).sum() - (counts * log_tables).sum()
                      + log_beta(shares, 0) - log_beta(np.full(class_count, class_prior), 0) - (sizes * log_shares).sum())
    fit.posterior = posterior
    return fit
