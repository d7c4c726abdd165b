#pragma once

#include <string>
#include <vector>

#include "wisecrowd/ingest.hpp"
#include "wisecrowd/task_groups.hpp"

namespace wisecrowd {

/// A table of tasks with a column that says which group each belongs to.
struct TaskGroupTable {
  std::string file;  ///< for messages
  NameTable tasks;
  TaskGroups groups;  ///< by task of this table; groups in the order of classes: by number, or by name
};

/// Reads the columns of the task and of the group; a blank group is none. Of `options` format, task_column, lenient and
/// safe_names count. Rows that contradict an earlier one of the same task are problems as any other.
[[nodiscard]] TaskGroupTable read_task_groups(const std::string& path, const std::string& group_column,
                                              const ReadOptions& options, const RunContext& context,
                                              DataReport* report = nullptr);

/// The groups of tasks that were answered, by their names. Throws bad_input when no task is in the table.
[[nodiscard]] TaskGroups groups_of(const TaskGroupTable& table, const NameTable& tasks);

}  // namespace wisecrowd
