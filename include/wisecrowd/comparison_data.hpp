#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/comparison_answers.hpp"

namespace wisecrowd {

struct Comparisons;

/// Numbers that are known of items beforehand (the length of a text, say): what scores depend on beside quality.
struct ItemFeatures {
  std::vector<std::string> names;
  std::vector<double> values;  ///< items × names
};

/// Everything that a method for comparisons may look at. Only `answers` is required.
struct ComparisonData {
  using Kind = Comparisons;

  ComparisonAnswers answers;

  /// Known outcome per pair (`left`: its first item is better), or empty.
  std::vector<std::optional<Outcome>> gold;
  /// Known quality per item (NaN where unknown), or empty; the higher, the better. For evaluation alone.
  std::vector<double> gold_scores;

  ItemFeatures features;

  [[nodiscard]] bool has_gold() const noexcept { return !gold.empty() || !gold_scores.empty(); }
  [[nodiscard]] std::optional<Outcome> gold_of(TaskId task) const noexcept {
    return gold.empty() ? std::nullopt : gold[index(task)];
  }
};

/// How many pairs and items have gold.
[[nodiscard]] std::size_t gold_count(const ComparisonData& data) noexcept;

/// Throws bad_input unless gold and features fit the answers.
void validate(const ComparisonData& data);

}  // namespace wisecrowd
