#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/comparison_result.hpp"
#include "wisecrowd/learn_result.hpp"
#include "wisecrowd/number_result.hpp"
#include "wisecrowd/sequence_result.hpp"
#include "wisecrowd/set_result.hpp"
#include "wisecrowd/similarity_result.hpp"

namespace wisecrowd::store {

/// The file that marks a folder as the result of a run.
inline constexpr const char* kRunRecord = "run.json";

/// Everything that run.json says of a run. run_record.cpp has one list of its fields, by which it is written and read.
struct StoredRecord {
  RunRecord record;  ///< read back, data_warnings holds those of the fit, too
  FitSummary fit;
  TieRule tie_rule = TieRule::lowest;
  std::vector<double> class_prior;
  std::optional<LearnSummary> learned;  ///< when the crowd was part of learning

  // What the answers were.
  std::string answers_kind{Categories::name};
  std::vector<std::string> dimensions;  ///< of numbers
  std::optional<NumberEvaluation> number_evaluation;
  std::uint64_t similar_items = 0;  ///< of similarities, whose tasks are pairs
  std::optional<SimilarityEvaluation> similarity_evaluation;
  std::uint64_t items = 0;  ///< of comparisons
  std::optional<ComparisonEvaluation> comparison_evaluation;
  double set_threshold = 0.5;  ///< of sets; their class_prior is above
  std::optional<SetEvaluation> set_evaluation;
  std::vector<std::string> span_types;  ///< of sequences
  std::uint64_t tokens = 0;             ///< of sequences
  std::optional<SequenceEvaluation> sequence_evaluation;
  std::uint64_t tasks = 0, workers = 0, answers = 0;
  std::vector<std::string> classes;
  bool ordered = false;                                 ///< their order means something
  std::optional<Estimate> rank_error, quadratic_kappa;  ///< of ordered classes, where labels were scored
  std::uint64_t abstained_tasks = 0;                    ///< left blank for want of probability
};

[[nodiscard]] StoredRecord stored_record(const CategoryResult& result);
[[nodiscard]] StoredRecord stored_record(const LearnResult& result);
[[nodiscard]] StoredRecord stored_record(const NumberResult& result);
[[nodiscard]] StoredRecord stored_record(const NumberLearnResult& result);
[[nodiscard]] StoredRecord stored_record(const SimilarityResult& result);
[[nodiscard]] StoredRecord stored_record(const ComparisonResult& result);
[[nodiscard]] StoredRecord stored_record(const SetResult& result);
[[nodiscard]] StoredRecord stored_record(const SequenceResult& result);

/// As it stands in run.json, but for the name of the program and the list of files. Timings, threads and the command
/// are the only entries that may differ between two runs on the same data with the same parameters and seed.
[[nodiscard]] nlohmann::ordered_json record_json(StoredRecord stored);

/// Reads the run.json of a folder. Throws io when there is none, bad_input when it cannot be understood.
[[nodiscard]] StoredRecord read_record(const std::string& folder);

}  // namespace wisecrowd::store
