#include "wisecrowd/read_task_groups.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "data/interner.hpp"
#include "ingest/columns.hpp"
#include "ingest/label_rows.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using namespace ingest;

std::size_t named_column(const std::vector<std::string>& names, const std::string& wanted) {
  const auto exact = std::find(names.begin(), names.end(), wanted);
  if (exact != names.end()) return static_cast<std::size_t>(exact - names.begin());
  const auto same = std::find_if(names.begin(), names.end(),
                                 [&](const std::string& name) { return normalised(name) == normalised(wanted); });
  return same == names.end() ? kNoColumn : static_cast<std::size_t>(same - names.begin());
}

ColumnPlan plan_groups(const std::string& file, TableFormat format, std::vector<std::string> names,
                       const std::string& group_column, const std::string& task_column) {
  ColumnPlan plan;
  plan.format = format;
  plan.names = std::move(names);
  plan.blank_labels = true;
  if (!task_column.empty()) plan.task = named_column(plan.names, task_column);  // as the answers call it
  if (plan.task == kNoColumn) plan.task = find_task_column(plan.names);
  plan.label = named_column(plan.names, group_column);
  std::vector<std::string> found;
  for (const std::string& name : plan.names) found.push_back(fmt::format("'{}'", ingest::printable(name, 40)));
  if (plan.label == kNoColumn) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: there is no column '{}' for the group. Found: {}. Name one of "
                                                  "these with `group`",
                                                  file, ingest::printable(group_column), shortened_list(found, 12)));
  }
  if (plan.task == kNoColumn) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: no column names the task. Found: {}. Call one of them 'task'",
                                                  file, shortened_list(found, 12)));
  }
  if (plan.task == plan.label) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: column '{}' cannot be both the task and the group", file,
                                                  ingest::printable(plan.names[plan.task])));
  }
  return plan;
}

std::string_view without_blanks(std::string_view name) {
  const auto first = name.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : name.substr(first, name.find_last_not_of(" \t") - first + 1);
}

}  // namespace

TaskGroupTable read_task_groups(const std::string& path, const std::string& group_column, const ReadOptions& options,
                                const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  ReadOptions reading;
  reading.format = options.format;
  reading.lenient = options.lenient;
  SettledLabels settled = read_settled_labels(
      {path, std::nullopt}, false,
      [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
        return plan_groups(file, format, std::move(names), group_column, options.task_column);
      },
      reading, Tuning{}, context, notes);
  Table& table = settled.table;

  // Names that differ in blanks at their ends are one; one of blanks alone is none.
  const NameTable raw = table.classes.final_names();
  const auto ids = table.classes.final_ids();
  std::vector<GroupId> group_of(raw.size(), kNoGroup);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < raw.size(); ++k) {
    std::string name(without_blanks(raw[k]));
    if (options.safe_names && !name.empty()) name = spreadsheet_safe(name);
    if (name.empty()) continue;
    const auto known = std::find(names.begin(), names.end(), name);
    group_of[k] = GroupId(known - names.begin());
    if (known == names.end()) names.push_back(std::move(name));
  }
  TaskGroupTable out;
  out.file = table.file;
  out.groups.names = NameTable(names);
  for (const std::uint16_t code : settled.codes) {
    out.groups.of_task.push_back(code == index(kNoClass) ? kNoGroup : group_of[ids[code]]);
  }
  out.tasks = table.tasks.release(context.pool());
  if (options.safe_names) out.tasks = safe_names(out.tasks);
  if (names.empty()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: column '{}' is blank in all of its {} rows: fill in the group of each task", out.file,
                            ingest::printable(group_column), notes.rows));
  }
  return out;
}

TaskGroups groups_of(const TaskGroupTable& table, const NameTable& tasks) {
  Interner rows;
  for (std::size_t r = 0; r < table.tasks.size(); ++r) rows.intern(table.tasks[r]);
  TaskGroups groups{table.groups.names, {}};
  std::size_t found = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::uint32_t row = rows.find(tasks[t]);
    groups.of_task.push_back(row == Interner::kAbsent ? kNoGroup : table.groups.of_task[row]);
    found += row == Interner::kAbsent ? 0 : 1;
  }
  if (found == 0 && tasks.size() > 0) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: none of its {} tasks, for example '{}', is among those that were answered, for "
                    "example '{}': are the tasks spelled alike?",
                    table.file, table.tasks.size(), ingest::printable(table.tasks[0]), ingest::printable(tasks[0])));
  }
  return groups;
}

}  // namespace wisecrowd
