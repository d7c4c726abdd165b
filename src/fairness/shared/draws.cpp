#include "fairness/shared/draws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.hpp"

namespace wisecrowd::fairness {
namespace {

/// Below this, and above its complement, a task is nearly sure.
constexpr double kNearlySure = 0.01;
/// From this variance on a sum is as good as normal.
constexpr double kManyVariance = 50;

double poisson(double mean, Rng& rng) {
  if (mean <= 0) return 0;
  if (mean > kManyVariance) return std::max(0.0, std::round(mean + std::sqrt(mean) * rng.normal()));
  const double limit = math::exp(-mean);
  double product = rng.uniform();
  double count = 0;
  for (; product > limit; product *= rng.uniform()) ++count;
  return count;
}

}  // namespace

Estimate interval_of(double value, std::span<double> draws, double level) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (draws.empty()) return {value, kNaN, kNaN};
  const auto quantile = [&](double p) {
    const double at = p * static_cast<double>(draws.size() - 1);
    const auto below = static_cast<std::ptrdiff_t>(at);
    std::nth_element(draws.begin(), draws.begin() + below, draws.end());
    const double low = draws[static_cast<std::size_t>(below)];
    if (static_cast<std::size_t>(below) + 1 == draws.size()) return low;
    const double high = *std::min_element(draws.begin() + below + 1, draws.end());
    return low + (at - static_cast<double>(below)) * (high - low);
  };
  const double tail = (1 - level) / 2;
  const double low = quantile(tail);
  return {value, std::min(low, value), std::max(quantile(1 - tail), value)};
}

void CountOfUnsure::add(double probability) {
  const double p = std::clamp(probability, 0.0, 1.0);
  ++count_;
  sum_ += p;
  variance_ += p * (1 - p);
  if (p < kNearlySure) {
    rarely_ += p;
  } else if (p > 1 - kNearlySure) {
    ++certain_;
    rarely_not_ += 1 - p;
  } else if (variance_ < kManyVariance) {
    open_.push_back(static_cast<float>(p));
  }
}

double CountOfUnsure::draw(Rng& rng) const {
  if (variance_ >= kManyVariance) {
    return std::clamp(std::round(sum_ + std::sqrt(variance_) * rng.normal()), 0.0, count_);
  }
  double drawn = certain_ + poisson(rarely_, rng) - poisson(rarely_not_, rng);
  for (const float p : open_) drawn += rng.bernoulli(static_cast<double>(p)) ? 1 : 0;
  return std::clamp(drawn, 0.0, count_);
}

}  // namespace wisecrowd::fairness
