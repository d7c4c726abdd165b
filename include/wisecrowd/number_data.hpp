#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "wisecrowd/number_answers.hpp"

namespace wisecrowd {

struct Numbers;

/// Everything that a method for numbers may look at. Only `answers` is required.
struct NumberData {
  using Kind = Numbers;

  NumberAnswers answers;

  /// Known truth, tasks × dimensions (NaN where unknown), or empty.
  std::vector<double> gold;

  [[nodiscard]] bool has_gold() const noexcept { return !gold.empty(); }
  [[nodiscard]] bool has_gold(TaskId task) const noexcept {
    return !gold.empty() && !std::isnan(gold[index(task) * answers.dimensions()]);
  }
  [[nodiscard]] std::span<const double> gold_of(TaskId task) const noexcept {
    return std::span(gold).subspan(index(task) * answers.dimensions(), answers.dimensions());
  }
};

/// Throws bad_input unless gold fits the answers: its size, and each task known in all dimensions or in none.
void validate(const NumberData& data);

}  // namespace wisecrowd
