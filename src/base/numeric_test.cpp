#include "base/numeric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Numeric, GoldenSpecialFunctions) {
  EXPECT_NEAR(digamma(0.1), -10.423754940411, 1e-11);
  EXPECT_NEAR(digamma(0.5), -1.963510026021, 1e-12);
  EXPECT_NEAR(digamma(1), -0.577215664902, 1e-12);
  EXPECT_NEAR(digamma(2.5), 0.703156640645, 1e-12);
  EXPECT_NEAR(digamma(10), 2.251752589067, 1e-12);
  EXPECT_NEAR(log_beta(std::vector{2.0, 1.0}), -0.693147180560, 1e-12);
  EXPECT_NEAR(log_beta(std::vector{5.0, 2.0}), -3.401197381662, 1e-12);
  EXPECT_NEAR(log_beta(std::vector{1.1, 1.1, 1.1}), -1.136715901674, 1e-12);
  EXPECT_NEAR(trigamma(1), M_PI * M_PI / 6, 1e-12);
  EXPECT_NEAR(trigamma(0.5), M_PI * M_PI / 2, 1e-12);
  EXPECT_NEAR(log_gamma(0.5), std::log(M_PI) / 2, 1e-14);
  EXPECT_NEAR(log_gamma(171), std::log(7.257415615307994e306), 1e-10);
}

TEST(Numeric, SpecialFunctionsFollowTheirRecurrences) {
  for (double x = 1e-4; x < 1e5; x *= 1.7) {
    EXPECT_NEAR(digamma(x + 1) - digamma(x), 1 / x, 1e-12 * (1 / x + std::abs(digamma(x))));
    EXPECT_NEAR(trigamma(x) - trigamma(x + 1), 1 / (x * x), 1e-12 * (1 / (x * x) + trigamma(x)));
    EXPECT_NEAR(log_gamma(x + 1) - log_gamma(x), std::log(x), 1e-13 * (1 + std::abs(log_gamma(x + 1)) * 4));
  }
}

TEST(Numeric, LogSumExp) {
  EXPECT_EQ(log_sum_exp({}), -kInfinity);
  EXPECT_EQ(log_sum_exp(std::vector{-kInfinity, -kInfinity}), -kInfinity);
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector{-kInfinity, 3.0}), 3);
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector{1000.0, 1000.0}), 1000 + std::log(2));
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector{-1000.0, -1001.0}), -1000 + std::log1p(std::exp(-1.0)));
  EXPECT_EQ(log_sum_exp(std::vector{kInfinity, 0.0}), kInfinity);
}

TEST(Numeric, Softmax) {
  std::vector<double> v = {1000, 1001, -kInfinity};
  EXPECT_DOUBLE_EQ(softmax(v), 1001 + std::log1p(std::exp(-1.0)));
  EXPECT_DOUBLE_EQ(v[0], 1 / (1 + std::exp(1.0)));
  EXPECT_DOUBLE_EQ(v[1], 1 / (1 + std::exp(-1.0)));
  EXPECT_EQ(v[2], 0);
  std::vector<double> none = {-kInfinity, -kInfinity};
  softmax(none);
  EXPECT_EQ(none, (std::vector{0.5, 0.5}));
}

TEST(Numeric, Normalise) {
  std::vector<double> v = {1, 3};
  normalise(v);
  EXPECT_EQ(v, (std::vector{0.25, 0.75}));
  for (std::vector<double> bad : {std::vector{0.0, 0.0}, std::vector{kInfinity, 1.0}, std::vector{std::nan(""), 1.0}}) {
    normalise(bad);
    EXPECT_EQ(bad, (std::vector{0.5, 0.5}));
  }
}

TEST(Numeric, SigmoidsDoNotOverflow) {
  EXPECT_EQ(sigmoid(1000), 1);
  EXPECT_EQ(sigmoid(-1000), 0);
  EXPECT_DOUBLE_EQ(sigmoid(0), 0.5);
  EXPECT_DOUBLE_EQ(log_sigmoid(-1000), -1000);
  EXPECT_DOUBLE_EQ(log_sigmoid(50), -std::exp(-50.0));
  for (double x = -30; x <= 30; x += 0.37) {
    EXPECT_NEAR(log_sigmoid(x), std::log(sigmoid(x)), 1e-12);
    EXPECT_NEAR(sigmoid(x) + sigmoid(-x), 1, 1e-15);
  }
}

TEST(Numeric, Entropy) {
  EXPECT_DOUBLE_EQ(entropy(std::vector{0.5, 0.5}), std::log(2));
  EXPECT_EQ(entropy(std::vector{1.0, 0.0}), 0);
}

