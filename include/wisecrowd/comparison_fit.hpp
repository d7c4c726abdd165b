#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/comparison_answers.hpp"
#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/kinds.hpp"

namespace wisecrowd {

/// What an aggregator of comparisons returns: a value, complete, never half-fitted.
struct ComparisonFit : FitSummary {
  std::size_t item_count = 0;
  std::size_t worker_count = 0;
  std::size_t pair_count = 0;

  // Per item.
  std::vector<double> score;      ///< on the scale of log odds, with mean 0
  std::vector<double> deviation;  ///< how far the score is off, as a standard deviation
  std::vector<double> low, high;  ///< the 95 % interval
  std::vector<double> rank;       ///< 1 is best; equal scores share the better rank
  /// The 95 % interval of the rank. `rank_low` counts the items that are better beyond doubt, so items that nothing
  /// tells apart share it.
  std::vector<double> rank_low, rank_high;

  // Per worker.
  std::vector<double> reliability;  ///< probability that it says what the scores say; NaN where the method has none
  std::vector<double> side_bias;    ///< share of its guesses that name the left side; NaN where the method has none
  std::vector<double> tie_rate;     ///< share of ties among its answers

  /// pairs × 3: probability that the first item is better, the second, neither; from the scores and the pair's own
  /// answers together.
  std::vector<double> pair_posterior;

  /// Groups of workers with tastes of their own: groups × items, and workers × groups; empty for one taste.
  std::size_t group_count = 0;
  std::vector<double> group_score;
  std::vector<double> group_of_worker;
  std::vector<double> group_share;

  /// What each feature of an item adds to its score, beside its quality; empty without features.
  std::vector<double> feature_effect;

  [[nodiscard]] std::span<const double> posterior_of(TaskId pair) const {
    return std::span(pair_posterior).subspan(index(pair) * 3, 3);
  }
  /// The most probable outcome of a pair; a tie of probabilities is a tie.
  [[nodiscard]] Outcome label_of(TaskId pair) const {
    const auto p = posterior_of(pair);
    if (p[0] > p[1] && p[0] > p[2]) return Outcome::left;
    return p[1] > p[0] && p[1] > p[2] ? Outcome::right : Outcome::tie;
  }
};

/// Where a fit begins: what another method found out, or nothing.
struct ComparisonStart {
  std::span<const double> score;  ///< one per item; empty for the method's own start
  [[nodiscard]] bool empty() const noexcept { return score.empty(); }
};

}  // namespace wisecrowd
