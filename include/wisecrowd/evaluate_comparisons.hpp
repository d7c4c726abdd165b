#pragma once

#include <optional>
#include <span>
#include <vector>

#include "wisecrowd/comparison_data.hpp"
#include "wisecrowd/comparison_fit.hpp"
#include "wisecrowd/evaluate.hpp"

namespace wisecrowd {

/// How far a ranking and the outcomes of pairs agree with what is known.
struct ComparisonEvaluation {
  std::size_t pairs = 0;             ///< with a known outcome
  std::optional<Estimate> accuracy;  ///< of their outcomes, ties among them, from scores and answers together
  std::size_t decisive_pairs = 0;    ///< of which one item is known to be better
  std::optional<Estimate> ordered;   ///< share of these that the scores alone order rightly; equal scores count half
  std::size_t items = 0;             ///< of known quality
  std::optional<double> kendall;     ///< tau-b of scores and known quality
  std::optional<double> spearman;    ///< correlation of the ranks
};

/// Scores of items against gold of pairs, of items, or of both. `posterior` is pairs × 3, or empty.
[[nodiscard]] ComparisonEvaluation evaluate_comparisons(std::span<const double> scores,
                                                        std::span<const double> posterior, const ComparisonData& gold);

/// Kendall's tau-b: 1 for the same order, −1 for the opposite; NaN where one of the two is constant.
[[nodiscard]] double kendall_tau(std::span<const double> a, std::span<const double> b);
/// Correlation of ranks, those of equal values averaged.
[[nodiscard]] double spearman_correlation(std::span<const double> a, std::span<const double> b);

/// What comparisons look like before any method is run. Tasks are pairs.
struct ComparisonDescription : GraphDescription {
  std::size_t items = 0;
  Distribution comparisons_per_item;
  double tie_share = 0;  ///< of the answers
  Estimate left_share;   ///< of the decisive answers, those that name the left item; ½ without a bias
  double agreement = 0;  ///< share of agreeing pairs of answers to the same pair of items; NaN where there are none
  double alpha = 0;      ///< Krippendorff's, nominal, with left and right as likely as each other
  std::size_t item_groups = 0;    ///< parts that comparisons do not join
  std::size_t strong_groups = 0;  ///< parts whose items lead to one another by wins
  std::vector<Warning> warnings;
};
[[nodiscard]] ComparisonDescription describe(const ComparisonAnswers& answers);

}  // namespace wisecrowd
