#pragma once

#include <memory>
#include <string>

#include "wisecrowd/ingest.hpp"
#include "wisecrowd/task_graph.hpp"

namespace wisecrowd {

/// Reads a table with two columns of tasks, and perhaps a column `weight`. Tasks that are not among `tasks` are left
/// out and counted in the report; when none of them is there, throws bad_input. Of `options` format, lenient and
/// safe_names count.
[[nodiscard]] std::shared_ptr<const TaskGraph> read_task_graph(const std::string& path, const NameTable& tasks,
                                                               const ReadOptions& options, const RunContext& context,
                                                               DataReport* report = nullptr);

}  // namespace wisecrowd
