#pragma once

#include <span>
#include <vector>

#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/number_data.hpp"

namespace wisecrowd {

/// How far estimates are from the truth, in one dimension.
struct NumberScore {
  Estimate absolute_error;  ///< mean, with a 95 % interval
  Estimate squared_error;   ///< root of the mean square, with a 95 % interval
  double r_squared = 0;     ///< 1 − squared error / variance of the truth; NaN where the truth does not vary
  double bias = 0;          ///< mean of estimate − truth
  double coverage = 0;      ///< share of the intervals that hold the truth; NaN without intervals
};

struct NumberEvaluation {
  std::size_t tasks = 0;                ///< with both an estimate and gold; all measures are over them
  std::size_t missing = 0;              ///< tasks with gold but without an estimate
  std::vector<NumberScore> dimensions;  ///< one score each
};

/// Scores estimates against gold: tasks × dimensions, NaN where unknown. `low` and `high` may be empty.
[[nodiscard]] NumberEvaluation evaluate_numbers(std::span<const double> estimate, std::span<const double> low,
                                                std::span<const double> high, std::span<const double> gold,
                                                std::size_t dimensions);

/// One dimension of the answers.
struct DimensionDescription {
  Distribution values;
  double deviation = 0;         ///< of all answers
  double deviation_within = 0;  ///< of the answers to one task, pooled; NaN where no task has two
  double alpha = 0;             ///< Krippendorff's, for intervals: 1 means that all agree, 0 chance
  double icc = 0;               ///< intraclass correlation of one answer, ICC(1)
};

/// What the answers look like before any method is run.
struct NumberDescription : GraphDescription {
  std::vector<DimensionDescription> dimensions;
  std::vector<Warning> warnings;
};
[[nodiscard]] NumberDescription describe(const NumberAnswers& answers);

}  // namespace wisecrowd
