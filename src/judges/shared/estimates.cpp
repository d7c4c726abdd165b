#include "judges/shared/estimates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/intervals.hpp"
#include "base/math.hpp"

namespace wisecrowd::judges {
namespace {

/// Linear between neighbours.
double quantile_of_sorted(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Estimate nothing_known() noexcept {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan};
}

Estimate mean_of(std::span<const double> values, std::span<const double> weights, double low, double high) {
  Estimate found = nothing_known();
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(total > 0)) return found;
  const auto n = static_cast<double>(values.size());
  found.value = std::inner_product(values.begin(), values.end(), weights.begin(), 0.0) / total;
  if (values.size() < 2) return found;
  double variance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    variance += math::pow(weights[i] / total * (values[i] - found.value), 2);
  }
  if (variance == 0) {  // all alike: as a rate of none or all
    const Interval rate = wilson_interval((found.value - low) / (high - low) * n, n);
    return {found.value, low + rate.low * (high - low), low + rate.high * (high - low)};
  }
  const double half = student_quantile(n - 1) * std::sqrt(variance * n / (n - 1));
  return {found.value, std::max(low, found.value - half), std::min(high, found.value + half)};
}

Estimate of_draws(std::span<const double> draws) {
  if (draws.empty()) return nothing_known();
  std::vector<double> sorted(draws.begin(), draws.end());
  std::sort(sorted.begin(), sorted.end());
  return {std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size()),
          quantile_of_sorted(sorted, 0.025), quantile_of_sorted(sorted, 0.975)};
}

}  // namespace wisecrowd::judges
