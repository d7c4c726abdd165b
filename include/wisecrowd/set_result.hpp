#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wisecrowd/evaluate_sets.hpp"
#include "wisecrowd/run_record.hpp"
#include "wisecrowd/set_fit.hpp"

namespace wisecrowd {

/// What is known of one worker after a run on sets.
struct SetWorkerSummary {
  std::uint64_t answers = 0;
  double set_size = 0;     ///< classes per answer; NaN without answers
  double sensitivity = 0;  ///< of the classes that are true, the share that it names
  double specificity = 0;  ///< of those that are not, the share that it leaves out
  std::uint64_t gold_answers = 0;
  double gold_jaccard = 0;  ///< of its answers to gold tasks, on average; NaN without
};

/// The outcome of one run on answers that are sets of classes.
struct SetResult {
  SetData data;
  SetFit fit;
  std::vector<SetWorkerSummary> workers;
  RunRecord record;
  std::optional<SetEvaluation> evaluation;  ///< against gold that the method did not see
};

/// Completes a result from a fit: worker summaries, the fingerprint of the data.
[[nodiscard]] SetResult make_result(SetData data, SetFit fit, RunRecord record);

/// The same result with the digits that its files have: one that was read back from the files is equal to it.
[[nodiscard]] SetResult rounded_for_files(const SetResult& result);

}  // namespace wisecrowd
