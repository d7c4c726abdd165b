#include "base/numeric.hpp"

#include <algorithm>
#include <boost/math/special_functions/trigamma.hpp>
#include <functional>
#include <limits>
#include <vector>

#include "base/math.hpp"

namespace wisecrowd {
namespace {

/// Between these gamma_pair holds; beyond them a term or two do.
constexpr double kSmallestOfSeries = 1e-9;
constexpr double kLargestOfSeries = 1e9;

using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace

double log_sum_exp(std::span<const double> values) noexcept {
  double top = -std::numeric_limits<double>::infinity();
  for (const double v : values) top = std::max(top, v);
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double v : values) sum += math::exp(v - top);
  return top + math::log(sum);
}

double softmax(std::span<double> values) noexcept {
  const double normaliser = log_sum_exp(values);
  if (!std::isfinite(normaliser)) {
    std::fill(values.begin(), values.end(), 1.0 / static_cast<double>(values.size()));
    return normaliser;
  }
  double sum = 0;
  for (double& v : values) sum += v = math::exp(v - normaliser);
  for (double& v : values) v /= sum;
  return normaliser;
}

void normalise(std::span<double> values) noexcept {
  double sum = 0;
  for (const double v : values) sum += v;
  if (sum > 0 && std::isfinite(sum)) {
    for (double& v : values) v /= sum;
  } else {
    std::fill(values.begin(), values.end(), 1.0 / static_cast<double>(values.size()));
  }
}

double log_gamma(double x) noexcept {
  if (x < kSmallestOfSeries) return -math::log(x);
  return x < kLargestOfSeries ? log_gamma_positive(x) : (x - 0.5) * math::log(x) - x + kHalfLogTwoPi;
}
double digamma(double x) noexcept {
  if (x < kSmallestOfSeries) return -1 / x;
  return x < kLargestOfSeries ? digamma_positive(x) : math::log(x) - 0.5 / x;
}
double trigamma(double x) noexcept { return boost::math::trigamma(x, Policy()); }

double log_beta(std::span<const double> v) noexcept {
  double sum = 0;
  double terms = 0;
  for (const double x : v) {
    sum += x;
    terms += log_gamma(x);
  }
  return terms - log_gamma(sum);
}

double entropy(std::span<const double> p) noexcept {
  double h = 0;
  for (const double x : p) {
    if (x > 0) h -= x * math::log(x);
  }
  return h;
}

void project_to_simplex(std::span<double> v) {
  std::vector<double> sorted(v.begin(), v.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0;
  double shift = 0;
  for (std::size_t r = 0; r < sorted.size(); ++r) {
    sum += sorted[r];
    const double candidate = (1 - sum) / static_cast<double>(r + 1);
    if (sorted[r] + candidate > 0) shift = candidate;
  }
  for (double& x : v) x = std::max(x + shift, 0.0);
}

}  // namespace wisecrowd
