#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wisecrowd/category_answers.hpp"

namespace wisecrowd {

/// Everything that a method may look at. Only `answers` is required.
struct CategoryData {
  CategoryAnswers answers;

  /// Known truth, one entry per task (kNoClass where unknown), or empty. Methods that use gold pin
  /// these tasks and learn workers from them.
  std::vector<ClassId> gold;

  /// Per-task prior over classes (tasks × classes, row-major, rows sum to 1), or empty. It
  /// replaces the shared class prior: this one hook makes every aggregator the E-step of a learner.
  std::vector<double> task_priors;

  /// Workers to be believed where answers alone cannot tell which side is right.
  std::vector<WorkerId> trusted;

  /// One label per worker, equal for those who do not answer independently of one another, or empty. Methods that know
  /// groups of workers take these instead of looking for their own.
  std::vector<std::uint32_t> worker_groups;

  [[nodiscard]] bool has_gold() const noexcept { return !gold.empty(); }
  [[nodiscard]] ClassId gold_of(TaskId task) const noexcept { return gold.empty() ? kNoClass : gold[index(task)]; }
};

/// Throws bad_input unless gold, priors, groups and trusted workers fit the answers (sizes, ranges, rows that sum to
/// 1).
void validate(const CategoryData& data);

}  // namespace wisecrowd
