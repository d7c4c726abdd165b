#include "base/percent.hpp"

#include <fmt/core.h>

#include <cmath>

namespace wisecrowd {

std::string percent(double share) {
  if (std::isnan(share)) return "unknown";
  if (share < 1 && share > 0.9995) return "more than 99.9 %";
  if (share > 0 && share < 0.0005) return "less than 0.1 %";
  return fmt::format("{:.1f} %", 100 * share);
}

std::string percents(double low, double high) { return fmt::format("{:.1f} to {:.1f} %", 100 * low, 100 * high); }

}  // namespace wisecrowd
