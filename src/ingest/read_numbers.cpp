#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "data/number_column.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/repeats.hpp"
#include "ingest/table.hpp"
#include "ingest/worker_changes.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::ingest {
namespace {

NameTable dimension_names(const ColumnPlan& plan) {
  std::vector<std::string> names;
  for (const std::size_t column : plan.numbers) names.push_back(plan.names[column]);
  if (names.empty()) names.emplace_back("value");
  return NameTable(names);
}

/// The columns of the truth: by their own options, else named like the answers' where they are, else by what truth is
/// usually called.
ColumnPlan plan_gold_numbers(const std::string& file, TableFormat format, std::vector<std::string> names,
                             const ReadOptions& options, const NameTable& dimensions, const ColumnPlan& answers) {
  const auto there = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  ReadOptions gold = options;
  gold.task_column = options.gold_task_column;
  gold.label_column = "";
  if (gold.task_column.empty() && there(options.task_column)) gold.task_column = options.task_column;
  std::vector<std::string> columns = options.gold_value_columns;
  if (columns.empty() && !options.gold_label_column.empty()) columns = {options.gold_label_column};
  if (!columns.empty() && columns.size() != dimensions.size()) {
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("{}: answers have {} dimension{}, but {} for gold: name one for each with `gold_columns`", file,
                    dimensions.size(), dimensions.size() == 1 ? "" : "s",
                    columns.size() == 1 ? "1 column is named" : fmt::format("{} columns are named", columns.size())));
  }
  const bool own_columns = !columns.empty() || !options.gold_task_column.empty();
  if (columns.empty() && (dimensions.size() > 1 || there(dimensions[0]))) {
    for (std::size_t d = 0; d < dimensions.size(); ++d) columns.emplace_back(dimensions[d]);
  }
  try {
    return plan_task_numbers(file, format, names, gold, columns);
  } catch (const Error&) {
    const bool headless = !answers.has_header && names.size() > dimensions.size();
    if (own_columns || format == TableFormat::jsonl || !headless) throw;
    // Answers without a header come with gold without one.
    gold.task_column = "1";
    columns.clear();
    for (std::size_t d = 0; d < dimensions.size(); ++d) columns.push_back(fmt::format("{}", d + 2));
    return plan_task_numbers(file, format, std::move(names), gold, columns);
  }
}

/// By task, the row that counts: the first. Later ones that say something else are problems.
std::vector<std::uint64_t> first_rows(const Table& table, DataReport& notes) {
  const std::size_t count = table.plan.numbers.size();
  std::vector<std::uint64_t> rows;
  std::uint64_t row = 0;
  ProblemList contradictions;
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (const auto& piece : table.pieces) {
    for (const std::uint32_t task : piece.tasks) {
      if (task == rows.size()) {
        rows.push_back(row);
      } else if (const double* const values = table.numbers.data() + row * count;
                 !std::equal(values, values + count, table.numbers.data() + rows[task] * count, same)) {
        ++notes.rows_dropped;
        contradictions.add({table.lines.line_of(row), table.plan.names[table.plan.numbers.front()], "",
                            fmt::format("contradicts line {}, which has the same task: keep one of them",
                                        table.lines.line_of(rows[task]))});
      }
      ++row;
    }
  }
  notes.problem_count += contradictions.count;
  for (const auto& problem : contradictions.first) {
    notes.problems.push_back({table.file, problem.line, problem.column, problem.value, problem.message});
  }
  sort_problems(notes);
  return rows;
}

/// Numbers by task after problems and repeats are settled.
struct SettledNumbers {
  Table table;
  std::vector<std::uint64_t> rows;  ///< by task, of table.numbers
};

SettledNumbers read_settled_numbers(const Input& input, const PlanColumns& plan, const ReadOptions& options,
                                    const Tuning& tuning, const RunContext& context, DataReport& notes) {
  TableRequest request;
  request.kind = TableKind::numbers;
  request.keep_lines = true;
  request.plan = plan;
  SettledNumbers settled{read_table(input, request, options, tuning, context, notes), {}};
  settled.rows = first_rows(settled.table, notes);
  settle_problems(settled.table.file, options.lenient, notes);
  if (settled.rows.empty()) refuse_all_rows(settled.table.file, notes);
  return settled;
}

