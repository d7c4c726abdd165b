#pragma once

#include "base/numeric.hpp"

namespace wisecrowd {

/// ψ(x) and ln Γ(x) together, for x > 0: variational Bayes needs both at the same points, and they share most of the
/// work. ln Γ comes in two parts, ln Γ(x) = smooth − ln product, so that the logarithm of the products of a few points
/// can be taken at once: up to four of them stay within range for x in [1e-9, 1e9].
struct GammaPair {
  double digamma;
  double smooth;
  double product;
};

inline constexpr std::size_t kProductsPerLogarithm = 4;

/// Branch-free, so that loops over it vectorise: eight steps of the recurrence, then Stirling's series.
[[nodiscard]] inline GammaPair gamma_pair(double x) noexcept {
  // Σ 1/(x+i) as one fraction above/below, and below = x (x+1) … (x+7) is what separates Γ(x+8) from Γ(x).
  double above = 1;
  double below = x;
  for (int i = 1; i < 8; ++i) {
    above = above * (x + i) + below;
    below *= x + i;
  }
  const double y = x + 8;
  const double r = 1 / y;
  const double r2 = r * r;
  const double log_y = log_positive(y);
  double slope = -691.0 / 32760;
  slope = slope * r2 + 5.0 / 660;
  slope = slope * r2 - 1.0 / 240;
  slope = slope * r2 + 1.0 / 252;
  slope = slope * r2 - 1.0 / 120;
  slope = slope * r2 + 1.0 / 12;
  double series = -691.0 / 360360;
  series = series * r2 + 1.0 / 1188;
  series = series * r2 - 1.0 / 1680;
  series = series * r2 + 1.0 / 1260;
  series = series * r2 - 1.0 / 360;
  series = series * r2 + 1.0 / 12;
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return {log_y - 0.5 * r - slope * r2 - above / below, (y - 0.5) * log_y - y + kHalfLogTwoPi + series * r, below};
}

}  // namespace wisecrowd
