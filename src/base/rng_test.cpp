#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "base/numeric.hpp"

namespace wisecrowd {
namespace {

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

template <class Draw>
Moments moments_of(std::size_t count, Draw draw) {
  std::vector<double> values(count);
  for (double& v : values) v = draw();
  Moments m;
  const auto n = static_cast<double>(count);
  m.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double third = 0;
  double fourth = 0;
  for (const double v : values) {
    const double d = v - m.mean;
    m.variance += d * d / n;
    third += d * d * d / n;
    fourth += d * d * d * d / n;
  }
  m.skewness = third / std::pow(m.variance, 1.5);
  m.kurtosis = fourth / (m.variance * m.variance);
  return m;
}

TEST(Rng, StreamsAreTheSameOnEveryMachine) {
  // Pinned: published results name their seed, so these numbers must never change.
  Rng rng(42);
  EXPECT_EQ(rng.next(), 6332618229526065668ULL);
  EXPECT_EQ(rng.next(), 17630415256238047317ULL);
  EXPECT_EQ(Rng(42).fork("restart", 3).next(), 245575161817273497ULL);
  EXPECT_EQ(Rng(0).below(1000), 652U);
  EXPECT_DOUBLE_EQ(Rng(7).uniform(), 0.72150818060497024);
  EXPECT_DOUBLE_EQ(Rng(7).normal(), -0.94225766538407629);
  EXPECT_DOUBLE_EQ(Rng(7).beta(2, 3), 0.31408331733724665);
}

TEST(Rng, ForkingDoesNotDisturbTheParent) {
  Rng one(5);
  Rng two(5);
  one.next();
  two.next();
  static_cast<void>(one.fork("x"));
  EXPECT_EQ(one.next(), two.next());
  // A stream depends on seed, purpose and index, not on how much was drawn before.
  EXPECT_EQ(one.fork("x", 2).next(), Rng(5).fork("x", 2).next());
}

TEST(Rng, ForksDoNotCollideOrResembleOneAnother) {
  std::set<std::uint64_t> first;
  std::size_t made = 0;
  const Rng base(1);
  for (const char* purpose : {"", "a", "b", "ab", "ba", "restart", "restart ", "tie"}) {
    for (std::uint64_t i = 0; i < 500; ++i, ++made) first.insert(base.fork(purpose, i).next());
  }
  for (std::uint64_t seed = 2; seed < 502; ++seed, ++made) first.insert(Rng(seed).fork("a").next());
  EXPECT_EQ(first.size(), made);

  // Neighbouring indices and seeds: draws are uncorrelated, place by place and against the parent.
  const auto correlation = [](Rng one, Rng two) {
    double sum = 0;
    for (int i = 0; i < 20000; ++i) sum += (one.uniform() - 0.5) * (two.uniform() - 0.5) * 12;
    return sum / 20000;
  };
  constexpr double kFiveErrors = 5 / 141.4;
  EXPECT_NEAR(correlation(base.fork("x", 0), base.fork("x", 1)), 0, kFiveErrors);
  EXPECT_NEAR(correlation(base.fork("x", 0), base.fork("y", 0)), 0, kFiveErrors);
  EXPECT_NEAR(correlation(base, base.fork("x", 0)), 0, kFiveErrors);
  EXPECT_NEAR(correlation(Rng(1), Rng(2)), 0, kFiveErrors);
  // The first draw of consecutive forks is itself a good stream.
  std::uint64_t index = 0;
  const Moments m = moments_of(50000, [&] { return base.fork("x", index++).uniform(); });
  EXPECT_NEAR(m.mean, 0.5, 0.0065);
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.002);
  double lagged = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    lagged += (base.fork("x", i).uniform() - 0.5) * (base.fork("x", i + 1).uniform() - 0.5) * 12 / 20000;
  }
  EXPECT_NEAR(lagged, 0, kFiveErrors);
}

TEST(Rng, BitsAreBalanced) {
  Rng rng(3);
  std::array<int, 64> ones{};
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = rng.next();
    for (std::size_t b = 0; b < 64; ++b) ones[b] += static_cast<int>(bits >> b & 1);
  }
  for (const int count : ones) EXPECT_NEAR(count, 10000, 5 * 70.7);
}

TEST(Rng, UniformStaysBelowOne) {
  Rng rng(9);
  const Moments m = moments_of(100000, [&] {
    const double u = rng.uniform();
    EXPECT_GE(u, 0);
    EXPECT_LT(u, 1);
    return u;
  });
  EXPECT_NEAR(m.mean, 0.5, 0.005);
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.001);
  EXPECT_NEAR(m.kurtosis, 1.8, 0.03);
}

TEST(Rng, BelowHasNoBias) {
  Rng rng(11);
  for (const std::uint64_t n : {1, 2, 3, 7, 10}) {
    std::vector<double> counts(n, 0);
    for (int i = 0; i < 50000; ++i) ++counts.at(rng.below(n));
    const double expected = 50000 / static_cast<double>(n);
    for (const double count : counts) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected) + 1e-9);
  }
  // Just above half of the range every second draw must be rejected: a biased one would favour the lower half.
  const std::uint64_t huge = (std::uint64_t{3} << 62) + 1;
  double low = 0;
  for (int i = 0; i < 30000; ++i) {
    const std::uint64_t x = rng.below(huge);
    ASSERT_LT(x, huge);
    low += x < huge / 3 ? 1 : 0;
  }
  EXPECT_NEAR(low / 30000, 1.0 / 3, 5 * 0.00272);
}

