#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "data/build.hpp"
#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"
#include "wisecrowd/read_features.hpp"

namespace wisecrowd {
namespace {

using ingest::printable;

/// Things of one kind that are counted, with an example.
struct Tally {
  std::size_t count = 0;
  std::string example;
  void add(std::string_view name) {
    if (count++ == 0) example = printable(name);
  }
};

/// The row of each task of the answers.
std::vector<std::uint32_t> find_rows(const LearningFiles& files, const AnswerGraph& answers, const FeatureTable& table,
                                     const Interner& rows, DataReport& report) {
  std::vector<std::uint32_t> row_of_task(answers.task_count(), kNoRow);
  Tally without, outside;
  for (std::size_t t = 0; t < row_of_task.size(); ++t) {
    const std::string_view name = answers.task_names()[t];
    const std::uint32_t row = rows.find(name);
    if (row == Interner::kAbsent) {
      without.add(name);
      continue;
    }
    row_of_task[t] = row;
    if (table.split[row] != Split::train) outside.add(name);
  }
  if (table.names_are_numbers && without.count > 0) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: task '{}' is not the number of a row of {} (0 to {}): give a table task,row,split with "
                    "`tasks` that says which row belongs to which task",
                    files.answers, without.example, files.features, table.features.rows - 1));
  }
  if (without.count == row_of_task.size()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: none of its {} tasks, for example '{}', has a row in {}: are the tasks spelled alike?",
                            files.answers, row_of_task.size(), without.example, files.features));
  }
  if (without.count > 0) {
    report.warnings.push_back(
        {"tasks_without_features",
         fmt::format(
             "{}: {} of {} tasks with answers, for example '{}', have no features in {}: their labels come from "
             "the answers alone",
             files.answers, without.count, row_of_task.size(), without.example, files.features)});
  }
  if (outside.count > 0) {
    report.warnings.push_back(
        {"answers_outside_train",
         fmt::format("{}: {} of {} tasks with answers, for example '{}', are in the valid or test split: their answers "
                     "are not learned from",
                     files.answers, outside.count, row_of_task.size(), outside.example)});
  }
  return row_of_task;
}

void refuse_standard_input_twice(const LearningFiles& files) {
  const auto count_stdin = (files.answers == "-" ? 1 : 0) + (files.features == "-" ? 1 : 0) +
                           (files.gold == "-" ? 1 : 0) + (files.tasks == "-" ? 1 : 0);
  if (count_stdin > 1) {
    throw Error(
        ErrorCode::bad_parameter,
        "only one of answers, features, tasks and gold can come from standard input: name files for the others");
  }
}

/// Reads the features and finds the row of each task; rows by name.
Interner add_features(const LearningFiles& files, const ReadOptions& options, const AnswerGraph& answers,
                      TaskFeatures& data, const RunContext& context, DataReport& notes) {
  DataReport of_features;
  FeatureTable table =
      read_features(files.features, files.tasks, {.text_columns = files.text_columns, .lenient = options.lenient},
                    context, &of_features);
  notes.warnings.insert(notes.warnings.end(), of_features.warnings.begin(), of_features.warnings.end());
  if (options.safe_names) table.names = ingest::safe_names(table.names);
  Interner rows;
  for (std::size_t r = 0; r < table.names.size(); ++r) rows.intern(table.names[r]);
  data.row_of_task = find_rows(files, answers, table, rows, notes);
  data.features = std::move(table.features);
  data.row_names = std::move(table.names);
  data.split = std::move(table.split);
  data.recipe = std::move(table.recipe);
  return rows;
}

/// The same answers with more tasks that nobody has answered.
CategoryAnswers with_tasks(const CategoryAnswers& answers, const std::vector<std::string>& more,
                           const RunContext& context) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < answers.task_count(); ++t) names.emplace_back(answers.task_names()[t]);
  names.insert(names.end(), more.begin(), more.end());
  std::vector<CategoryPiece> pieces(1);
  copy_edges(answers, pieces[0]);
  for (const ClassId label : answers.labels()) pieces[0].payload.push_back(static_cast<std::uint16_t>(index(label)));
  return build_category_answers(std::move(pieces), {NameTable(names), answers.worker_names(), answers.class_names()},
                                DuplicatePolicy::repeat, context.pool(), nullptr);
}

void warn_of_unknown_gold(const LearningFiles& files, const Tally& unknown, const std::string& reason,
                          DataReport& report) {
  if (unknown.count == 0) return;
  report.warnings.push_back(
      {"gold_without_task",
       fmt::format("{}: {} gold tasks, for example '{}', have neither answers nor features and are ignored{}",
                   files.gold.value_or(files.answers), unknown.count, unknown.example,
                   reason.empty() ? "" : ": " + reason)});
}

