#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "data/number_column.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/repeats.hpp"
#include "ingest/table.hpp"
#include "ingest/worker_changes.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::ingest {
namespace {

/// Pieces whose payload is the row of an answer in the table of numbers.
std::vector<NumberPiece> number_pieces(Table& table) {
  std::vector<NumberPiece> pieces;
  std::uint64_t answer = 0;
  for (CategoryPiece& piece : table.pieces) {
    NumberPiece& out = pieces.emplace_back();
    out.tasks = std::move(piece.tasks);
    out.workers = std::move(piece.workers);
    out.payload.resize(out.tasks.size());
    for (std::uint32_t& row : out.payload) {
      row = static_cast<std::uint32_t>(table.kept_rows.empty() ? answer : table.kept_rows[answer]);
      ++answer;
    }
  }
  table.pieces.clear();
  return pieces;
}

void reverse_rows(std::vector<NumberPiece>& pieces) {
  std::reverse(pieces.begin(), pieces.end());
  for (auto& piece : pieces) {
    std::reverse(piece.tasks.begin(), piece.tasks.end());
    std::reverse(piece.workers.begin(), piece.workers.end());
    std::reverse(piece.payload.begin(), piece.payload.end());
  }
}

NameTable dimension_names(const ColumnPlan& plan) {
  std::vector<std::string> names;
  for (const std::size_t column : plan.numbers) names.push_back(plan.names[column]);
  if (names.empty()) names.emplace_back("value");
  return NameTable(names);
}

/// The columns of the truth: named like the answers' where they are, else by what truth is usually called.
ColumnPlan plan_gold_numbers(const std::string& file, TableFormat format, std::vector<std::string> names,
                             const ReadOptions& options, const NameTable& dimensions) {
  ReadOptions gold = options;
  gold.layout = TableLayout::long_rows;
  gold.task_column = options.gold_task_column;
  gold.label_column = options.gold_label_column;
  const auto there = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (gold.task_column.empty() && there(options.task_column)) gold.task_column = options.task_column;
  const bool named_alike = gold.label_column.empty() && there(dimensions[0]);
  if (named_alike) gold.label_column = std::string(dimensions[0]);
  ColumnPlan plan = plan_labels(file, format, std::move(names), gold);
  plan.worker = kNoColumn;
  plan.numbers = {std::exchange(plan.label, kNoColumn)};
  for (std::size_t d = 1; d < dimensions.size(); ++d) {
    const auto at = std::find(plan.names.begin(), plan.names.end(), dimensions[d]);
    if (at == plan.names.end()) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: gold needs a column '{}', as the answers have", file, printable(dimensions[d])));
    }
    plan.numbers.push_back(static_cast<std::size_t>(at - plan.names.begin()));
  }
  return plan;
}

