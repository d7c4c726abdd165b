#include <fmt/core.h>

#include <algorithm>

#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"

namespace wisecrowd::ingest::toloka {
namespace {

struct Columns {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t task = kNone, worker = kNone, status = kNone, time = kNone, assignment = kNone;
  std::vector<std::pair<std::string, std::size_t>> outputs, golden;

  explicit Columns(const std::vector<std::string>& names) {
    constexpr std::string_view kOutput = "OUTPUT:", kGolden = "GOLDEN:";
    for (std::size_t c = 0; c < names.size(); ++c) {
      const std::string& name = names[c];
      if (name == "ASSIGNMENT:task_id") task = c;
      if (name == "ASSIGNMENT:worker_id") worker = c;
      if (name == "ASSIGNMENT:status") status = c;
      if (name == "ASSIGNMENT:assignment_id") assignment = c;
      if (name == "ASSIGNMENT:submitted") time = c;
      if (name.starts_with(kOutput)) outputs.emplace_back(name.substr(kOutput.size()), c);
      if (name.starts_with(kGolden)) golden.emplace_back(name.substr(kGolden.size()), c);
    }
  }
};

/// States of an assignment that was handed in and not refused.
bool was_taken(const std::string& status) {
  return status.empty() || status == "APPROVED" || status == "ACCEPTED" || status == "SUBMITTED";
}

void read_row(const Columns& columns, const std::vector<std::string>& fields, std::uint64_t line, Collected& into) {
  const Place place{.row = line};
  const std::string& task = fields[columns.task];
  if (task.empty()) return into.problem(place, "", "", "ASSIGNMENT:task_id is blank: complete the row");
  const bool is_gold = std::any_of(columns.golden.begin(), columns.golden.end(),
                                   [&](const auto& column) { return !fields[column.second].empty(); });
  if (is_gold) {
    const std::uint32_t truth = into.submit(task, "gold", place);
    into.submissions[truth].gold = true;
    for (const auto& [question, column] : columns.golden) {
      if (!fields[column].empty()) into.say(truth, question, Shape::label, fields[column]);
    }
  }
  const std::string status = columns.status == Columns::kNone ? "" : fields[columns.status];
  if (!was_taken(status)) {
    ++into.left_out[status == "REJECTED" ? "rejected" : status == "SKIPPED" ? "skipped" : "unfinished"];
    return;
  }
  if (fields[columns.worker].empty()) {
    return into.problem(place, "", "", "ASSIGNMENT:worker_id is blank: complete the row");
  }
  const std::uint32_t submission = into.submit(task, fields[columns.worker], place);
  if (columns.assignment != Columns::kNone && status == "SUBMITTED") {
    into.assignments.emplace(fields[columns.assignment], into.submissions[submission].worker);
  }
  if (columns.time != Columns::kNone) into.set_time(submission, fields[columns.time]);
  for (const auto& [question, column] : columns.outputs) {
    if (!fields[column].empty()) into.say(submission, question, Shape::label, fields[column]);
  }
}

bool recognises(const FileHead& head) {
  return head.has_column("ASSIGNMENT:worker_id") && head.has_column("ASSIGNMENT:task_id") &&
         head.has_column_like("OUTPUT:");
}

void read(const PlatformFile& file, Collected& into) {
  std::optional<Columns> columns;
  read_table_rows(
      file,
      [&](const std::vector<std::string>& names) {
        columns.emplace(names);
        require_columns(into.file, "Toloka",
                        {{"ASSIGNMENT:task_id", columns->task}, {"ASSIGNMENT:worker_id", columns->worker}});
      },
      [&](const std::vector<std::string>& fields, std::uint64_t line) { read_row(*columns, fields, line, into); },
      into);
}

}  // namespace

Platform platform() {
  return {.info = {.title = "Toloka", .summary = "the assignments of a pool as TSV"},
          .recognises = recognises,
          .read = read,
          .time_names = {"ASSIGNMENT:submitted"}};
}

}  // namespace wisecrowd::ingest::toloka
