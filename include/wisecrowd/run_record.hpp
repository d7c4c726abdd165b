#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/cleaning.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/parameters.hpp"

namespace wisecrowd {

/// A method that ran before or after the main one, and what for.
struct StageRecord {
  std::string role;  ///< "init" or "finish"
  std::string method;
  std::string handoff;  ///< init: what it gave on, "posterior" or "tables"
  std::vector<std::pair<std::string, ParameterValue>> parameters;
};

/// Everything needed to know what was run and to run it again.
struct RunRecord {
  std::string version;
  std::string command;  ///< as typed
  std::string method;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::vector<StageRecord> stages;  ///< the others, if it did not run alone
  std::uint64_t seed = 0;
  unsigned threads = 1;
  std::uint64_t data_hash = 0;
  std::vector<std::pair<std::string, std::string>> inputs;  ///< role and path: ("answers", "labels.csv")
  /// How the tables were read, where it was not by default: ("task_column", "question").
  std::vector<std::pair<std::string, std::string>> reading;
  std::uint64_t gold_tasks = 0;  ///< tasks whose truth was given
  /// What gold was for: "inference" (the method saw it, so these tasks are no test), "evaluation" (it did not) or
  /// "none".
  std::string gold_use = "none";
  std::optional<Cleaning> cleaning;                     ///< workers whose answers the method did not see
  double abstain_below = 0;                             ///< labels with less probability than this are left blank
  std::optional<Evaluation> evaluation;                 ///< against gold that the method did not see
  std::vector<Warning> data_warnings;                   ///< from reading and describing the data
  std::vector<std::pair<std::string, double>> timings;  ///< stage and seconds
};

}  // namespace wisecrowd
