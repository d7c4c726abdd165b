#include "base/math.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How many units of the last place of the exact value lie between.
double units_off(double value, long double exact) {
  const auto near = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(near), kInfinity) - std::abs(near);
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact)) / unit;
}

/// The largest error of a function at random points between two numbers.
template <class Function, class Exact>
double worst(double low, double high, Function function, Exact exact) {
  Rng rng(7);
  double most = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = rng.uniform(low, high);
    most = std::max(most, units_off(function(x), exact(static_cast<long double>(x))));
  }
  return most;
}

TEST(Math, ElementaryFunctionsAreRightToTheLastPlaces) {
  using L = long double;
  const auto exp_exact = [](L x) { return std::exp(x); };
  EXPECT_LT(worst(-1, 1, math::exp, exp_exact), 1);
  EXPECT_LT(worst(-708, 709, math::exp, exp_exact), 1);
  EXPECT_LT(worst(-744, -708, math::exp, exp_exact), 1.01);
  const auto log_exact = [](L x) { return std::log(x); };
  EXPECT_LT(worst(0.5, 2, math::log, log_exact), 1);
  EXPECT_LT(worst(0, 1e10, math::log, log_exact), 1);
  EXPECT_LT(worst(0, 1e-308, math::log, log_exact), 1);
  const auto log1p_exact = [](L x) { return std::log1p(x); };
  EXPECT_LT(worst(-0.9, 1, math::log1p, log1p_exact), 2.5);
  EXPECT_LT(worst(-1e-10, 1e-10, math::log1p, log1p_exact), 2.5);
  const auto expm1_exact = [](L x) { return std::expm1(x); };
  EXPECT_LT(worst(-1, 1, math::expm1, expm1_exact), 3);
  EXPECT_LT(worst(-1e-10, 1e-10, math::expm1, expm1_exact), 3);
  EXPECT_LT(worst(-3, 3, math::tanh, [](L x) { return std::tanh(x); }), 4);
  EXPECT_LT(worst(1e-3, 1e3, math::log2, [](L x) { return std::log2(x); }), 2);
  EXPECT_LT(worst(
                1e-3, 10, [](double x) { return math::pow(x, 1.7); }, [](L x) { return std::pow(x, L{1.7}); }),
            12);
  EXPECT_LT(worst(
                1e-3, 10, [](double x) { return math::pow(x, -5); }, [](L x) { return std::pow(x, L{-5}); }),
            5);
}

TEST(Math, AnglesInTurns) {
  const double near_one = worst(0.1, 0.15, math::cos_turns,
                                [](long double x) { return std::cos(2 * std::numbers::pi_v<long double> * x); });
  EXPECT_LT(near_one, 2);
  for (const double turns : {-1.3, -0.26, 0.0, 0.1, 0.3, 0.49, 0.77, 5.1}) {
    EXPECT_NEAR(math::cos_turns(turns), std::cos(2 * std::numbers::pi * turns), 1e-15 * (1 + std::abs(turns)) * 8);
    EXPECT_NEAR(math::sin_turns(turns), std::sin(2 * std::numbers::pi * turns), 1e-15 * (1 + std::abs(turns)) * 8);
  }
  EXPECT_EQ(math::cos_turns(0), 1);
  EXPECT_EQ(math::cos_turns(0.5), -1);
  EXPECT_EQ(math::cos_turns(0.25), 0);
}

TEST(Math, EndsOfTheRange) {
  EXPECT_EQ(math::exp(0), 1);
  EXPECT_EQ(math::exp(710), kInfinity);
  EXPECT_EQ(math::exp(-746), 0);
  EXPECT_EQ(math::exp(kInfinity), kInfinity);
  EXPECT_EQ(math::exp(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(math::exp(std::nan(""))));
  EXPECT_EQ(math::log(1), 0);
  EXPECT_EQ(math::log(0), -kInfinity);
  EXPECT_EQ(math::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(math::log(-1)));
  EXPECT_TRUE(std::isnan(math::log(std::nan(""))));
  EXPECT_EQ(math::log1p(-1), -kInfinity);
  EXPECT_EQ(math::log1p(kInfinity), kInfinity);
  EXPECT_EQ(math::expm1(-800), -1);
  EXPECT_EQ(math::expm1(800), kInfinity);
  EXPECT_EQ(math::tanh(1e300), 1);
  EXPECT_EQ(math::tanh(-kInfinity), -1);
  EXPECT_EQ(math::tanh(0), 0);
  EXPECT_EQ(math::log2(1024), 10);
  EXPECT_EQ(math::pow(10, 3), 1000);
  EXPECT_EQ(math::pow(0, 0), 1);
  EXPECT_EQ(math::pow(0, 0.3), 0);
  EXPECT_EQ(math::pow(0, -0.3), kInfinity);
  EXPECT_EQ(math::pow(9, 0.5), 3);
  EXPECT_EQ(math::hypot(3, 4), 5);
  EXPECT_EQ(math::hypot(1e200, 1e-200), 1e200);
  EXPECT_EQ(math::hypot(0, 0), 0);
  EXPECT_EQ(math::hypot(-kInfinity, 1), kInfinity);
}

/// All machines have to come to this number, whatever their processor and their C library.
TEST(Math, TheSameBitsOnEveryMachine) {
  std::uint64_t digest = 0;
  const auto add = [&](double value) { digest = digest * 0x9E3779B97F4A7C15ULL + std::bit_cast<std::uint64_t>(value); };
  Rng rng(11);
  for (int i = 0; i < 5000; ++i) {
    const double x = rng.uniform(-30, 30), p = rng.uniform(1e-9, 1);
    add(math::exp(x));
    add(math::expm1(x / 100));
    add(math::log(p));
    add(math::log1p(-p / 2));
    add(math::log2(p));
    add(math::pow(p, 1.3));
    add(math::tanh(x / 10));
    add(math::cos_turns(p));
    add(rng.normal());
    add(rng.log_gamma_draw(p));
  }
  EXPECT_EQ(digest, 985482790720266239U);
}

}  // namespace
}  // namespace wisecrowd
