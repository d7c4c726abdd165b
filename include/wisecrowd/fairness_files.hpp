#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/fairness.hpp"
#include "wisecrowd/run_record.hpp"
#include "wisecrowd/training_effect.hpp"

// The folder that a look at fairness leaves.

namespace wisecrowd {

/// A plan and what it hands to whom.
struct PlannedAssignment {
  AssignmentRequest request;
  AssignmentPlan plan;
  NameTable tasks;              ///< that were handed out
  std::vector<GroupId> groups;  ///< of these
  std::vector<AssignedAnswer> answers;
};

/// Everything that was found, and how.
struct FairnessResult {
  CategoryData data;
  TaskGroups groups;
  std::string group_column;
  CategoryFit fit;  ///< of the labels that were looked at
  FairnessOptions options;
  FairnessStudy study;
  std::optional<PlannedAssignment> assignment;
  std::optional<TrainingEffect> training;
  RunRecord record;
};

/// Writes gaps.csv (a row per labelling and measure), groups.csv (the rates behind them), workers.csv (a row per
/// worker, group and class), labels.csv, assignment.csv where one was asked for, and run.json; whole or not at all.
Status write_fairness(const FairnessResult& result, const std::string& directory, const RunContext& context);

/// The run as a JSON object, as in run.json.
[[nodiscard]] std::string fairness_json(const FairnessResult& result);
/// The same from the folder. Throws io, or bad_input when it is no folder of write_fairness.
[[nodiscard]] std::string read_fairness(const std::string& folder);

}  // namespace wisecrowd
