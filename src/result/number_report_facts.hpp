#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wisecrowd/number_result.hpp"

namespace wisecrowd {

/// Answers that stand far from the others to the same task.
struct OutlyingAnswers {
  /// Per dimension: how far answers to one task scatter, by the median distance of two of them, so that the outlying
  /// ones hardly count; NaN where no task has two answers.
  std::vector<double> scatter;
  /// answers × dimensions: more than kFar scatters from the median of the task, of tasks with three answers or more.
  std::vector<std::uint8_t> far;
  static constexpr double kFar = 3;
  std::uint64_t count = 0;  ///< answers that are far in some dimension
};
[[nodiscard]] OutlyingAnswers outlying_answers(const NumberAnswers& answers);

/// What a report says beyond what a NumberResult holds, from the stages that know how to find it.
struct NumberReportFacts {
  NumberDescription description;
  OutlyingAnswers outlying;
  std::optional<NumberEvaluation> evaluation;  ///< against gold that the method did not see
  std::vector<double> correlation;             ///< with that gold, per dimension; NaN where one side does not vary
};
[[nodiscard]] NumberReportFacts report_facts(const NumberResult& result);

}  // namespace wisecrowd
