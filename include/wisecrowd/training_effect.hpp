#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "wisecrowd/learn.hpp"
#include "wisecrowd/task_groups.hpp"

namespace wisecrowd {

/// What training on labels instead of on the truth does to a classifier.
struct TrainingEffect {
  std::string network;
  std::uint64_t tasks = 0;                               ///< predicted, each by a classifier that did not train on it
  double accuracy_by_truth = 0, accuracy_by_labels = 0;  ///< against the truth
  double parity_by_truth = 0, parity_by_labels = 0;      ///< largest gap between groups in the share of positives
};

/// Trains two classifiers on the same tasks in turn, one on `labels` and one on `gold` (per task of data.crowd,
/// kNoClass where unknown), and lets both predict the tasks that were left out, fold by fold. Tasks need features,
/// label and gold. Throws bad_input when fewer than ten have them.
[[nodiscard]] TrainingEffect training_effect(const LearningData& data, std::span<const ClassId> labels,
                                             std::span<const ClassId> gold, const TaskGroups& groups, ClassId positive,
                                             const NetworkSpec& network, const RunContext& context,
                                             std::size_t folds = 5);

}  // namespace wisecrowd
