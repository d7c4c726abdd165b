#include "ingest/columns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "ingest/column_aliases.hpp"
#include "ingest/column_search.hpp"
#include "ingest/key_table.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

/// What a table without tasks may be instead, by its columns.
std::string likely_kind(const ColumnPlan& plan) {
  const auto there = [&](std::string_view name) { return find_alias(plan.names, std::span(&name, 1)) != kNoColumn; };
  for (const auto& [left, right] : kPairAliases) {
    if (!there(left) || !there(right)) continue;
    return fmt::format(
        "'{}' and '{}' are columns of pairs: read them with `answers=comparisons`, or with `answers=similarities` if "
        "labels say same or different. Else: ",
        left, right);
  }
  if (there("doc") && find_alias(plan.names, kPositionAliases) != kNoColumn) {
    return "documents and positions are columns of sequences: read them with `answers=sequences`. Else: ";
  }
  if (find_document_column(plan.names) != kNoColumn && are_span_columns(plan.names)) {
    return "documents with starts and ends are columns of spans: read them with `answers=sequences`. Else: ";
  }
  return "";
}

/// What was planned as the label is the first column of numbers; further ones follow by name.
void plan_values(ColumnPlan& plan, const std::string& file, const std::vector<std::string>& columns) {
  plan.numbers = {std::exchange(plan.label, kNoColumn)};
  for (std::size_t d = 1; d < columns.size(); ++d) plan.numbers.push_back(value_column(plan, file, columns[d]));
  for (const std::size_t column : plan.numbers) {
    const bool twice = std::count(plan.numbers.begin(), plan.numbers.end(), column) > 1;
    if (twice || column == plan.task || column == plan.worker) {
      throw Error(ErrorCode::bad_parameter, fmt::format("{}: the column '{}' is named twice: name another one", file,
                                                        printable(plan.names[column])));
    }
  }
}

void plan_times(ColumnPlan& plan, const std::string& file, const std::string& wanted) {
  const std::size_t column = value_column(plan, file, wanted, "time");
  for (const auto& [taken, role] :
       {std::pair(plan.task, "task"), std::pair(plan.worker, "worker"), std::pair(plan.label, "label")}) {
    if (column != taken) continue;
    throw Error(ErrorCode::bad_parameter, fmt::format("{}: column '{}' cannot be both the {} and the time", file,
                                                      printable(plan.names[column]), role));
  }
  plan.numbers = {column};
  plan.has_times = true;
}

/// Options by which a column of sets is found: under the usual names first, then under those of sets alone.
ReadOptions naming_sets(const std::vector<std::string>& names, const ReadOptions& options, bool with_truth) {
  ReadOptions named = options;
  if (!options.label_column.empty() || find_alias(names, kLabelAliases) != kNoColumn) return named;
  if (with_truth && find_alias(names, kTruthAliases) != kNoColumn) return named;
  const std::size_t at = find_alias(names, kSetAliases);
  if (at != kNoColumn) named.label_column = names[at];
  return named;
}

}  // namespace

std::size_t find_task_column(const std::vector<std::string>& names) { return find_alias(names, kTaskAliases); }
std::size_t find_worker_column(const std::vector<std::string>& names) { return find_alias(names, kWorkerAliases); }