/// The truth of the tasks with answers, tasks × dimensions.
std::vector<double> read_gold_numbers(const Input& input, const ReadOptions& options, const Tuning& tuning,
                                      const RunContext& context, const NameTable& dimensions, const KeyTable& tasks,
                                      DataReport& report) {
  ReadOptions reading = options;
  reading.format = TableFormat::automatic;
  TableRequest request;
  request.kind = TableKind::numbers;
  request.keep_lines = true;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    return plan_gold_numbers(file, format, std::move(names), reading, dimensions);
  };
  DataReport notes;
  Table table = read_table(input, request, reading, tuning, context, notes);
  const std::size_t count = dimensions.size();
  std::vector<double> by_gold_task;
  std::vector<std::uint64_t> first_row;
  std::uint64_t row = 0;
  ProblemList contradictions;
  for (const auto& piece : table.pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++row) {
      const double* const values = table.numbers.data() + row * count;
      const std::uint32_t task = piece.tasks[i];
      if (task == first_row.size()) {
        first_row.push_back(row);
        by_gold_task.insert(by_gold_task.end(), values, values + count);
      } else if (!std::equal(values, values + count,
                             by_gold_task.begin() + static_cast<std::ptrdiff_t>(task * count))) {
        ++notes.rows_dropped;
        contradictions.add({table.lines.line_of(row), table.plan.names[table.plan.numbers.front()], "",
                            fmt::format("contradicts line {}, which has the same task: keep one of them",
                                        table.lines.line_of(first_row[task]))});
      }
    }
  }
  notes.problem_count += contradictions.count;
  for (const auto& problem : contradictions.first) {
    notes.problems.push_back({table.file, problem.line, problem.column, problem.value, problem.message});
  }
  sort_problems(notes);
  settle_problems(table.file, options.lenient, notes);
  report.gold_rows = notes.rows;
  report.rows_dropped += notes.rows_dropped;
  report.problem_count += notes.problem_count;
  report.warnings.insert(report.warnings.end(), notes.warnings.begin(), notes.warnings.end());

  std::vector<double> gold(tasks.size() * count, std::numeric_limits<double>::quiet_NaN());
  const NameTable names = table.tasks.release(context.pool());
  std::uint64_t unknown = 0;
  std::string example;
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::uint32_t task = tasks.find(names[t]);
    if (task == KeyTable::kAbsent) {
      if (unknown++ == 0) example = printable(names[t]);
      continue;
    }
    std::copy_n(by_gold_task.begin() + static_cast<std::ptrdiff_t>(t * count), count,
                gold.begin() + static_cast<std::ptrdiff_t>(task * count));
  }
  if (unknown > 0) {
    const bool all = unknown == names.size();
    report.warnings.push_back(
        {"gold_without_answers",
         all ? fmt::format("{}: none of its {} gold tasks, for example '{}', has answers, so gold is of no use here: "
                           "are its columns swapped, or its tasks spelled otherwise?",
                           table.file, names.size(), example)
             : fmt::format("{}: {} of {} gold tasks, for example '{}', have no answers and are ignored", table.file,
                           unknown, names.size(), example)});
  }
  return gold;
}

/// Builds the answers and adds a problem for every repeated pair.
NumberAnswers build_numbers_without_repeats(const Table& table, std::vector<NumberPiece> pieces,
                                            NumberAnswerNames names, ThreadPool& pool, DataReport& report) {
  BuildReport built;
  std::vector<RepeatedPair> repeated;
  NumberAnswers answers = build_number_answers(std::move(pieces), table.numbers, std::move(names),
                                               DuplicatePolicy::reject, pool, &built, &repeated);
  note_repeats(table, answers, repeated, built, report);
  return answers;
}

}  // namespace

NumberData read_numbers(const Input& input, const std::optional<Input>& gold, const ReadOptions& options,
                        const Tuning& tuning, const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  if (gold && gold->name == "-" && input.name == "-" && !gold->memory) {
    throw Error(ErrorCode::bad_parameter, "answers and gold cannot both come from standard input: name a file for one");
  }
  if (!options.classes.empty()) {
    throw Error(ErrorCode::bad_parameter, "answers that are numbers have no classes: leave the class list out");
  }
  TableRequest request;
  request.kind = TableKind::numbers;
  request.keep_lines = true;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    return plan_numbers(file, format, std::move(names), options);
  };
  Table table = read_table(input, request, options, tuning, context, notes);
  ThreadPool& pool = context.pool();
  settle_problems(table.file, options.lenient, notes);
  if (table.pieces.empty()) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: none of its {} rows can be used. The first problem: {}",
                                                  table.file, notes.rows, notes.problems.front().text()));
  }
  NameTable workers = table.workers.release(pool);
  change_workers(options, table, workers, notes);
  NumberData data;
  NumberAnswerNames names{{}, std::move(workers), dimension_names(table.plan)};
  if (gold) data.gold = read_gold_numbers(*gold, options, tuning, context, names.dimensions, table.tasks, notes);
  names.tasks = table.tasks.release(pool);
  if (options.safe_names) {
    for (NameTable* of : {&names.tasks, &names.workers, &names.dimensions}) *of = safe_names(*of);
  }
  if (context.cancelled()) throw Cancelled();
  context.report({.stage = "sorting"});
  std::vector<NumberPiece> pieces = number_pieces(table);
  const NewIds order = put_in_order(names.tasks, names.workers, pieces, pool);
  if (!order.tasks.empty() && data.has_gold()) {
    const std::size_t count = names.dimensions.size();
    std::vector<double> moved(data.gold.size());
    for (std::size_t t = 0; t < order.tasks.size(); ++t) {
      std::copy_n(data.gold.begin() + static_cast<std::ptrdiff_t>(t * count), count,
                  moved.begin() + static_cast<std::ptrdiff_t>(order.tasks[t] * count));
    }
    data.gold = std::move(moved);
  }

  const bool reject = options.duplicates == DuplicatePolicy::reject;
  if (reject && !options.lenient) {
    data.answers = build_numbers_without_repeats(table, std::move(pieces), std::move(names), pool, notes);
    settle_problems(table.file, false, notes);
    return data;
  }
  BuildReport built;
  if (reject) reverse_rows(pieces);
  const auto policy = reject ? DuplicatePolicy::keep_last : options.duplicates;
  data.answers = build_number_answers(std::move(pieces), table.numbers, std::move(names), policy, pool, &built);
  note_duplicates(table.file, built, reject, notes);
  return data;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

