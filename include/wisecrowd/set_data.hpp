#pragma once

#include <optional>
#include <vector>

#include "wisecrowd/set_answers.hpp"

namespace wisecrowd {

struct Sets;

/// The true classes of each task, in ascending order; nothing where they are unknown.
using GoldSets = std::vector<std::optional<std::vector<ClassId>>>;

/// Everything that a method for sets may look at. Only `answers` is required.
struct SetData {
  using Kind = Sets;

  SetAnswers answers;

  /// One entry per task, or empty.
  GoldSets gold;

  [[nodiscard]] bool has_gold() const noexcept { return !gold.empty(); }
  [[nodiscard]] bool has_gold(TaskId task) const noexcept { return !gold.empty() && gold[index(task)].has_value(); }
  [[nodiscard]] const std::vector<ClassId>& gold_of(TaskId task) const { return *gold[index(task)]; }
};

/// Throws bad_input unless gold fits the answers: its size, and classes that are known and ascend.
void validate(const SetData& data);

}  // namespace wisecrowd
