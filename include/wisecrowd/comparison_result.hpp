#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wisecrowd/comparison_fit.hpp"
#include "wisecrowd/evaluate_comparisons.hpp"
#include "wisecrowd/run_record.hpp"

namespace wisecrowd {

/// What is known of one worker after a run on comparisons. NaN where nothing is.
struct ComparisonWorkerSummary {
  std::uint64_t answers = 0;
  double reliability = 0;  ///< as the method has it
  double side_bias = 0;    ///< share of its guesses that name the left side, as the method has it
  double tie_rate = 0;     ///< share of ties among its answers
  double left_share = 0;   ///< of its decisive answers, those that name the left item
  double agreement = 0;    ///< share of its decisive answers that name the item with the higher score
  std::uint64_t gold_answers = 0;
  double gold_accuracy = 0;  ///< on pairs of known outcome
};

/// The outcome of one run on comparisons.
struct ComparisonResult {
  ComparisonData data;
  ComparisonFit fit;
  std::vector<ComparisonWorkerSummary> workers;
  RunRecord record;
  std::optional<ComparisonEvaluation> evaluation;  ///< against gold that the method did not see
};

/// Completes a result from a fit: worker summaries, the fingerprint of the data.
[[nodiscard]] ComparisonResult make_result(ComparisonData data, ComparisonFit fit, RunRecord record);

/// The same result with the digits that its files have: one that was read back from the files is equal to it.
[[nodiscard]] ComparisonResult rounded_for_files(const ComparisonResult& result);

/// Items from the best to the worst; those of equal score in the order of their names.
[[nodiscard]] std::vector<ItemId> ranking(const ComparisonFit& fit);

}  // namespace wisecrowd
