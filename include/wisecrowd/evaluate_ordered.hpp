#pragma once

#include <span>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/estimate.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// How far labels are from gold where the order of classes means something.
struct RankScores {
  Estimate rank_error;  ///< mean of |rank of the label − rank of gold|
  /// 1 − Σ (rank difference)² over tasks / the same by chance, given how often each class is label and gold. It is 0
  /// when there is nothing to explain: labels and gold are all of one class.
  Estimate quadratic_kappa;
};

/// Scores labels against gold, both one per task and kNoClass where unknown. Intervals are percentiles of a bootstrap
/// over tasks. Throws bad_input when no task has both.
[[nodiscard]] RankScores evaluate_ranks(std::span<const ClassId> labels, std::span<const ClassId> gold,
                                        std::size_t class_count, const RunContext& context);

/// How far workers agree where the order of classes means something; NaN where undefined, as in Description.
struct RankAgreement {
  double ordinal_alpha = 0;   ///< Krippendorff's, with his ordinal distance
  double weighted_kappa = 0;  ///< Fleiss' as in Description, disagreement being the squared difference of ranks
};
[[nodiscard]] RankAgreement describe_ranks(const CategoryAnswers& answers);

}  // namespace wisecrowd
