#include "wisecrowd/read_task_graph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "data/interner.hpp"
#include "ingest/columns.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/table.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace {

using namespace ingest;

constexpr std::array<std::string_view, 6> kOneNames{"task", "task_1", "task1", "from", "source", "left"};
constexpr std::array<std::string_view, 7> kOtherNames{"neighbour", "neighbor", "task_2", "task2",
                                                      "to",        "target",   "right"};

template <std::size_t count>
std::size_t aliased_column(const std::vector<std::string>& names, const std::array<std::string_view, count>& aliases) {
  for (const std::string_view alias : aliases) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (normalised(names[c]) == alias) return c;
    }
  }
  return kNoColumn;
}

/// Two columns of tasks: by their names, or the only two beside the weight.
ColumnPlan plan_edges(const std::string& file, TableFormat format, std::vector<std::string> names) {
  ColumnPlan plan;
  plan.format = format;
  plan.names = std::move(names);
  const std::size_t weight = aliased_column(plan.names, std::array<std::string_view, 1>{"weight"});
  if (weight != kNoColumn) plan.numbers.push_back(weight);
  plan.task = aliased_column(plan.names, kOneNames);
  plan.worker = aliased_column(plan.names, kOtherNames);
  if (plan.task == kNoColumn || plan.worker == kNoColumn) {
    std::vector<std::size_t> others;
    std::vector<std::string> found;
    for (std::size_t c = 0; c < plan.names.size(); ++c) {
      if (c != weight) others.push_back(c);
      found.push_back(fmt::format("'{}'", ingest::printable(plan.names[c], 40)));
    }
    if (others.size() != 2) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: no two columns name tasks. Found: {}. Call them 'task' and 'neighbour', and a third "
                              "one 'weight' if edges have weights",
                              file, shortened_list(found, 12)));
    }
    plan.task = others[0];
    plan.worker = others[1];
  }
  return plan;
}

/// The task of each name of a table, or kAbsent.
std::vector<std::uint32_t> tasks_named(const Interner& known, const NameTable& names, bool safe) {
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < names.size(); ++i) {
    ids.push_back(known.find(safe ? spreadsheet_safe(names[i]) : std::string(names[i])));
  }
  return ids;
}

void note_edge_problem(const Table& table, std::uint64_t row, std::size_t column, std::string value,
                       std::string message, DataReport& notes) {
  ++notes.problem_count;
  ++notes.rows_dropped;
  if (notes.problems.size() >= kMostProblemsShown) return;
  notes.problems.push_back(
      {table.file, table.lines.line_of(row), table.plan.names[column], std::move(value), std::move(message)});
}

}  // namespace

std::shared_ptr<const TaskGraph> read_task_graph(const std::string& path, const NameTable& tasks,
                                                 const ReadOptions& options, const RunContext& context,
                                                 DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  Interner known;
  for (std::size_t t = 0; t < tasks.size(); ++t) known.intern(tasks[t]);
  ReadOptions reading;
  reading.lenient = options.lenient;
  TableRequest request;
  request.kind = TableKind::numbers;
  request.keep_lines = true;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    ColumnPlan plan = plan_edges(file, format, std::move(names));
    if (known.find(plan.names[plan.task]) != Interner::kAbsent &&
        known.find(plan.names[plan.worker]) != Interner::kAbsent) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: its first row names two tasks, '{}' and '{}', and no columns: put 'task,neighbour' "
                      "above it",
                      file, ingest::printable(plan.names[plan.task]), ingest::printable(plan.names[plan.worker])));
    }
    return plan;
  };
  Table table = read_table({path, std::nullopt}, request, reading, Tuning{}, context, notes);
  const NameTable one_names = table.tasks.release(context.pool()), other_names = table.workers.release(context.pool());
  const auto ones = tasks_named(known, one_names, options.safe_names);
  const auto others = tasks_named(known, other_names, options.safe_names);
  std::vector<TaskEdge> edges;
  std::uint64_t row = 0, unknown = 0;
  for (const CategoryPiece& piece : table.pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++row) {
      const std::uint32_t one = ones[piece.tasks[i]], other = others[piece.workers[i]];
      const double weight = table.plan.numbers.empty() ? 1 : table.numbers[row];
      if (one_names[piece.tasks[i]] == other_names[piece.workers[i]]) {
        note_edge_problem(table, row, table.plan.worker, ingest::printable(other_names[piece.workers[i]]),
                          "is joined to itself: leave this row out", notes);
      } else if (!(weight > 0 && std::isfinite(weight))) {
        note_edge_problem(table, row, table.plan.numbers.front(), fmt::format("{}", weight),
                          "is no weight: give a finite number above 0, or leave the row out", notes);
      } else if (one == Interner::kAbsent || other == Interner::kAbsent) {
        ++unknown;
      } else {
        edges.push_back({one, other, weight});
      }
    }
  }
  sort_problems(notes);
  settle_problems(table.file, options.lenient, notes);
  if (edges.empty() && tasks.size() > 0) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: none of its {} edges joins two tasks that were answered, for example '{}': are the "
                            "tasks spelled alike?",
                            table.file, notes.rows, ingest::printable(tasks[0])));
  }
  if (unknown > 0) {
    notes.warnings.push_back({"edges_without_tasks",
                              fmt::format("{}: {} of {} edges have an end that is no task of the answers and are "
                                          "ignored",
                                          table.file, unknown, notes.rows),
                              "", Severity::note});
  }
  return make_task_graph(edges, tasks.size());
}

}  // namespace wisecrowd
