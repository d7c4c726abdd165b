#include <fmt/core.h>

#include <algorithm>

#include "ingest/label_rows.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::string_view kConfidenceName = "probability";
constexpr std::string_view kClassPrefix = "p_";

ColumnPlan plan_with_numbers(ColumnPlan plan) {
  for (std::size_t c = 0; c < plan.names.size(); ++c) {
    const std::string& name = plan.names[c];
    if (c == plan.task || c == plan.label || !plan.has_header) continue;
    if (name == kConfidenceName || (name.starts_with(kClassPrefix) && name.size() > kClassPrefix.size())) {
      plan.numbers.push_back(c);
    }
  }
  return plan;
}

[[noreturn]] void refuse_twice(std::string_view column, const std::string& file) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: there are two columns '{}': rename one", file, printable(column)));
}

}  // namespace

SettledLabels read_settled_labels(const Input& input, bool with_numbers, const PlanColumns& plan,
                                  const ReadOptions& options, const Tuning& tuning, const RunContext& context,
                                  DataReport& report) {
  TableRequest request;
  request.kind = TableKind::labels;
  request.keep_lines = true;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    ColumnPlan columns = plan(file, format, std::move(names));
    return with_numbers ? plan_with_numbers(std::move(columns)) : columns;
  };
  SettledLabels settled{read_table(input, request, options, tuning, context, report), {}, {}};
  const Table& table = settled.table;

  const auto name_of = [&](std::uint16_t code) {
    return code == index(kNoClass) ? std::string() : printable(table.classes.names()[code]);
  };
  std::uint64_t row = 0;
  ProblemList contradictions;
  for (const auto& piece : table.pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++row) {
      const std::uint32_t task = piece.tasks[i];
      if (task == settled.codes.size()) {
        settled.codes.push_back(piece.payload[i]);
        settled.rows.push_back(row);
        continue;
      }
      if (settled.codes[task] == piece.payload[i]) continue;
      ++report.rows_dropped;
      contradictions.add({table.lines.line_of(row), table.plan.names[table.plan.label], name_of(piece.payload[i]),
                          fmt::format("contradicts line {}, which says '{}' for the same task: keep one of them",
                                      table.lines.line_of(settled.rows[task]), name_of(settled.codes[task]))});
    }
  }
  if (!contradictions.first.empty() && table.classes.names().size() > settled.codes.size()) {
    contradictions.first.front().message +=
        "; there are more different labels than tasks: are the two columns swapped?";
  }
  report.problem_count += contradictions.count;
  for (const auto& problem : contradictions.first) {
    report.problems.push_back({table.file, problem.line, problem.column, problem.value, problem.message});
  }
  sort_problems(report);
  settle_problems(table.file, options.lenient, report);
  if (settled.codes.empty()) refuse_all_rows(table.file, report);
  return settled;
}

LabelTable read_label_table(const Input& input, const ReadOptions& options, const Tuning& tuning,
                            const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  SettledLabels settled = read_settled_labels(
      input, true,
      [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
        ColumnPlan columns = plan_labels(file, format, std::move(names), options);
        columns.blank_labels = options.blank_labels;
        return columns;
      },
      options, tuning, context, notes);
  Table& table = settled.table;

  // A class may have a column of probabilities without being the label of any task.
  const auto& numbers = table.plan.numbers;
  std::vector<std::uint32_t> code_of_number;
  std::size_t confidence_at = kNoColumn;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const std::string_view name = table.plan.names[numbers[n]];
    if (name == kConfidenceName) {
      if (confidence_at != kNoColumn) refuse_twice(name, table.file);
      confidence_at = n;
      continue;
    }
    const std::string_view label = name.substr(kClassPrefix.size());
    std::uint32_t code = table.classes.find(label);
    if (code == Interner::kAbsent) {
      if (table.classes.is_given()) {
        throw Error(ErrorCode::bad_input, fmt::format("{}: column '{}' belongs to none of the classes {}", table.file,
                                                      printable(name), table.classes.listed()));
      }
      code = table.classes.add(label, table.file);
    }
    if (std::find(code_of_number.begin(), code_of_number.end(), code) != code_of_number.end()) {
      refuse_twice(name, table.file);
    }
    code_of_number.push_back(code);
  }

  LabelTable out;
  const auto ids = table.classes.final_ids();
  const std::size_t tasks = settled.codes.size();
  const std::size_t classes = ids.size();
  out.classes = table.classes.final_names();
  out.labels.reserve(tasks);
  for (const std::uint16_t code : settled.codes) {
    out.labels.push_back(code == index(kNoClass) ? kNoClass : ClassId{ids[code]});
  }
  if (confidence_at != kNoColumn) out.confidence.resize(tasks);
  if (!code_of_number.empty()) out.probabilities.assign(tasks * classes, 0.0);
  for (std::size_t t = 0; t < tasks && !numbers.empty(); ++t) {
    const double* values = table.numbers.data() + settled.rows[t] * numbers.size();
    std::size_t column = 0;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      if (n == confidence_at) {
        out.confidence[t] = values[n];
      } else {
        out.probabilities[t * classes + ids[code_of_number[column++]]] = values[n];
      }
    }
  }
  out.tasks = table.tasks.release(context.pool());
  if (options.safe_names) {
    out.tasks = safe_names(out.tasks);
    out.classes = safe_names(out.classes);
  }
  return out;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

LabelTable read_label_table(const std::string& path, const ReadOptions& options, const RunContext& context,
                            DataReport* report) {
  return ingest::read_label_table({path, std::nullopt}, options, ingest::Tuning{}, context, report);
}

}  // namespace wisecrowd
