#pragma once

#include <span>
#include <vector>

#include "wisecrowd/comparison_data.hpp"
#include "wisecrowd/comparison_fit.hpp"

// What all who give scores to compared items begin with, by answers alone or by features.

namespace wisecrowd::comparisons {

/// Sizes, rates of ties, and the warnings that hold for any method.
[[nodiscard]] ComparisonFit start_comparison_fit(const ComparisonData& data);

/// 1 + the number of items with a higher score.
[[nodiscard]] std::vector<double> ranks_of(std::span<const double> scores);

}  // namespace wisecrowd::comparisons
