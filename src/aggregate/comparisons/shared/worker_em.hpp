#pragma once

#include "aggregate/comparisons/shared/bootstrap.hpp"
#include "data/item_graph.hpp"
#include "wisecrowd/comparison_aggregator.hpp"

namespace wisecrowd::comparisons {

/// What a worker does when it does not say what the scores say.
enum class WorkerNoise {
  flips,    ///< it says the opposite
  guesses,  ///< it names a side, the left one with a probability of its own
};

struct WorkerEmOptions {
  double prior_right = 4, prior_wrong = 1.5;  ///< Beta prior of the reliability
  double virtual_games = 0.5;                 ///< wins and losses of each item against one of score 0
  double side_prior = 2;                      ///< guesses of either side that are added to a worker's own
  double start_reliability = 0.9;
  IntervalOptions intervals;
  std::size_t max_iterations = 500;
  double tolerance = 1e-4;
};

/// Scores and reliabilities by expectation maximisation: an answer was meant with some probability, and what was meant
/// counts as wins of the plain model. The log posterior never falls.
[[nodiscard]] ComparisonFit fit_worker_em(const ComparisonData& data, WorkerNoise noise, const WorkerEmOptions& options,
                                          const ComparisonStart& start, const RunContext& context);

/// Log probabilities of answers by such a fit.
[[nodiscard]] std::vector<double> worker_log_predictive(const ComparisonFit& fit, WorkerNoise noise,
                                                        const ComparisonAnswers& seen,
                                                        std::span<const ComparisonAnswer> answers);

}  // namespace wisecrowd::comparisons
