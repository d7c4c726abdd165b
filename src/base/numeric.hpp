#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "base/math.hpp"

namespace wisecrowd {

/// Guard inside logarithms. It is no model: modelling uses pseudo-counts.
inline constexpr double kProbabilityFloor = 1e-12;

/// log Σ exp(v), without overflow; -inf for an empty or all -inf input.
[[nodiscard]] double log_sum_exp(std::span<const double> values) noexcept;
/// In place: v ← exp(v) / Σ exp(v). Returns log Σ exp(v).
double softmax(std::span<double> values) noexcept;
/// Divides by the sum; uniform if the sum is not positive.
void normalise(std::span<double> values) noexcept;

[[nodiscard]] inline double sigmoid(double x) noexcept {
  if (x >= 0) return 1 / (1 + math::exp(-x));
  const double e = math::exp(x);
  return e / (1 + e);
}
[[nodiscard]] inline double log_sigmoid(double x) noexcept {
  return x >= 0 ? -math::log1p(math::exp(-x)) : x - math::log1p(math::exp(x));
}

/// Thread-safe log Γ (std::lgamma writes a global).
[[nodiscard]] double log_gamma(double x) noexcept;
[[nodiscard]] double digamma(double x) noexcept;
[[nodiscard]] double trigamma(double x) noexcept;
/// ln B(v) = Σ ln Γ(v_l) − ln Γ(Σ v_l).
[[nodiscard]] double log_beta(std::span<const double> v) noexcept;

/// Entropy in nats, 0 log 0 = 0.
[[nodiscard]] double entropy(std::span<const double> p) noexcept;

/// Euclidean projection onto the probability simplex, in place.
void project_to_simplex(std::span<double> v);

// From here on everything is inlined whatever its size: a call that is left in a loop leaves it without vectors.
// Products and sums are rounded one by one, as they are written (-ffp-contract=off): a fused multiply-add would save a
// few instructions, but not every processor has one, and the compiler chooses other places for it in each of the loops
// that it makes of one. So bits depend neither on the processor nor on addresses.

inline constexpr double kLn2High =
    6.93147180369123816490e-01;  ///< few enough bits that products with exponents are exact
inline constexpr double kLn2Low = 1.90821492927058770002e-10;

/// exp(r) for |r| ≤ ln2/2: a minimax polynomial, relative error 1.3e-17 before rounding.
[[nodiscard, gnu::always_inline]] inline double exp_reduced(double r) noexcept {
  double q = 2.5117825546760837e-08;
  q = q * r + 2.7631237931068154e-07;
  q = q * r + 2.755721642207587e-06;
  q = q * r + 2.4801490074218794e-05;
  q = q * r + 0.00019841269917234022;
  q = q * r + 0.0013888888946871213;
  q = q * r + 0.008333333333307283;
  q = q * r + 0.04166666666651607;
  q = q * r + 0.166666666666667;
  q = q * r + 0.5000000000000012;
  return 1 + (r + r * r * q);
}
/// The same in single precision, relative error 6e-9 before rounding.
[[nodiscard, gnu::always_inline]] inline float exp_reduced(float r) noexcept {
  float q = 1.3950476e-3F;
  q = q * r + 8.3688824e-3F;
  q = q * r + 4.1666206e-2F;
  q = q * r + 1.6666520e-1F;
  q = q * r + 0.5F;
  return 1 + (r + r * r * q);
}

/// Branch-free exp for x ≤ 0 (underflows to 0 below −708), written so that compilers vectorise loops over it.
/// Relative error below 3e-16.
[[nodiscard, gnu::always_inline]] inline double exp_nonpositive(double x) noexcept {
  constexpr double kLog2E = 1.4426950408889634074;
  constexpr double kShift = 0x1.8p52;
  const double clamped = x < -708.0 ? -708.0 : x;
  const double shifted = clamped * kLog2E + kShift;
  const double n = shifted - kShift;
  const double p = exp_reduced((clamped - n * kLn2High) - n * kLn2Low);
  // The low bits of `shifted` hold n as an integer.
  const auto bits = std::bit_cast<std::uint64_t>(shifted);
  const auto scale = std::bit_cast<double>((bits + 1023) << 52);
  return x < -708.0 ? 0.0 : p * scale;
}

/// The same in single precision, relative error below 2e-7: exactly 0 below −87.
[[nodiscard, gnu::always_inline]] inline float exp_nonpositive(float x) noexcept {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kHigh = 0.693359375F;
  constexpr float kLow = -2.12194440e-4F;
  constexpr float kShift = 0x1.8p23F;
  const float clamped = x < -87.0F ? -87.0F : x;
  const float shifted = clamped * kLog2E + kShift;
  const float n = shifted - kShift;
  const float p = exp_reduced((clamped - n * kHigh) - n * kLow);
  const float power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
  return x < -87.0F ? 0.0F : p * power;
}

/// Branch-free natural logarithm for positive normal numbers, vectorisable like exp_nonpositive.
[[nodiscard, gnu::always_inline]] inline double log_positive(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // Mantissa into [√½, √2).
  const std::uint64_t shifted = bits - 0x3FE6A09E667F3BCDULL;
  const auto exponent_bits = static_cast<std::int64_t>(shifted) >> 52;
  const auto m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent_bits) << 52));
  // Signed 64-bit integers to doubles without AVX-512: |exponent| < 2^51.
  const double e = std::bit_cast<double>(static_cast<std::uint64_t>(exponent_bits) + 0x4338000000000000ULL) - 0x1.8p52;
  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  // atanh series by the classical minimax coefficients for |s| ≤ 0.1716.
  double r = 1.479819860511658591e-01;
  r = r * z + 1.531383769920937332e-01;
  r = r * z + 1.818357216161805012e-01;
  r = r * z + 2.222219843214978396e-01;
  r = r * z + 2.857142874366239149e-01;
  r = r * z + 3.999999999940941908e-01;
  r = r * z + 6.666666666666735130e-01;
  const double half_square = 0.5 * f * f;
  return e * kLn2High + (f - (half_square - (s * (r * z + half_square) + e * kLn2Low)));
}

/// ψ(x) and ln Γ(x) together, for x > 0: variational Bayes needs both at the same points, and they share most of the
/// work. ln Γ comes in two parts, ln Γ(x) = smooth − ln product, so that the logarithm of the products of a few points
/// can be taken at once: up to four of them stay within range for x in [1e-9, 1e9].
struct GammaPair {
  double digamma;
  double smooth;
  double product;
};

inline constexpr std::size_t kProductsPerLogarithm = 4;
inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

/// Branch-free, so that loops over it vectorise: eight steps of the recurrence, then Stirling's series, whose remainder
/// at x + 8 is below 1e-15. Absolute error about 1e-14 · max(1, |value|).
[[nodiscard, gnu::always_inline]] inline GammaPair gamma_pair(double x) noexcept {
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
  return {(log_y - 0.5 * r - slope * r2) - above / below, series * r + ((y - 0.5) * log_y - y) + kHalfLogTwoPi, below};
}

/// One of the two alone; what the other needs is dropped by the compiler.
[[nodiscard, gnu::always_inline]] inline double log_gamma_positive(double x) noexcept {
  const GammaPair pair = gamma_pair(x);
  return pair.smooth - log_positive(pair.product);
}
[[nodiscard, gnu::always_inline]] inline double digamma_positive(double x) noexcept { return gamma_pair(x).digamma; }

}  // namespace wisecrowd
