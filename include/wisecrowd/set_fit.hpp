#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/ids.hpp"

namespace wisecrowd {

/// What an aggregator of sets returns: a value, complete, never half-fitted.
///
/// A task has a probability for each of its candidates. With few classes all are candidates; with many, only those that
/// somebody named for the task, and the others are not in its set.
struct SetFit : FitSummary {
  std::size_t task_count = 0;
  std::size_t worker_count = 0;
  std::size_t class_count = 0;

  std::vector<std::uint64_t> offsets;  ///< tasks + 1, into the next two
  std::vector<ClassId> candidates;     ///< ascending within a task
  std::vector<double> probability;     ///< that the class belongs to the task
  /// Per task, 1 if there are answers or gold. Without, it has no candidates and no set, not even an empty one.
  std::vector<std::uint8_t> known;
  double threshold = 0.5;  ///< classes that are more probable than this make the set

  std::vector<double> class_prior;  ///< how often each class is true
  std::vector<double> sensitivity;  ///< workers × classes: how often a worker names a class that is true
  std::vector<double> specificity;  ///< workers × classes: how often it leaves out a class that is not

  [[nodiscard]] std::span<const ClassId> candidates_of(TaskId task) const {
    return std::span(candidates).subspan(offsets[index(task)], offsets[index(task) + 1] - offsets[index(task)]);
  }
  [[nodiscard]] std::span<const double> probabilities_of(TaskId task) const {
    return std::span(probability).subspan(offsets[index(task)], offsets[index(task) + 1] - offsets[index(task)]);
  }
  [[nodiscard]] bool is_known(TaskId task) const { return known[index(task)] != 0; }
  /// 0 for classes that are no candidates.
  [[nodiscard]] double probability_of(TaskId task, ClassId label) const;
  /// The classes above the threshold, in ascending order.
  [[nodiscard]] std::vector<ClassId> set_of(TaskId task) const;
};

/// Where a fit begins: what another method found out, or nothing.
struct SetStart {
  const SetFit* fit = nullptr;  ///< of the same data; null for the method's own start
  [[nodiscard]] bool empty() const noexcept { return fit == nullptr; }
};

}  // namespace wisecrowd
