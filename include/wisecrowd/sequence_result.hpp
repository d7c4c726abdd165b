#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/evaluate_sequences.hpp"
#include "wisecrowd/run_record.hpp"
#include "wisecrowd/sequence_fit.hpp"

namespace wisecrowd {

/// What is known of one worker after a run on sequences.
struct SequenceWorkerSummary {
  std::uint64_t documents = 0;
  std::uint64_t tags = 0;
  double accuracy = 0;  ///< expected share of right tags
  SpanCounts spans;     ///< against the tags of the result, where the worker answered
  std::uint64_t gold_tags = 0;
  double gold_accuracy = 0;  ///< share of right tags at tokens with gold; NaN without
  SpanCounts gold_spans;
};

/// The outcome of one run on answers that are sequences.
struct SequenceResult {
  SequenceData data;
  SequenceFit fit;
  std::vector<SequenceWorkerSummary> workers;
  RunRecord record;
  std::optional<SequenceEvaluation> evaluation;  ///< against gold that the method did not see
};

/// Completes a result from a fit: worker summaries, the fingerprint of the data.
[[nodiscard]] SequenceResult make_result(SequenceData data, SequenceFit fit, RunRecord record);

/// The same result with the digits that its files have: one that was read back from the files is equal to it.
[[nodiscard]] SequenceResult rounded_for_files(const SequenceResult& result);

}  // namespace wisecrowd
