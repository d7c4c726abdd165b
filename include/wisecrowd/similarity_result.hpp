#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wisecrowd/evaluate_similarities.hpp"
#include "wisecrowd/run_record.hpp"
#include "wisecrowd/similarity_fit.hpp"

namespace wisecrowd {

/// What is known of one worker after a run on similarities.
struct SimilarityWorkerSummary {
  std::uint64_t answers = 0;
  std::uint64_t said_same = 0;
  double false_different = 0;  ///< P(says different | same)
  double false_same = 0;       ///< P(says same | different)
  double agreement = 0;        ///< share of its answers that are what the clusters say; NaN without answers
  std::uint64_t gold_answers = 0;
  double gold_accuracy = 0;  ///< share of those that are right; NaN without
};

/// The outcome of one run on answers that say same or different.
struct SimilarityResult {
  SimilarityData data;
  SimilarityFit fit;
  std::vector<SimilarityWorkerSummary> workers;
  RunRecord record;
  std::optional<SimilarityEvaluation> evaluation;  ///< against gold that the method did not see
};

/// Completes a result from a fit: worker summaries, the fingerprint of the data.
[[nodiscard]] SimilarityResult make_result(SimilarityData data, SimilarityFit fit, RunRecord record);

/// The same result with the digits that its files have: one that was read back from the files is equal to it.
[[nodiscard]] SimilarityResult rounded_for_files(const SimilarityResult& result);

/// How many items are in each cluster of a fit.
[[nodiscard]] std::vector<std::uint64_t> cluster_sizes(const SimilarityFit& fit);

}  // namespace wisecrowd