ColumnPlan plan_answers(const std::string& file, TableFormat format, std::vector<std::string> names,
                        const ReadOptions& options, bool timed) {
  const bool has_times = timed && !options.time_column.empty();
  ColumnPlan plan;
  plan.format = format;
  plan.names = std::move(names);
  if (options.layout == TableLayout::wide) {
    if (has_times) {
      throw Error(ErrorCode::bad_parameter,
                  fmt::format("{}: a wide table has no place for the times of answers: give one row per answer", file));
    }
    plan.layout = TableLayout::wide;
    const Wanted task[] = {{"task", options.task_column, kTaskAliases, &plan.task}};
    find_columns(plan, file, task);
    if (plan.task == kNoColumn) {
      if (format == TableFormat::jsonl) {
        fail_missing(plan, file, task, "Name the key of the task with `columns=task=NAME`");
      }
      plan.task = 0;
    }
    if (plan.names.size() < 2 && format != TableFormat::jsonl) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: a wide table has one column per worker beside the task; this one has only {}{}",
                              file, shown_header(plan), hint(plan)));
    }
    check_worker_columns(plan, file);
    return plan;
  }
  const Wanted wanted[] = {{"task", options.task_column, kTaskAliases, &plan.task},
                           {"worker", options.worker_column, kWorkerAliases, &plan.worker},
                           {"label", options.label_column, kLabelAliases, &plan.label}};
  if (!take_positions(plan, file, wanted)) {
    find_columns(plan, file, wanted);
    if (plan.task == kNoColumn || plan.worker == kNoColumn || plan.label == kNoColumn) {
      fail_missing(plan, file, wanted,
                   likely_kind(plan) +
                       "Name them with `columns=TASK,WORKER,LABEL`; by position (`columns=1,2,3`) if the file has no "
                       "header; or choose the wide layout if there is one column per worker");
    }
    refuse_repeated_names(plan, file, false);
  } else if (plan.task == plan.worker || plan.task == plan.label || plan.worker == plan.label) {
    throw Error(ErrorCode::bad_parameter, fmt::format("{}: task, worker and label need three different columns", file));
  }
  if (has_times) plan_times(plan, file, options.time_column);
  return plan;
}

ColumnPlan plan_pairs(const std::string& file, TableFormat format, std::vector<std::string> names,
                      const ReadOptions& options, bool chosen_and_rejected) {
  if (options.layout == TableLayout::wide) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{}: pairs of items have one row per answer; there is no wide layout for them", file));
  }
  ColumnPlan plan;
  plan.format = format;
  plan.names = std::move(names);
  const auto& items = options.value_columns;
  const bool named = items.size() == 2 && !items[0].empty() && !items[1].empty();
  static constexpr std::string_view kLeft[] = {"left", "model_a", "item_a", "chosen"};
  static constexpr std::string_view kRight[] = {"right", "model_b", "item_b", "rejected"};
  const Wanted wanted[] = {{"worker", options.worker_column, kWorkerAliases, &plan.worker},
                           {"left item", named ? items[0] : "", kLeft, &plan.task},
                           {"right item", named ? items[1] : "", kRight, &plan.right},
                           {"label", options.label_column, kOutcomeAliases, &plan.label}};
  const bool all_given = named && !options.worker_column.empty() && !options.label_column.empty();
  if (all_given && take_positions(plan, file, wanted)) {
    // Different columns are checked with the others below.
  } else {
    find_columns(plan, file, wanted);
  }
  const auto find_pair = [&](auto& aliases) {
    for (const auto& [left, right] : aliases) {
      const std::size_t first = find_alias(plan.names, std::span(&left, 1));
      const std::size_t second = find_alias(plan.names, std::span(&right, 1));
      if (first == kNoColumn || second == kNoColumn) continue;
      plan.task = first;
      plan.right = second;
      return true;
    }
    return false;
  };
  if (!named) {
    plan.task = plan.right = kNoColumn;
    if (!find_pair(kPairAliases) && chosen_and_rejected && find_pair(kChosenAliases)) plan.label = kNoColumn;
  }
  const bool chosen = !named && plan.task != kNoColumn && plan.label == kNoColumn && chosen_and_rejected &&
                      (normalised(plan.names[plan.task]) == "chosen" || normalised(plan.names[plan.task]) == "winner");
  if (plan.task == kNoColumn || plan.right == kNoColumn || (plan.label == kNoColumn && !chosen)) {
    const std::span<const Wanted> needed = std::span(wanted).subspan(1);
    fail_missing(plan, file, needed,
                 "Name them with `columns=WORKER,LEFT,RIGHT,LABEL`; by position (`columns=1,2,3,4`) if the file has no "
                 "header");
  }
  refuse_repeated_names(plan, file, false);
  const std::size_t places[] = {plan.task, plan.right, plan.worker, plan.label};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (places[i] == kNoColumn || places[i] != places[j]) continue;
      throw Error(ErrorCode::bad_parameter,
                  fmt::format("{}: worker, left, right and label need different columns", file));
    }
  }
  return plan;
}