TEST(Numeric, FastExpMatchesTheStandardOne) {
  // Relative error over the whole range: dense, and at random.
  double worst = 0;
  const auto compare = [&](double x) {
    const double expected = std::exp(x);
    const double error = std::abs(exp_nonpositive(x) - expected) / expected;
    worst = std::max(worst, error);
  };
  for (double x = 0; x >= -708; x -= 0.000917) compare(x);
  for (double x = -1e-300; x > -1; x *= 1.9) compare(x);
  Rng rng(1);
  for (int i = 0; i < 300000; ++i) compare(-708 * rng.uniform());
  // The places where the reduction changes its multiple of ln 2.
  for (int n = 0; n < 1021; ++n) {
    const double edge = -(n + 0.5) * M_LN2;
    for (const double x : {std::nextafter(edge, 0.0), edge, std::nextafter(edge, -1e9)}) compare(x);
  }
  EXPECT_LT(worst, 6e-16);
  EXPECT_EQ(exp_nonpositive(0.0), 1);
  EXPECT_EQ(exp_nonpositive(-0.0), 1);
  EXPECT_EQ(exp_nonpositive(-708.5), 0);
  EXPECT_EQ(exp_nonpositive(-1e300), 0);
  EXPECT_EQ(exp_nonpositive(-kInfinity), 0);
}

TEST(Numeric, ExponentialInSinglePrecision) {
  EXPECT_EQ(exp_nonpositive(0.0F), 1.0F);
  EXPECT_EQ(exp_nonpositive(-1e9F), 0.0F);
  for (float x = 0; x > -87; x -= 0.013F) {
    const double exact = std::exp(static_cast<double>(x));
    ASSERT_NEAR(static_cast<double>(exp_nonpositive(x)), exact, 2e-7 * exact) << x;
  }
}

TEST(Numeric, FastLogMatchesTheStandardOne) {
  double worst = 0;
  const auto compare = [&](double x) {
    const double expected = std::log(x);
    const double error = std::abs(log_positive(x) - expected);
    worst = std::max(worst, expected == 0 ? error : error / std::abs(expected));
  };
  for (double x = std::numeric_limits<double>::min(); x < 1e308; x *= 1.00173) compare(x);
  compare(std::numeric_limits<double>::max());
  // Near 1, where cancellation would show, and around the change of exponent.
  for (double d = 1e-16; d < 0.5; d *= 1.01) {
    compare(1 + d);
    compare(1 - d);
  }
  for (int e = -1021; e < 1023; ++e) {
    const double edge = std::ldexp(M_SQRT2, e);
    for (const double x : {std::nextafter(edge, 0.0), edge, std::nextafter(edge, 1e308)}) compare(x);
    compare(std::ldexp(1.0, e));
  }
  Rng rng(2);
  for (int i = 0; i < 300000; ++i) compare(rng.uniform() + kProbabilityFloor);
  EXPECT_LT(worst, 6e-16);
  EXPECT_EQ(log_positive(1), 0);
}

TEST(Numeric, ProjectionOntoTheSimplex) {
  std::vector<double> inside = {0.2, 0.3, 0.5};
  project_to_simplex(inside);
  EXPECT_NEAR(inside[0], 0.2, 1e-15);
  std::vector<double> corner = {5, 0, 0};
  project_to_simplex(corner);
  EXPECT_EQ(corner, (std::vector{1.0, 0.0, 0.0}));
  std::vector<double> shifted = {1, 1, -3};
  project_to_simplex(shifted);
  EXPECT_EQ(shifted, (std::vector{0.5, 0.5, 0.0}));
  std::vector<double> one = {-7};
  project_to_simplex(one);
  EXPECT_EQ(one, (std::vector{1.0}));

  // Against the conditions that only the nearest point fulfils: on the simplex, and v − p is constant where p > 0 and
  // no larger where p = 0.
  Rng rng(4);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> v(1 + rng.below(8));
    for (double& x : v) x = rng.normal() * (trial % 3 == 0 ? 10 : 0.5);
    std::vector<double> p = v;
    project_to_simplex(p);
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
    double shift = -kInfinity;
    for (std::size_t k = 0; k < v.size(); ++k) {
      EXPECT_GE(p[k], 0);
      if (p[k] > 0) shift = v[k] - p[k];
    }
    for (std::size_t k = 0; k < v.size(); ++k) {
      if (p[k] > 0) {
        EXPECT_NEAR(v[k] - p[k], shift, 1e-12);
      } else {
        EXPECT_LE(v[k], shift + 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace wisecrowd
