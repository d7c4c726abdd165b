#include "ingest/judge_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "ingest/chunk.hpp"
#include "ingest/column_aliases.hpp"
#include "ingest/column_search.hpp"
#include "ingest/problems.hpp"
#include "ingest/read_comparisons.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::ingest {
namespace {

/// Smaller probabilities are rounding errors of whoever wrote them.
constexpr double kLeastProbability = 1e-9;
/// Probabilities may be rounded; whatever sums to less or more is something else.
constexpr double kSumTolerance = 0.02;

std::size_t judge_column(const CellTable& table, const std::string& given, std::span<const std::string_view> aliases,
                         std::string_view role) {
  if (given.empty()) return find_alias(table.names, aliases);
  const auto exact = std::find(table.names.begin(), table.names.end(), given);
  if (exact != table.names.end()) return static_cast<std::size_t>(exact - table.names.begin());
  const std::size_t found = table.find(normalised(given));
  if (found == kNoColumn) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: there is no column '{}' for the {}. Found: {}", table.file,
                                                  printable(given), role, table.header()));
  }
  return found;
}

void find_pair(const CellTable& table, const ReadOptions& options, JudgeColumns& columns) {
  if (options.value_columns.size() == 2) {
    columns.left = judge_column(table, options.value_columns[0], {}, "left item");
    columns.right = judge_column(table, options.value_columns[1], {}, "right item");
    return;
  }
  for (const auto& [left, right] : kPairAliases) {
    if (table.find(left) == kNoColumn || table.find(right) == kNoColumn) continue;
    columns.left = table.find(left);
    columns.right = table.find(right);
    return;
  }
  for (const auto& [chosen, rejected] : kChosenAliases) {
    if (table.find(chosen) == kNoColumn || table.find(rejected) == kNoColumn) continue;
    columns.left = table.find(chosen);
    columns.right = table.find(rejected);
    columns.chosen = true;
    return;
  }
}

/// Columns p_<class>, prob_<class>, logprob_<class>, logit_<class>.
void find_probabilities(const CellTable& table, JudgeColumns& columns) {
  constexpr std::pair<std::string_view, bool> kBeginnings[] = {
      {"logprob_", true}, {"log_prob_", true}, {"logit_", true}, {"prob_", false}, {"p_", false}};
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    for (const auto& [begin, logarithm] : kBeginnings) {
      if (!normalised(table.names[c]).starts_with(begin)) continue;
      std::string of = table.names[c].substr(std::min(begin.size(), table.names[c].size()));
      constexpr std::string_view kSwapped = "_swapped";
      const bool swapped = of.ends_with(kSwapped) && columns.comparisons();
      if (swapped) of.resize(of.size() - kSwapped.size());
      if (!of.empty()) columns.probabilities.push_back({c, of, logarithm, swapped});
      break;
    }
  }
}

std::size_t first_of(const CellTable& table, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (table.find(name) != kNoColumn) return table.find(name);
  }
  return kNoColumn;
}

[[noreturn]] void refuse_judge_columns(const CellTable& table, const std::string& missing) {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: no column names {}. Found: {}. Name the columns as task, worker and label (of "
                          "comparisons question, worker, left, right and label), or tell their names with `columns`",
                          table.file, missing, table.header()));
}

/// Logarithms of the probabilities of a row; false, with the problem noted, where they are none.
bool read_probabilities(const CellTable& table, const JudgeColumns& columns, std::size_t row, bool swapped,
                        std::vector<std::pair<std::string, double>>& logs, DataReport& report) {
  double sum = 0;
  bool logarithms = false;
  std::size_t blank = 0, wanted = 0;
  for (const auto& one : columns.probabilities) {
    if (one.swapped != swapped) continue;
    ++wanted;
    const std::string_view text = table.at(row, one.column);
    if (text.empty()) {
      ++blank;
      continue;
    }
    const auto value = finite_number(text);
    if (!value || (!one.logarithm && (*value < 0 || *value > 1))) {
      table.problem(report, row, one.column,
                    one.logarithm ? "is no number, so no logarithm of a probability"
                                  : "is no probability: a number from 0 to 1 is wanted");
      return false;
    }
    sum += one.logarithm ? 0 : *value;
    logarithms = logarithms || one.logarithm;
    logs.emplace_back(one.of, one.logarithm ? *value : math::log(std::max(*value, kLeastProbability)));
  }
  if (blank == wanted) return true;
  const std::size_t first = columns.probabilities.front().column;
  if (logs.size() < 2) {
    table.problem(report, row, first, "is the only probability of the row: two classes at least are wanted");
    return false;
  }
  if (!logarithms && std::abs(sum - 1) > kSumTolerance) {
    table.problem(report, row, first,
                  fmt::format("and the other probabilities of the row sum to {:.4g}, not to 1", sum));
    return false;
  }
  return true;
}

