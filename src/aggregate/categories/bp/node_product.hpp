#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::bp {

/// Factors below this count as this: a factor of 0 (a prior with accuracy 0 or 1) can still be divided out again.
/// Four of them fit a double.
inline constexpr double kSmallestFactor = 1e-70;

/// By value and in this form they become one instruction each, which std::max and std::min (of references) do not.
[[nodiscard]] inline double larger(double x, double y) noexcept { return x > y ? x : y; }
[[nodiscard]] inline double smaller(double x, double y) noexcept { return x < y ? x : y; }

/// Nodes that matter for no answer: without its smallest factor, a node's share is still below rounding. (Sums that
/// leave one answer out are at least the largest weight, 1, because factors are at most 1.)
[[nodiscard]] inline bool is_negligible(double weight, double smallest_factor) {
  return weight <= 1e-19 * smallest_factor;
}

/// Products of very many factors, one per node, as mantissa and exponent: one logarithm per node in the end.
class NodeProduct {
 public:
  NodeProduct(std::size_t count, std::vector<double>& product, std::vector<double>& smallest,
              std::vector<std::int64_t>& exponent)
      : product_(product), exponent_(exponent) {
    product.assign(count, 1.0);
    smallest.assign(count, 1.0);
    exponent.assign(count, 0);
  }

  /// After at most four factors.
  void take_exponents() {
    double* const product = product_.data();
    std::int64_t* const exponent = exponent_.data();
    const std::size_t count = product_.size();
#pragma omp simd
    for (std::size_t s = 0; s < count; ++s) {
      const auto bits = std::bit_cast<std::uint64_t>(product[s]);
      exponent[s] += static_cast<std::int64_t>(bits >> 52) - 1023;
      product[s] = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
    }
  }

  /// Log weights times products, relative to the largest. Returns log Σ of them, not relative.
  double finish(std::span<const double> log_prior_weight, std::vector<double>& log_weight) const {
    const std::size_t count = product_.size();
    std::int64_t reference = INT64_MIN;
    for (std::size_t s = 0; s < count; ++s) reference = std::max(reference, exponent_[s]);
    log_weight.resize(count);
    double top = -1e300;
    for (std::size_t s = 0; s < count; ++s) {
      // Differences of exponents first: they are small where it matters, so no digits are lost.
      log_weight[s] =
          log_prior_weight[s] + math::log(product_[s]) + static_cast<double>(exponent_[s] - reference) * M_LN2;
      top = std::max(top, log_weight[s]);
    }
    double sum = 0;
    for (double& w : log_weight) sum += math::exp(w -= top);
    return top + math::log(sum) + static_cast<double>(reference) * M_LN2;
  }

 private:
  std::vector<double>& product_;
  std::vector<std::int64_t>& exponent_;
};

}  // namespace wisecrowd::bp