/// Gold by row, from the gold of answered tasks and of others; gold of neither is left aside with a warning.
std::vector<ClassId> gold_by_row(const LearningFiles& files, const LearningData& data,
                                 const std::vector<ClassId>& task_gold, const ingest::OtherGold& others,
                                 const Interner& rows, DataReport& report) {
  std::vector<ClassId> row_gold(data.features.rows, kNoClass);
  for (std::size_t t = 0; t < task_gold.size(); ++t) {
    if (data.row_of_task[t] != kNoRow) row_gold[data.row_of_task[t]] = task_gold[t];
  }
  Tally unknown;
  for (std::size_t i = 0; i < others.tasks.size(); ++i) {
    const std::uint32_t row = rows.find(others.tasks[i]);
    if (row == Interner::kAbsent) {
      unknown.add(others.tasks[i]);
    } else {
      row_gold[row] = others.labels[i];
    }
  }
  warn_of_unknown_gold(files, unknown, unknown.count == others.tasks.size() ? others.reason : "", report);
  return row_gold;
}

}  // namespace

LearningInput read_learning_data(const LearningFiles& files, const ReadOptions& options, const RunContext& context,
                                 DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  refuse_standard_input_twice(files);
  LearningInput result;
  LearningData& data = result.data;
  ingest::OtherGold others;
  const auto inputs = ingest::prepare_inputs(files.answers, files.gold, Categories::name, false, options, context);
  data.crowd =
      ingest::read_dataset(inputs.answers, inputs.gold, inputs.options, ingest::Tuning{}, context, &notes, &others);
  inputs.tell(&notes);
  const Interner rows = add_features(files, options, data.crowd.answers, data, context, notes);
  if (!inputs.gold) return result;

  result.task_gold = std::exchange(data.crowd.gold, {});
  result.row_gold = gold_by_row(files, data, result.task_gold, others, rows, notes);
  if (!files.learn_from_gold) return result;
  std::vector<std::string> more;
  const auto rank = ranks_in_order(NameTable(others.tasks), context.pool());
  std::vector<std::size_t> in_order(others.tasks.size());
  for (std::size_t i = 0; i < in_order.size(); ++i) in_order[rank.empty() ? i : rank[i]] = i;
  for (const std::size_t i : in_order) {
    const std::uint32_t row = rows.find(others.tasks[i]);
    if (row == Interner::kAbsent || data.split[row] != Split::train) continue;
    more.push_back(others.tasks[i]);
    data.row_of_task.push_back(row);
    result.task_gold.push_back(others.labels[i]);
  }
  if (!more.empty()) data.crowd.answers = with_tasks(data.crowd.answers, more, context);
  data.crowd.gold = result.task_gold;
  // Truth of rows that are kept for testing is not learned from.
  for (std::size_t t = 0; t < data.crowd.gold.size(); ++t) {
    const std::uint32_t row = data.row_of_task[t];
    if (row != kNoRow && data.split[row] != Split::train) data.crowd.gold[t] = kNoClass;
  }
  return result;
}

NumberLearningInput read_number_learning_data(const LearningFiles& files, const ReadOptions& options,
                                              const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  if (files.learn_from_gold) {
    throw Error(ErrorCode::unsupported, "learners of numbers do not learn from gold: keep it for evaluation");
  }
  refuse_standard_input_twice(files);
  NumberLearningInput result;
  NumberLearningData& data = result.data;
  ingest::OtherGoldNumbers others;
  const auto inputs = ingest::prepare_inputs(files.answers, files.gold, Numbers::name, false, options, context);
  data.crowd =
      ingest::read_numbers(inputs.answers, inputs.gold, inputs.options, ingest::Tuning{}, context, &notes, &others);
  inputs.tell(&notes);
  const Interner rows = add_features(files, options, data.crowd.answers, data, context, notes);
  if (!inputs.gold) return result;

  result.task_gold = std::exchange(data.crowd.gold, {});
  const std::size_t dimensions = data.crowd.answers.dimensions();
  result.row_gold.assign(data.features.rows * dimensions, std::numeric_limits<double>::quiet_NaN());
  const auto take = [&](std::uint32_t row, const double* values) {
    std::copy_n(values, dimensions, result.row_gold.data() + row * dimensions);
  };
  for (std::size_t t = 0; t < data.row_of_task.size(); ++t) {
    if (data.row_of_task[t] != kNoRow) take(data.row_of_task[t], result.task_gold.data() + t * dimensions);
  }
  Tally unknown;
  for (std::size_t i = 0; i < others.tasks.size(); ++i) {
    const std::uint32_t row = rows.find(others.tasks[i]);
    if (row == Interner::kAbsent) {
      unknown.add(others.tasks[i]);
    } else {
      take(row, others.values.data() + i * dimensions);
    }
  }
  warn_of_unknown_gold(files, unknown, "", notes);
  return result;
}

}  // namespace wisecrowd