std::optional<double> length_at(const CellTable& table, std::size_t row, std::size_t column, DataReport& report,
                                bool& good) {
  const std::string_view text = table.at(row, column);
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto value = finite_number(text);
  if (!value) {
    table.problem(report, row, column, "is no number");
    good = false;
  }
  return value;
}

}  // namespace

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<WorkerKind> worker_kind_of(std::string_view word) {
  using namespace std::string_view_literals;
  const std::string plain = normalised(word);
  constexpr std::array kHuman{"human"sv, "person"sv, "people"sv, "expert"sv, "annotator"sv, "h"sv};
  constexpr std::array kMachine{"machine"sv, "model"sv, "llm"sv, "ai"sv, "judge"sv, "m"sv};
  if (std::find(kHuman.begin(), kHuman.end(), plain) != kHuman.end()) return WorkerKind::human;
  if (std::find(kMachine.begin(), kMachine.end(), plain) != kMachine.end()) return WorkerKind::machine;
  return std::nullopt;
}

JudgeColumns find_judge_columns(const CellTable& table, const ReadOptions& options, bool gold) {
  JudgeColumns columns;
  find_pair(table, options, columns);
  if (!gold) find_probabilities(table, columns);
  columns.worker = gold ? kNoColumn : judge_column(table, options.worker_column, kWorkerAliases, "worker");
  columns.turn = first_of(table, {"turn"});
  columns.kind = first_of(table, {"kind", "worker_kind"});
  columns.family = first_of(table, {"family", "worker_family"});
  columns.version = first_of(table, {"version", "model_version"});
  columns.price = first_of(table, {"price", "cost"});
  columns.length = first_of(table, {"length"});
  columns.left_length = first_of(table, {"length_a", "length_left", "left_length"});
  columns.right_length = first_of(table, {"length_b", "length_right", "right_length"});
  const std::string& label = gold ? options.gold_label_column : options.label_column;
  if (columns.comparisons()) {
    // What names an item would be taken for a task.
    std::vector<std::string> others = table.names;
    others[columns.left] = others[columns.right] = "";
    columns.task = options.task_column.empty() ? find_alias(others, kTaskAliases)
                                               : judge_column(table, options.task_column, {}, "question");
    if (columns.task == kNoColumn) columns.task = first_of(table, {"prompt", "prompt_id"});
    columns.label = columns.chosen ? kNoColumn : judge_column(table, label, kOutcomeAliases, "label");
    if (columns.label == columns.left || columns.label == columns.right) columns.label = kNoColumn;
    if (columns.label == kNoColumn && !columns.chosen && columns.probabilities.empty()) {
      refuse_judge_columns(table, "the winner");
    }
    return columns;
  }
  columns.task = judge_column(table, gold ? options.gold_task_column : options.task_column, kTaskAliases, "task");
  columns.label = judge_column(table, label, kLabelAliases, "label");
  if (gold && columns.label == kNoColumn) columns.label = find_alias(table.names, kTruthAliases);
  if (columns.task == kNoColumn) refuse_judge_columns(table, "the task");
  if (!gold && columns.worker == kNoColumn) refuse_judge_columns(table, "the worker");
  if (columns.label == kNoColumn && columns.probabilities.empty()) refuse_judge_columns(table, "the label");
  return columns;
}

std::optional<JudgeRow> judge_row(const CellTable& table, const JudgeColumns& columns, std::size_t row, bool gold,
                                  DataReport& report) {
  JudgeRow found;
  const auto name_at = [&](std::size_t column, std::string& into) {
    into = table.at(row, column);
    const std::string_view wrong = name_problem(into);
    if (!wrong.empty()) table.problem(report, row, column, std::string(wrong));
    return wrong.empty();
  };
  if (columns.task != kNoColumn && !name_at(columns.task, found.question)) return std::nullopt;
  if (columns.turn != kNoColumn && !table.at(row, columns.turn).empty()) {
    found.question += fmt::format(" turn {}", table.at(row, columns.turn));
  }
  if (columns.worker != kNoColumn && !name_at(columns.worker, found.worker)) return std::nullopt;
  if (columns.worker == kNoColumn && !gold) found.worker = "all";
  if (!read_probabilities(table, columns, row, false, found.logs, report) ||
      !read_probabilities(table, columns, row, true, found.swapped_logs, report)) {
    return std::nullopt;
  }
  found.said = table.at(row, columns.label);
  if (found.said.empty() && found.logs.empty() && !columns.chosen) {
    table.problem(report, row, columns.label, "is empty: fill in what was said, or leave the row out");
    return std::nullopt;
  }
  bool good = true;
  found.length = length_at(table, row, columns.length, report, good).value_or(0);
  found.left_length = length_at(table, row, columns.left_length, report, good).value_or(0);
  found.right_length = length_at(table, row, columns.right_length, report, good).value_or(0);
  if (!good) return std::nullopt;
  if (!columns.comparisons()) return found;
  if (!name_at(columns.left, found.left) || !name_at(columns.right, found.right)) return std::nullopt;
  if (found.left == found.right) {
    table.problem(report, row, columns.right, "is compared with itself: leave the row out");
    return std::nullopt;
  }
  if (columns.chosen) found.outcome = Outcome::left;
  if (!found.said.empty()) {
    const std::uint32_t code = outcome_code(found.left, found.right, found.said);
    if (code == PairWords::kUnknown) {
      table.problem(report, row, columns.label,
                    fmt::format("is neither '{}' nor '{}', nor left, right or tie", printable(found.left, 40),
                                printable(found.right, 40)));
      return std::nullopt;
    }
    found.outcome = static_cast<Outcome>(code);
  }
  return found;
}

}  // namespace wisecrowd::ingest
