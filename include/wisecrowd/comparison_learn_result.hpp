#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "wisecrowd/comparison_result.hpp"
#include "wisecrowd/learn_comparisons.hpp"

namespace wisecrowd {

/// The outcome of learning scores from comparisons and features.
struct ComparisonLearnResult {
  ComparisonResult crowd;  ///< compared items, workers, pairs, and the record of the run
  NetworkSpec network;
  NameTable row_names;
  std::vector<double> row_score;               ///< of every row, compared or not
  std::vector<std::uint64_t> row_comparisons;  ///< how many comparisons each is part of
  std::shared_ptr<const Regressor> scorer;
};

/// Completes it; `row_of_item` is that of the items of `data`.
[[nodiscard]] ComparisonLearnResult make_learn_result(ComparisonData data, ComparisonLearned learned,
                                                      NameTable row_names, std::vector<std::uint32_t> row_of_item,
                                                      const NetworkSpec& network, RunRecord record);

}  // namespace wisecrowd