namespace {

/// The columns of a box or a point, in a table that has no column of one number.
std::vector<std::string> box_columns(const std::vector<std::string>& names) {
  std::vector<std::string> found;
  if (find_alias(names, kLabelAliases) != kNoColumn) return found;
  const auto take = [&](std::span<const std::string_view> aliases) {
    found.clear();
    for (const std::string_view alias : aliases) {
      const std::size_t at = find_alias(names, std::span(&alias, 1));
      if (at == kNoColumn) return false;
      found.push_back(names[at]);
    }
    return true;
  };
  for (const auto& aliases : kBoxAliases) {
    if (take(aliases)) return found;
  }
  if (!take(kPointAliases)) found.clear();
  return found;
}

}  // namespace

ColumnPlan plan_numbers(const std::string& file, TableFormat format, std::vector<std::string> names,
                        const ReadOptions& options) {
  if (options.layout == TableLayout::wide && options.value_columns.size() > 1) {
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("{}: a wide table holds one number per cell; answers of several dimensions need one row per "
                    "answer",
                    file));
  }
  ReadOptions first = options;
  std::vector<std::string> values = options.value_columns;
  if (values.empty() && options.label_column.empty() && options.layout != TableLayout::wide)
    values = box_columns(names);
  if (!values.empty()) first.label_column = values.front();
  ColumnPlan plan = plan_answers(file, format, std::move(names), first);
  if (plan.layout == TableLayout::wide) return plan;
  plan_values(plan, file, values);
  return plan;
}

ColumnPlan plan_task_numbers(const std::string& file, TableFormat format, std::vector<std::string> names,
                             const ReadOptions& options, const std::vector<std::string>& columns) {
  ReadOptions first = options;
  if (!columns.empty()) first.label_column = columns.front();
  ColumnPlan plan = plan_labels(file, format, std::move(names), first);
  plan_values(plan, file, columns);
  return plan;
}

ColumnPlan plan_sets(const std::string& file, TableFormat format, std::vector<std::string> names,
                     const ReadOptions& options) {
  const ReadOptions named = naming_sets(names, options, false);
  ColumnPlan plan = plan_answers(file, format, std::move(names), named);
  plan.sets = options.sets;
  return plan;
}

ColumnPlan plan_task_sets(const std::string& file, TableFormat format, std::vector<std::string> names,
                          const ReadOptions& options) {
  const ReadOptions named = naming_sets(names, options, true);
  ColumnPlan plan = plan_labels(file, format, std::move(names), named);
  plan.sets = options.sets;
  return plan;
}

ColumnPlan plan_labels(const std::string& file, TableFormat format, std::vector<std::string> names,
                       const ReadOptions& options) {
  ColumnPlan plan;
  plan.format = format;
  plan.names = std::move(names);
  std::vector<std::string_view> aliases;
  for (const std::span<const std::string_view> list :
       {std::span<const std::string_view>(kTruthAliases), std::span<const std::string_view>(kLabelAliases),
        std::span<const std::string_view>(kPredictionAliases)}) {
    aliases.insert(aliases.end(), list.begin(), list.end());
  }
  const Wanted wanted[] = {{"task", options.task_column, kTaskAliases, &plan.task},
                           {"label", options.label_column, aliases, &plan.label}};
  if (!take_positions(plan, file, wanted)) {
    find_columns(plan, file, wanted);
    if (plan.task == kNoColumn || plan.label == kNoColumn) {
      fail_missing(plan, file, wanted, "The first row must name them, for example 'task,label'");
    }
    refuse_repeated_names(plan, file, false);
  } else if (plan.task == plan.label) {
    throw Error(ErrorCode::bad_parameter, fmt::format("{}: task and label need two different columns", file));
  }
  return plan;
}

}  // namespace wisecrowd::ingest
