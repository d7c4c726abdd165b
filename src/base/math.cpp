#include "base/math.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/numeric.hpp"

namespace wisecrowd::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// 1/n! for n of one parity from `first` on, with alternating signs: Taylor's series of sine and cosine.
template <std::size_t Terms>
constexpr std::array<double, Terms> alternating_factorials(int first) {
  std::array<double, Terms> terms{};
  double term = 1;
  int n = first;
  for (double& value : terms) {
    value = term;
    term /= -static_cast<double>((n + 1) * (n + 2));
    n += 2;
  }
  return terms;
}

/// Σ terms[i] x^i.
template <std::size_t Terms>
double polynomial(const std::array<double, Terms>& terms, double x) {
  double sum = 0;
  for (std::size_t i = Terms; i-- > 0;) sum = sum * x + terms[i];
  return sum;
}

/// Up to an eighth of a turn Taylor's series needs nine terms.
double cosine(double angle) { return polynomial(alternating_factorials<9>(0), angle * angle); }
double sine(double angle) { return angle * polynomial(alternating_factorials<9>(1), angle * angle); }

/// x^n by squaring.
double integer_power(double x, unsigned n) {
  double power = 1;
  for (; n > 0; n /= 2, x *= x) {
    if (n % 2 == 1) power *= x;
  }
  return power;
}

}  // namespace

double exp(double x) noexcept {
  if (x <= 0 && x >= -708) return exp_nonpositive(x);
  if (std::isnan(x)) return x;
  if (x > 709.782712893384) return kInfinity;
  if (x < -745.2) return 0;
  // In two steps, because 2^n alone is no normal number at the ends of the range.
  const double n = std::floor(x * std::numbers::log2e + 0.5);
  const double rest = exp_reduced((x - n * kLn2High) - n * kLn2Low);
  return std::ldexp(rest, static_cast<int>(n));
}

double expm1(double x) noexcept {
  const double power = exp(x);
  if (power == 1) return x;
  const double less_one = power - 1;
  if (less_one == -1 || power == kInfinity) return less_one;
  return less_one * x / log(power);  // what rounding did to the power, it did to its logarithm
}

double log(double x) noexcept {
  if (x >= std::numeric_limits<double>::min() && x < kInfinity) return log_positive(x);
  if (x > 0 && x < kInfinity) return log_positive(x * 0x1p54) - 54 * std::numbers::ln2;
  if (x == 0) return -kInfinity;
  return x == kInfinity ? kInfinity : kNothing;
}

double log1p(double x) noexcept {
  const double sum = 1 + x;
  if (sum == 1) return x;
  if (sum == kInfinity) return kInfinity;
  return log(sum) * x / (sum - 1);  // what rounding did to the sum, it did to its distance from 1
}

double log2(double x) noexcept {
  int exponent = 0;
  if (std::frexp(x, &exponent) == 0.5) return exponent - 1;
  return log(x) * std::numbers::log2e;
}

double pow(double x, double y) noexcept {
  if (y == 0 || x == 1) return 1;
  if (std::floor(y) == y && std::abs(y) <= 64) {
    const double power = integer_power(x, static_cast<unsigned>(std::abs(y)));
    return y < 0 ? 1 / power : power;
  }
  if (y == 0.5) return std::sqrt(x);
  if (x == 0) return y > 0 ? 0 : kInfinity;
  return exp(y * log(x));
}

double tanh(double x) noexcept {
  if (std::abs(x) > 20) return std::copysign(1, x);
  const double twice = expm1(2 * std::abs(x));
  return std::copysign(twice / (twice + 2), x);
}

double cos_turns(double turns) noexcept {
  const double quarters = std::floor(4 * turns + 0.5);
  const double angle = (turns - quarters / 4) * (2 * std::numbers::pi);  // the difference is exact
  switch (static_cast<std::int64_t>(quarters) & 3) {
    case 0: return cosine(angle);
    case 1: return -sine(angle);
    case 2: return -cosine(angle);
    default: return sine(angle);
  }
}

double sin_turns(double turns) noexcept { return cos_turns(turns - 0.25); }

double hypot(double x, double y) noexcept {
  const double longer = std::max(std::abs(x), std::abs(y)), shorter = std::min(std::abs(x), std::abs(y));
  if (longer == 0 || std::isinf(longer)) return longer;
  const double ratio = shorter / longer;
  return longer * std::sqrt(1 + ratio * ratio);
}

}  // namespace wisecrowd::math