/// The truth of the tasks with answers, tasks × dimensions.
std::vector<double> read_gold_numbers(const Input& input, const ReadOptions& options, const Tuning& tuning,
                                      const RunContext& context, const NameTable& dimensions, const Table& answers,
                                      DataReport& report, OtherGoldNumbers* others) {
  ReadOptions reading = options;
  reading.format = TableFormat::automatic;
  reading.layout = TableLayout::long_rows;
  DataReport notes;
  SettledNumbers settled = read_settled_numbers(
      input,
      [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
        return plan_gold_numbers(file, format, std::move(names), reading, dimensions, answers.plan);
      },
      reading, tuning, context, notes);
  Table& table = settled.table;
  report.gold_rows = notes.rows;
  report.rows_dropped += notes.rows_dropped;
  report.problem_count += notes.problem_count;
  report.warnings.insert(report.warnings.end(), notes.warnings.begin(), notes.warnings.end());

  const std::size_t count = dimensions.size();
  std::vector<double> gold(answers.tasks.size() * count, std::numeric_limits<double>::quiet_NaN());
  const NameTable names = table.tasks.release(context.pool());
  std::uint64_t unknown = 0;
  std::string example;
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::uint32_t task = answers.tasks.find(names[t]);
    const double* const values = table.numbers.data() + settled.rows[t] * count;
    if (task != KeyTable::kAbsent) {
      std::copy_n(values, count, gold.data() + task * count);
    } else if (others != nullptr) {
      others->tasks.emplace_back(names[t]);
      others->values.insert(others->values.end(), values, values + count);
    } else if (unknown++ == 0) {
      example = printable(names[t]);
    }
  }
  if (unknown > 0) {
    const bool all = unknown == names.size();
    report.warnings.push_back(
        {"gold_without_answers",
         all ? fmt::format("{}: none of its {} gold tasks, for example '{}', has answers, so gold is of no use here",
                           table.file, names.size(), example)
             : fmt::format("{}: {} of {} gold tasks, for example '{}', have no answers and are ignored", table.file,
                           unknown, names.size(), example),
         all ? "are its columns swapped, or its tasks spelled otherwise?" : "",
         all ? Severity::serious : Severity::note});
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
                        const Tuning& tuning, const RunContext& context, DataReport* report,
                        OtherGoldNumbers* other_gold) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  refuse_one_input_twice(input, gold);
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
  if (table.pieces.empty()) refuse_all_rows(table.file, notes);
  NameTable workers = table.workers.release(pool);
  change_workers(options, table, workers, notes);
  NumberData data;
  NumberAnswerNames names{{}, std::move(workers), dimension_names(table.plan)};
  if (gold) {
    data.gold = read_gold_numbers(*gold, options, tuning, context, names.dimensions, table, notes, other_gold);
  }
  names.tasks = table.tasks.release(pool);
  if (options.safe_names) {
    for (NameTable* of : {&names.tasks, &names.workers, &names.dimensions}) *of = safe_names(*of);
  }
  if (context.cancelled()) throw Cancelled();
  context.report({.stage = "sorting"});
  std::vector<NumberPiece> pieces = row_pieces(table);
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

NumberTable read_number_table(const Input& input, const ReadOptions& options, const ChooseColumns& choose,
                              const Tuning& tuning, const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  SettledNumbers settled = read_settled_numbers(
      input,
      [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
        std::vector<std::string> columns = choose ? choose(names) : std::vector<std::string>{};
        if (columns.empty()) columns = options.value_columns;
        ColumnPlan plan = plan_task_numbers(file, format, std::move(names), options, columns);
        plan.blank_labels = options.blank_labels;
        return plan;
      },
      options, tuning, context, notes);
  Table& table = settled.table;
  NumberTable out;
  for (const std::size_t column : table.plan.numbers) out.columns.push_back(table.plan.names[column]);
  const std::size_t count = out.columns.size();
  out.values.reserve(settled.rows.size() * count);
  for (const std::uint64_t row : settled.rows) {
    const double* const values = table.numbers.data() + row * count;
    out.values.insert(out.values.end(), values, values + count);
  }
  out.tasks = table.tasks.release(context.pool());
  if (options.safe_names) out.tasks = safe_names(out.tasks);
  return out;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

NumberTable read_number_table(const std::string& path, const ReadOptions& options, const ChooseColumns& choose,
                              const RunContext& context, DataReport* report) {
  return ingest::read_number_table({path, std::nullopt}, options, choose, ingest::Tuning{}, context, report);
}

NumberData read_numbers(const std::string& answers_path, const std::optional<std::string>& gold_path,
                        const ReadOptions& options, const RunContext& context, DataReport* report) {
  const auto inputs = ingest::prepare_inputs(answers_path, gold_path, Numbers::name, false, options, context);
  NumberData data =
      ingest::read_numbers(inputs.answers, inputs.gold, inputs.options, ingest::Tuning{}, context, report);
  inputs.tell(report);
  return data;
}

}  // namespace wisecrowd
