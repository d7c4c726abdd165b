#pragma once

#include <span>
#include <vector>

namespace wisecrowd::worker_covariance {

/// Covariances of workers' answers over the tasks that both answered, workers × workers.
struct PairMoments {
  std::size_t workers = 0;
  std::vector<double> covariance, tasks;
  [[nodiscard]] double& covariance_of(std::size_t a, std::size_t b) { return covariance[a * workers + b]; }
  [[nodiscard]] double covariance_of(std::size_t a, std::size_t b) const { return covariance[a * workers + b]; }
  [[nodiscard]] double tasks_of(std::size_t a, std::size_t b) const { return tasks[a * workers + b]; }
};

struct Split {
  struct Pair {
    std::size_t first, second;
    double covariance;  // of the errors
  };
  std::vector<double> gain;      ///< g_j: deviation of the truth times the slope of the worker
  std::vector<double> variance;  ///< of a worker's own errors
  std::vector<Pair> pairs;       ///< whose errors go together, first < second
  std::size_t iterations = 0;
  bool converged = false;
};

struct SplitOptions {
  double prior_tasks = 2;  ///< with the typical gain and variance, that are added to every worker's own
  double typical_gain = 1;
  double typical_variance = 1;
  double strictness = 1;  ///< a pair must deviate by this many times what chance makes of the largest one
  std::size_t max_iterations = 1000;
};

/// C = g gᵀ + Ψ, Ψ diagonal but for a few pairs: min Σ n_jj' (C_jj' − g_j g_j' − S_jj')² with S soft-thresholded, g and
/// S in turn.
[[nodiscard]] Split split(const PairMoments& moments, const SplitOptions& options);

}  // namespace wisecrowd::worker_covariance
