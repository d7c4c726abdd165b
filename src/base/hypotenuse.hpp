#pragma once

#include <algorithm>
#include <cmath>

namespace wisecrowd {

/// √(a² + b²) without overflow. std::hypot has other last bits in other versions of glibc; this one has the same
/// everywhere.
[[nodiscard]] inline double hypotenuse(double a, double b) noexcept {
  a = std::abs(a);
  b = std::abs(b);
  const double large = std::max(a, b);
  if (large == 0 || std::isinf(large) || a != a || b != b) return a + b;
  const double ratio = std::min(a, b) / large;
  return large * std::sqrt(1 + ratio * ratio);
}

}  // namespace wisecrowd
