#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common_options.hpp"

namespace wisecrowd::app {

struct SimulateArguments {
  std::string kind;
  std::uint64_t tasks = 0;  // 0: as the kind has it; likewise below
  std::uint64_t workers = 0;
  std::uint64_t classes = 0;
  std::uint64_t answers_per_task = 0;
  std::uint64_t dimensions = 0;
  std::uint64_t items = 0;
  std::vector<std::string> settings;
  std::string gold;
  std::string tasks_file;
  std::string features;
  std::uint64_t test_tasks = 0;
  std::string class_shares;
  double separation = 0;
  bool has_separation = false;
  std::uint64_t feature_columns = 0;
  std::string out;
  bool json = false;
  RunFlags run;
};

/// Simulates answers that are no categories, if `kind` names such a crowd; false otherwise.
bool simulate_other_kind(const SimulateArguments& options, Session& session);

}  // namespace wisecrowd::app
