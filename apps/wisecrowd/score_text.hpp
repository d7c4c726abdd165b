#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "wisecrowd/evaluate.hpp"

namespace wisecrowd::app {

/// One measure: its name for people and for programs, and how to get it from an evaluation.
struct Measure {
  std::string title;
  std::string name;
  bool is_share = false;  ///< shown as a percentage
  std::optional<Estimate> (*of)(const Evaluation&) = nullptr;
  std::string meaning;
};

/// Accuracy, macro-F1, log-loss, Brier and ECE, in this order.
[[nodiscard]] const std::vector<Measure>& measures();

/// {"tasks": …, "accuracy": {"value": …, "low": …, "high": …}, …}; null for measures that need probabilities.
[[nodiscard]] nlohmann::ordered_json score_json(const Evaluation& evaluation);

}  // namespace wisecrowd::app
