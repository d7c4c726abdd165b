#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/answer_times.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/dependence.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/run_record.hpp"

namespace wisecrowd {

/// What is known of one worker after a run; the same columns for every method.
struct WorkerSummary {
  std::uint64_t answers = 0;
  double accuracy = 0;                         ///< expected share of right answers by the model, before tempering
  double accuracy_low = 0, accuracy_high = 0;  ///< 95 % interval of the rate of right answers on tasks like its own
  /// Mutual information of truth and answer at the class prior, in bits: what one answer is worth on this mix of tasks.
  double informativeness = 0;
  std::uint64_t gold_answers = 0;  ///< answers to tasks with gold
  /// From gold alone with a Wilson interval; NaN without gold answers.
  double gold_accuracy = 0, gold_accuracy_low = 0, gold_accuracy_high = 0;
};

/// The outcome of one run on answers that are categories.
struct CategoryResult {
  CategoryData data;
  CategoryFit aggregation;
  std::vector<WorkerSummary> workers;
  /// workers × truth × label; the method's own, or estimated from its posterior. Empty when it would be too large.
  std::vector<double> worker_confusion;
  Dependence dependence;  ///< workers who do not answer independently; aggregation.warnings tells of them
  AnswerTimes times;      ///< when the answers were given, if somebody asked; reports look for workers who got worse
  RunRecord record;
};

/// The labels as they are given out: kNoClass where the probability is below the record's abstain_below. Gold that was
/// part of inference is never abstained from.
[[nodiscard]] std::vector<ClassId> delivered_labels(const CategoryFit& aggregation, double abstain_below);

/// Summarises workers from an aggregation: one pass over the answers. `confusion` gives the informativeness, which is
/// NaN when it is empty. Accuracy and its interval are NaN for workers without answers.
[[nodiscard]] std::vector<WorkerSummary> summarise_workers(const CategoryData& data, const CategoryFit& aggregation,
                                                           std::span<const double> confusion,
                                                           const RunContext& context);
/// The method's confusion tables, or, for methods without, the expected counts with half an answer spread over each
/// row. Empty when there are no tables of the method and estimated ones would take more than 2 GB.
[[nodiscard]] std::vector<double> worker_confusion(const CategoryData& data, const CategoryFit& aggregation,
                                                   const RunContext& context);

/// Completes a result from an aggregation: confusion tables, worker summaries, workers who answer as one (with a
/// warning if there are any), the fingerprint of the data.
[[nodiscard]] CategoryResult make_result(CategoryData data, CategoryFit aggregation, RunRecord record,
                                         const RunContext& context);

/// Confusion tables of more cells than this (half a gigabyte) are for machines: reports and read_result leave them out.
inline constexpr std::size_t kMostShownCells = std::size_t{1} << 26;
/// The same result with the digits that its files have, as far as reports show it: a result that was read back from the
/// files is equal to it.
[[nodiscard]] CategoryResult rounded_for_files(const CategoryResult& result, const RunContext& context);

}  // namespace wisecrowd
