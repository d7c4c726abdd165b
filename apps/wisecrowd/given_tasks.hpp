#pragma once

#include <string>

#include "wisecrowd/read_features.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd::app {

/// Tasks, truth and features that exist already, as read from files.
struct GivenFiles {
  GivenTasks tasks;
  Features features;       ///< what tasks.features looks at
  std::string task_table;  ///< the text of the tasks file
};

/// Reads gold (task,label), the tasks file (task,row,split) and features, the last two if their paths are not empty.
/// Tasks are those of the tasks file or the features; without both, those of the gold. Gold of any other task is
/// refused; tasks without gold stay, but nobody will answer them.
[[nodiscard]] GivenFiles read_given_tasks(const std::string& gold, const std::string& tasks,
                                          const std::string& features, const RunContext& context);

}  // namespace wisecrowd::app
