#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/numeric.hpp"

namespace wisecrowd::trust {

inline void exponentiate(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = exp_nonpositive(values[i]);
}

/// exp(x − the largest of its row) for rows of logarithms; `largest` takes up what was taken away. Exponentials of many
/// rows are computed in one loop, which compilers vectorise: of one short row they cost several times as much.
template <std::size_t kBins>
void exponentiate_rows(double* rows, std::size_t count, std::size_t any_bins, std::vector<double>& largest) {
  const std::size_t bins = kBins == 0 ? any_bins : kBins;
  largest.resize(count);
  for (std::size_t r = 0; r < count; ++r) {
    double* const row = rows + r * bins;
    double top = row[0];
    for (std::size_t k = 1; k < bins; ++k) top = std::max(top, row[k]);
    for (std::size_t k = 0; k < bins; ++k) row[k] -= top;
    largest[r] = top;
  }
  exponentiate(rows, count * bins);
}

/// Calls `run` with the number of bins as a constant that compilers see where it is small, else with 0.
template <class Run>
void with_bins(std::size_t bins, const Run& run) {
  switch (bins) {
    case 2: return run(std::integral_constant<std::size_t, 2>());
    case 3: return run(std::integral_constant<std::size_t, 3>());
    case 4: return run(std::integral_constant<std::size_t, 4>());
    case 5: return run(std::integral_constant<std::size_t, 5>());
    default: return run(std::integral_constant<std::size_t, 0>());
  }
}

}  // namespace wisecrowd::trust