TEST(Rng, NormalMoments) {
  Rng rng(13);
  const Moments m = moments_of(200000, [&] { return rng.normal(); });
  EXPECT_NEAR(m.mean, 0, 0.012);
  EXPECT_NEAR(m.variance, 1, 0.016);
  EXPECT_NEAR(m.skewness, 0, 0.03);
  EXPECT_NEAR(m.kurtosis, 3, 0.06);
}

TEST(Rng, LogGammaMomentsForAnyShape) {
  // E[log G] = digamma(a) and Var[log G] = trigamma(a), also where G itself underflows.
  Rng rng(17);
  for (const double shape : {1e-3, 0.01, 0.1, 0.5, 1.0, 2.5, 30.0, 1e4}) {
    const Moments m = moments_of(100000, [&] { return rng.log_gamma_draw(shape); });
    const double sd = std::sqrt(trigamma(shape));
    EXPECT_NEAR((m.mean - digamma(shape)) / sd, 0, 5 / std::sqrt(1e5)) << shape;
    EXPECT_NEAR(m.variance / (sd * sd), 1, 0.06) << shape;
  }
}

TEST(Rng, BetaMomentsAlsoForTinyParameters) {
  Rng rng(19);
  for (const auto& [a, b] : {std::pair(2.0, 1.0), std::pair(0.5, 0.25), std::pair(40.0, 10.0), std::pair(0.01, 0.03),
                             std::pair(1e-3, 1e-3), std::pair(1e-3, 2.0)}) {
    const Moments m = moments_of(100000, [&, a = a, b = b] {
      const double x = rng.beta(a, b);
      EXPECT_TRUE(x >= 0 && x <= 1);  // false for NaN
      return x;
    });
    const double mean = a / (a + b);
    const double variance = a * b / ((a + b) * (a + b) * (a + b + 1));
    EXPECT_NEAR(m.mean, mean, 5 * std::sqrt(variance / 1e5)) << a << ' ' << b;
    EXPECT_NEAR(m.variance, variance, 5 * variance * std::sqrt(m.kurtosis / 1e5)) << a << ' ' << b;
  }
}

TEST(Rng, DirichletMomentsAlsoForTinyParameters) {
  Rng rng(23);
  const std::vector<std::vector<double>> alphas = {
      {1, 2, 3}, {0.1, 0.1, 0.1, 0.1}, {1e-3, 2e-3, 3e-3}, {100, 1e-3, 50}};
  for (const auto& alpha : alphas) {
    const double total = std::accumulate(alpha.begin(), alpha.end(), 0.0);
    std::vector<double> draw(alpha.size());
    std::vector<double> mean(alpha.size(), 0);
    std::vector<double> square(alpha.size(), 0);
    constexpr int kDraws = 50000;
    for (int i = 0; i < kDraws; ++i) {
      rng.dirichlet(alpha, draw);
      ASSERT_NEAR(std::accumulate(draw.begin(), draw.end(), 0.0), 1, 1e-12);
      for (std::size_t k = 0; k < draw.size(); ++k) {
        mean[k] += draw[k] / kDraws;
        square[k] += draw[k] * draw[k] / kDraws;
      }
    }
    for (std::size_t k = 0; k < alpha.size(); ++k) {
      const double m = alpha[k] / total;
      const double variance = m * (1 - m) / (total + 1);
      EXPECT_NEAR(mean[k], m, 5 * std::sqrt(variance / kDraws));
      EXPECT_NEAR(square[k] - mean[k] * mean[k], variance, 0.1 * variance + 1e-6);
    }
  }
}

TEST(Rng, ManyDrawsAtOnceAreTheSameDraws) {
  Rng one(5), many(5), skipping(5);
  std::array<std::uint64_t, 21> draws{};
  many.fill(draws);
  skipping.skip(20);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    EXPECT_EQ(draws.at(i), one.next());
  }
  EXPECT_EQ(skipping.next(), draws.back());
  EXPECT_EQ(many.next(), skipping.next());
}

TEST(Rng, CategoricalFollowsItsWeightsAndNeverTakesZero) {
  Rng rng(29);
  const double weights[] = {0, 2, 0, 6, 2, 0};
  std::array<double, 6> counts{};
  for (int i = 0; i < 50000; ++i) ++counts.at(rng.categorical(weights));
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(counts[k] / 50000, weights[k] / 10, weights[k] > 0 ? 0.011 : 0);
}

TEST(Rng, ShuffleMakesEveryOrderAlike) {
  Rng rng(31);
  std::array<double, 64> orders{};
  for (int i = 0; i < 24000; ++i) {
    std::array<int, 4> items{0, 1, 2, 3};
    rng.shuffle(std::span<int>(items));
    ++orders.at(static_cast<std::size_t>(items[0] * 16 + items[1] * 4 + items[2]));
  }
  const auto seen = std::count_if(orders.begin(), orders.end(), [](double c) { return c > 0; });
  EXPECT_EQ(seen, 24);
  for (const double count : orders) {
    if (count > 0) {
      EXPECT_NEAR(count, 1000, 5 * 31);
    }
  }
}

}  // namespace
}  // namespace wisecrowd
