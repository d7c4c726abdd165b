#include "aggregate/numbers/worker_covariance/low_rank_sparse.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"

namespace wisecrowd::worker_covariance {
namespace {

constexpr double kLeastTasks = 3;        // from fewer, a covariance says nothing
constexpr double kLeastVariance = 0.01;  // of a worker's errors, over the typical one
constexpr double kMostCorrelation = 0.95;

/// How far chance alone moves the covariance of two of the workers.
double chance_of(const PairMoments& moments, std::size_t a, std::size_t b) {
  const double c = moments.covariance_of(a, b);
  const double product = moments.covariance_of(a, a) * moments.covariance_of(b, b);
  return std::sqrt(2 * math::log(static_cast<double>(std::max<std::size_t>(moments.workers, 2))) * (product + c * c) /
                   moments.tasks_of(a, b));
}

double soft(double value, double threshold) {
  return value > threshold ? value - threshold : value < -threshold ? value + threshold : 0;
}

/// One round of least squares: each gain given the others.
double move_gains(const PairMoments& moments, const SplitOptions& options, const std::vector<double>& sparse,
                  std::vector<double>& gain) {
  const std::size_t workers = moments.workers;
  const double prior = options.prior_tasks * options.typical_gain * options.typical_gain;
  double moved = 0;
  for (std::size_t j = 0; j < workers; ++j) {
    double above = prior * options.typical_gain, below = prior;
    for (std::size_t k = 0; k < workers; ++k) {
      const double n = moments.tasks_of(j, k);
      if (k == j || n < kLeastTasks) continue;
      above += n * gain[k] * (moments.covariance_of(j, k) - sparse[j * workers + k]);
      below += n * gain[k] * gain[k];
    }
    if (!(below > 0)) continue;
    moved = std::max(moved, std::abs(above / below - gain[j]));
    gain[j] = above / below;
  }
  return moved;
}

}  // namespace

Split split(const PairMoments& moments, const SplitOptions& options) {
  const std::size_t workers = moments.workers;
  Split out;
  out.gain.assign(workers, options.typical_gain);
  std::vector<double> sparse(workers * workers, 0);
  while (out.iterations < options.max_iterations && !out.converged) {
    for (std::size_t j = 0; j < workers; ++j) {
      for (std::size_t k = 0; k < workers; ++k) {
        if (k == j || moments.tasks_of(j, k) < kLeastTasks) continue;
        sparse[j * workers + k] = soft(moments.covariance_of(j, k) - out.gain[j] * out.gain[k],
                                       options.strictness * chance_of(moments, j, k));
      }
    }
    out.converged = move_gains(moments, options, sparse, out.gain) < 1e-13 * options.typical_gain;
    ++out.iterations;
  }
  for (std::size_t j = 0; j < workers; ++j) {
    const double n = moments.tasks_of(j, j);
    const double own =
        std::max(moments.covariance_of(j, j) - out.gain[j] * out.gain[j], kLeastVariance * options.typical_variance);
    const double known = n > 0 ? n * own : 0;
    out.variance.push_back((known + options.prior_tasks * options.typical_variance) /
                           std::max(n + options.prior_tasks, 1e-12));
  }
  for (std::size_t j = 0; j < workers; ++j) {
    for (std::size_t k = j + 1; k < workers; ++k) {
      if (sparse[j * workers + k] == 0) continue;
      // Found by the threshold, measured without it.
      const double most = kMostCorrelation * std::sqrt(out.variance[j] * out.variance[k]);
      out.pairs.push_back({j, k, std::clamp(moments.covariance_of(j, k) - out.gain[j] * out.gain[k], -most, most)});
    }
  }
  return out;
}

}  // namespace wisecrowd::worker_covariance
