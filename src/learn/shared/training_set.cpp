#include "learn/shared/training_set.hpp"

#include <fmt/core.h>

#include <string>

#include "base/numeric.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {

TrainingSet training_set(const LearningData& data) {
  const CategoryAnswers& answers = data.crowd.answers;
  TrainingSet set;
  set.worker_count = answers.worker_count();
  set.class_count = answers.class_count();
  set.offset.push_back(0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto begin = answers.task_offsets()[t], end = answers.task_offsets()[t + 1];
    const ClassId gold = data.crowd.gold_of(TaskId(t));
    const std::uint32_t row = data.row_of_task[t];
    if (row == kNoRow || data.split[row] != Split::train || (begin == end && gold == kNoClass)) continue;
    set.task.push_back(TaskId(t));
    set.row.push_back(row);
    set.gold.push_back(gold);
    for (auto a = begin; a < end; ++a) {
      set.worker.push_back(answers.workers()[a]);
      set.label.push_back(answers.labels()[a]);
      set.answer.push_back(a);
    }
    set.offset.push_back(static_cast<std::uint32_t>(set.worker.size()));
  }
  return set;
}

TrainingSet subset(const TrainingSet& set, std::span<const std::uint32_t> tasks) {
  TrainingSet part;
  part.worker_count = set.worker_count;
  part.class_count = set.class_count;
  part.inputs = set.inputs;
  part.offset.push_back(0);
  for (const std::uint32_t i : tasks) {
    part.task.push_back(set.task[i]);
    part.row.push_back(set.row[i]);
    part.gold.push_back(set.gold[i]);
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      part.worker.push_back(set.worker[a]);
      if (!set.label.empty()) part.label.push_back(set.label[a]);
      part.answer.push_back(set.answer[a]);
    }
    part.offset.push_back(static_cast<std::uint32_t>(part.worker.size()));
  }
  return part;
}

CategoryData as_dataset(const TrainingSet& set) {
  std::vector<CategoryAnswer> answers;
  answers.reserve(set.answer_count());
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      answers.push_back({TaskId(i), set.worker[a], set.label[a]});
    }
  }
  // Names are of no use inside a learner; numbers stand for them.
  const auto numbers = [](std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t n = 0; n < count; ++n) names.push_back(fmt::format("{}", n));
    return NameTable(names);
  };
  CategoryData data;
  data.answers =
      make_category_answers(answers, {numbers(set.task_count()), numbers(set.worker_count), numbers(set.class_count)},
                            DuplicatePolicy::repeat);
  for (const ClassId gold : set.gold) {
    if (gold != kNoClass) data.gold = set.gold;
  }
  return data;
}

std::vector<double> vote_shares(const TrainingSet& set) {
  std::vector<double> shares(set.task_count() * set.class_count, 0.0);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    const auto row = std::span(shares).subspan(i * set.class_count, set.class_count);
    if (set.gold[i] != kNoClass) {
      row[index(set.gold[i])] = 1;
      continue;
    }
    for (const ClassId label : set.labels_of(i)) row[index(label)] += 1;
    normalise(row);
  }
  return shares;
}

namespace {

/// Adds q_ik for each answer.
void add_counts(const TrainingSet& set, std::span<const double> soft_labels, WorkerTables& tables) {
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    const auto q = soft_labels.subspan(i * set.class_count, set.class_count);
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      tables.count(set.worker[a], set.label[a], q);
    }
  }
}

}  // namespace

std::vector<double> tables_from(const TrainingSet& set, std::span<const double> soft_labels, double everywhere,
                                double on_diagonal) {
  const std::size_t classes = set.class_count;
  std::vector<double> prior(classes * classes, everywhere);
  for (std::size_t k = 0; k < classes; ++k) prior[k * (classes + 1)] += on_diagonal;
  WorkerTables tables(set.worker_count, classes, prior);
  add_counts(set, soft_labels, tables);
  tables.normalise();
  return std::move(tables).release();
}

std::vector<double> pooled_tables_from(const TrainingSet& set, std::span<const double> soft_labels, double strength) {
  constexpr double kHalfAnswer = 0.5;  // per cell, so that nothing is impossible
  const std::size_t classes = set.class_count;
  WorkerTables tables(set.worker_count, classes);
  add_counts(set, soft_labels, tables);
  std::vector<double> pooled = tables.sum(kHalfAnswer);
  normalise_rows(pooled, classes);
  tables.add(pooled, strength);
  tables.normalise();
  return std::move(tables).release();
}

}  // namespace wisecrowd
