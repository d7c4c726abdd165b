#pragma once

#include <string>
#include <vector>

#include "wisecrowd/comparison_data.hpp"

namespace wisecrowd::testing {

/// Answers of one worker: how often the first won, the second, and neither.
struct Series {
  std::string first, second;
  int won = 0, lost = 0, tied = 0;
};
[[nodiscard]] ComparisonData compared(const std::vector<Series>& series);

/// Random pairs of random items of known strengths, by several workers, some answers ties; strongly connected.
[[nodiscard]] ComparisonData random_comparisons(std::uint64_t seed, std::size_t items, std::size_t workers,
                                                std::size_t answers);

/// So many comparisons of every pair, answered by the logistic of the difference.
[[nodiscard]] ComparisonData strengths_compared(const std::vector<double>& strengths, int per_pair, std::uint64_t seed);

/// Bradley–Terry scores by the plain minorisation–maximisation of Hunter, with mean 0.
[[nodiscard]] std::vector<double> hunters_scores(const ComparisonData& data, int rounds = 20000);

}  // namespace wisecrowd::testing
