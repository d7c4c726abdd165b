#pragma once

#include <algorithm>
#include <span>

namespace wisecrowd {

/// Keeps a network from being too sure: entries above the ceiling are set to it and what was removed is spread evenly
/// over the other classes, again if that lifts one of them over it. A ceiling below 1/K means 1/K: no opinion at all.
inline void clip(std::span<double> probabilities, double ceiling) {
  const auto classes = static_cast<double>(probabilities.size());
  ceiling = std::max(ceiling, 1 / classes);
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