NumberTable read_number_table(const std::string& path, const std::string& task_column,
                              const std::vector<std::string>& columns, const RunContext& context) {
  ingest::TableRequest request;
  request.kind = ingest::TableKind::numbers;
  request.keep_lines = true;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    ReadOptions options;
    options.task_column = task_column;
    options.label_column = columns.front();
    ingest::ColumnPlan plan = ingest::plan_labels(file, format, std::move(names), options);
    plan.blank_labels = true;
    plan.numbers = {std::exchange(plan.label, ingest::kNoColumn)};
    for (std::size_t c = 1; c < columns.size(); ++c) {
      const auto at = std::find(plan.names.begin(), plan.names.end(), columns[c]);
      if (at == plan.names.end()) {
        throw Error(ErrorCode::bad_input, fmt::format("{}: there is no column '{}'", file, printable(columns[c])));
      }
      plan.numbers.push_back(static_cast<std::size_t>(at - plan.names.begin()));
    }
    return plan;
  };
  DataReport notes;
  const ReadOptions options;
  ingest::Table table = ingest::read_table({path, std::nullopt}, request, options, {}, context, notes);
  ingest::settle_problems(table.file, false, notes);
  NumberTable out;
  out.columns = columns;
  std::uint64_t row = 0;
  std::size_t tasks = 0;
  for (const auto& piece : table.pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++row) {
      if (piece.tasks[i] != tasks) {
        throw Error(ErrorCode::bad_input, fmt::format("{}:{}: this task stands in an earlier line, too: keep one of "
                                                      "them",
                                                      table.file, table.lines.line_of(row)));
      }
      ++tasks;
    }
  }
  out.values = std::move(table.numbers);
  out.tasks = table.tasks.release(context.pool());
  return out;
}

std::vector<std::string> read_column_names(const std::string& path, const RunContext& context) {
  std::vector<std::string> found;
  ingest::TableRequest request;
  request.kind = ingest::TableKind::numbers;
  request.plan = [&](const std::string&, TableFormat, std::vector<std::string> names) -> ingest::ColumnPlan {
    found = std::move(names);
    throw Cancelled();  // nothing more is wanted of the table
  };
  DataReport notes;
  const ReadOptions options;
  try {
    (void)ingest::read_table({path, std::nullopt}, request, options, {}, context, notes);
  } catch (const Cancelled&) {
    if (context.cancelled()) throw;
  }
  return found;
}

NumberData read_numbers(const std::string& answers_path, const std::optional<std::string>& gold_path,
                        const ReadOptions& options, const RunContext& context, DataReport* report) {
  std::optional<ingest::Input> gold;
  if (gold_path) gold = ingest::Input{*gold_path, std::nullopt};
  return ingest::read_numbers({answers_path, std::nullopt}, gold, options, ingest::Tuning{}, context, report);
}

}  // namespace wisecrowd
