#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/rng.hpp"

namespace wisecrowd::bp {

/// What is believed of a worker's accuracy before any answer: a mixture of Beta densities and points.
struct PriorPart {
  double share = 1;
  bool is_point = false;
  double point = 0;  ///< the accuracy, if is_point
  double right = 2;  ///< else Beta(right, wrong)
  double wrong = 1;
};
using AccuracyPrior = std::vector<PriorPart>;

[[nodiscard]] AccuracyPrior beta_prior(double right, double wrong);
/// Some workers know (accuracy `good`), the others guess among `classes`.
[[nodiscard]] AccuracyPrior spammer_hammer_prior(double spammer_share, double good, std::size_t classes);
/// Shares made to sum to 1. Throws bad_parameter for shares or parameters that are no prior.
[[nodiscard]] AccuracyPrior normalised(AccuracyPrior prior);

/// log E[w^right (1−w)^wrong].
[[nodiscard]] double log_moment(const AccuracyPrior& prior, double right, double wrong);
[[nodiscard]] double prior_mean(const AccuracyPrior& prior);
/// log density of the Beta parts; points have none.
[[nodiscard]] double log_density(const AccuracyPrior& prior, double accuracy, double error);

/// A measure on accuracies with finitely many points. The error 1−w is kept beside w, for it may be tiny.
struct NodeSet {
  std::vector<double> accuracy;
  std::vector<double> error;
  std::vector<double> log_weight;
  [[nodiscard]] std::size_t size() const noexcept { return accuracy.size(); }
  void add(double w, double one_minus_w, double log_w) {
    accuracy.push_back(w);
    error.push_back(one_minus_w);
    log_weight.push_back(log_w);
  }
};

/// Gauss–Jacobi rule for Beta(a, b): exact for polynomials of degree 2·count−1.
[[nodiscard]] NodeSet gauss_jacobi(std::size_t count, double a, double b);

/// Nodes for workers with `answers` answers: exact for up to about 100 of them, to rounding for more.
///
/// The integrand is a polynomial of degree n, so (n+1)/2 nodes are exact. Beyond that, in θ = arccos(2w−1) it is at
/// worst a bump of width 1/√n, whose Chebyshev spectrum has fallen to exp(−2Q²/n) where Q nodes begin to err: somewhat
/// less than 4√n nodes reach rounding. Whole powers of w and 1−w in the prior count as answers, so that strong priors
/// lose no digits.
[[nodiscard]] NodeSet quadrature(const AccuracyPrior& prior, std::size_t answers);

/// How many nodes per Beta part; a ladder, so that workers can share their nodes.
[[nodiscard]] std::size_t quadrature_size(const AccuracyPrior& prior, std::size_t answers);

/// `count` equally weighted draws.
[[nodiscard]] NodeSet draws(const AccuracyPrior& prior, std::size_t count, Rng& rng);
/// Draws for a worker with about `right` right and `wrong` wrong answers: half of them from the posterior that these
/// counts give, a quarter from one with half the counts, a quarter from the prior, weighted by the mixture's density,
/// so that a wrong guess costs spread, never truth. Needs a prior without points.
[[nodiscard]] NodeSet importance_draws(const AccuracyPrior& prior, double right, double wrong, std::size_t count,
                                       Rng& rng);

[[nodiscard]] bool has_points(const AccuracyPrior& prior);

}  // namespace wisecrowd::bp
