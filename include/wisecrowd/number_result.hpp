#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/evaluate_numbers.hpp"
#include "wisecrowd/number_fit.hpp"
#include "wisecrowd/run_record.hpp"

namespace wisecrowd {

/// What is known of one worker after a run on numbers, per dimension.
struct NumberWorkerSummary {
  std::uint64_t answers = 0;
  std::vector<double> bias;   ///< how much too high it answers on average
  std::vector<double> scale;  ///< standard deviation of its errors around that
  std::vector<double> slope;  ///< its answers rise so much with the truth; empty if the method has no slopes
  std::uint64_t gold_answers = 0;
  std::vector<double> gold_error;  ///< mean absolute error on gold tasks; NaN without
};

/// The outcome of one run on answers that are numbers.
struct NumberResult {
  NumberData data;
  NumberFit fit;
  std::vector<NumberWorkerSummary> workers;
  RunRecord record;
  std::optional<NumberEvaluation> evaluation;  ///< against gold that the method did not see
};

/// Completes a result from a fit: worker summaries, the fingerprint of the data.
[[nodiscard]] NumberResult make_result(NumberData data, NumberFit fit, RunRecord record);

/// The same result with the digits that its files have: one that was read back from the files is equal to it.
[[nodiscard]] NumberResult rounded_for_files(const NumberResult& result);

}  // namespace wisecrowd
