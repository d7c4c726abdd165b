#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/features.hpp"

namespace wisecrowd {

/// What a learner trains on: tasks that have a feature row of the train split and at least one answer or gold, numbered
/// anew. Workers and classes keep their numbers.
struct TrainingSet {
  std::size_t worker_count = 0;
  std::size_t class_count = 0;
  std::vector<TaskId> task;           ///< its number in the data
  std::vector<std::uint32_t> row;     ///< its row of the features
  std::vector<ClassId> gold;          ///< kNoClass where unknown
  std::vector<std::uint32_t> offset;  ///< answers of task i are [offset[i], offset[i+1])
  std::vector<WorkerId> worker;       ///< per answer
  std::vector<ClassId> label;         ///< per answer; empty where answers are no classes
  std::vector<std::uint32_t> answer;  ///< per answer: its place in the data's task order
  const Features* inputs = nullptr;   ///< the scaled features that `row` points into; set by the trainer

  [[nodiscard]] std::size_t task_count() const noexcept { return task.size(); }
  [[nodiscard]] std::size_t answer_count() const noexcept { return worker.size(); }
  [[nodiscard]] std::span<const WorkerId> workers_of(std::size_t i) const {
    return std::span(worker).subspan(offset[i], offset[i + 1] - offset[i]);
  }
  [[nodiscard]] std::span<const ClassId> labels_of(std::size_t i) const {
    return std::span(label).subspan(offset[i], offset[i + 1] - offset[i]);
  }
};

/// All tasks that can be trained on.
[[nodiscard]] TrainingSet training_set(const LearningData& data);
/// Some of its tasks, by index, in the given order.
[[nodiscard]] TrainingSet subset(const TrainingSet& set, std::span<const std::uint32_t> tasks);
/// The answers alone as a data set of its own (task i of the set is task i there), for aggregators.
[[nodiscard]] CategoryData as_dataset(const TrainingSet& set);

/// Shares of each answer among a task's answers, tasks × classes; one-hot where gold is known.
[[nodiscard]] std::vector<double> vote_shares(const TrainingSet& set);
/// Tables from soft labels, workers × truth × label, rows sum to 1: (Σ q_ik 1[y=l] + smoothing_kl) / Σ_l. `on_diagonal`
/// and `everywhere` are added answers.
[[nodiscard]] std::vector<double> tables_from(const TrainingSet& set, std::span<const double> soft_labels,
                                              double everywhere, double on_diagonal);
/// The same with one table that all workers share as the prior: `strength` answers to each truth, spread as the answers
/// of all workers together are. A worker with few answers is taken for an ordinary one.
[[nodiscard]] std::vector<double> pooled_tables_from(const TrainingSet& set, std::span<const double> soft_labels,
                                                     double strength);

}  // namespace wisecrowd
