#pragma once

#include <algorithm>
#include <span>

namespace wisecrowd {

/// Keeps a network from being too sure: entries above the ceiling are set to it and what was removed is spread evenly
/// over the other classes, again if that lifts one of them over it. A ceiling below 1/K means 1/K: no opinion at all.
[[nodiscard]] inline double lowest_ceiling(double ceiling, std::size_t classes) {
  return std::max(ceiling, 1 / static_cast<double>(classes));
}
inline void clip(std::span<double> probabilities, double ceiling) {
  ceiling = lowest_ceiling(ceiling, probabilities.size());
  for (std::size_t round = 0; round < probabilities.size(); ++round) {
    double removed = 0;
    std::size_t below = 0;
    for (double& p : probabilities) {
      if (p >= ceiling) {
        removed += p - ceiling;
        p = ceiling;
      } else {
        ++below;
      }
    }
    if (below == 0 || removed <= 0) return;
    for (double& p : probabilities) {
      if (p < ceiling) p += removed / static_cast<double>(below);
    }
  }
}

}  // namespace wisecrowd
