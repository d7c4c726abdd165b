#include "wisecrowd/online_comparisons.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

/// Sums on a fine grid, instead of quadrature.
struct Grid {
  double evidence = 0, mean = 0, variance = 0;
};
Grid on_grid(double mean, double variance, double om) {
  double zero = 0, one = 0, two = 0;
  const double deviation = std::sqrt(variance);
  for (double z = -9; z <= 9; z += 1e-3) {
    const double d = mean + deviation * z, weight = std::exp(-z * z / 2);
    const double p = sigmoid(d), likelihood = om * p + (1 - om) * (1 - p);
    zero += weight * likelihood;
    one += weight * likelihood * d;
    two += weight * likelihood * d * d;
  }
  const double total = std::sqrt(2 * M_PI) * 1e3;
  return {zero / total, one / zero, two / zero - one / zero * (one / zero)};
}

TEST(OnlineCrowdBt, MomentsAreThoseOfTheExactPosterior) {
  OnlineCrowdBt crowd({{0.4, 0.5}, {-0.1, 1.0}}, {{8, 2}});
  const Grid exact = on_grid(0.5, 1.5, 0.8);
  EXPECT_NEAR(crowd.left_probability(WorkerId{0}, ItemId{0}, ItemId{1}), exact.evidence, 1e-7);
  crowd.observe(WorkerId{0}, ItemId{0}, ItemId{1}, Outcome::left);
  const auto a = crowd.scores()[0], b = crowd.scores()[1];
  EXPECT_NEAR(a.mean - b.mean, exact.mean, 1e-6);
  // Each item takes its share of the gain in information.
  EXPECT_NEAR(a.variance, 0.5 + (0.5 / 1.5) * (0.5 / 1.5) * (exact.variance - 1.5), 1e-6);
  EXPECT_NEAR(b.variance, 1.0 + (1.0 / 1.5) * (1.0 / 1.5) * (exact.variance - 1.5), 1e-6);
  EXPECT_GT(crowd.workers()[0].mean(), 0.8);  // it said what was expected
}

TEST(OnlineCrowdBt, GainIsNoughtForThoseWhoTellNothing) {
  const OnlineCrowdBt crowd({{0, 1}, {0, 1}, {5, 1e-6}, {-5, 1e-6}}, {{9e6, 1e6}, {5e6, 5e6}});
  const double useful = crowd.expected_gain(WorkerId{0}, ItemId{0}, ItemId{1});
  EXPECT_GT(useful, 0.05);
  EXPECT_NEAR(crowd.expected_gain(WorkerId{1}, ItemId{0}, ItemId{1}), 0, 1e-6);     // guesses
  EXPECT_LT(crowd.expected_gain(WorkerId{0}, ItemId{2}, ItemId{3}), useful / 100);  // known already
}

TEST(OnlineCrowdBt, AsksTheBestAndLearnsTheRanking) {
  Rng rng(4);
  std::vector<double> truth{-2, -1, 0, 1, 2, 3};
  OnlineCrowdBt crowd(std::vector<OnlineCrowdBt::Score>(6), std::vector<OnlineCrowdBt::Reliability>(5));
  const RunContext context;
  for (int round = 0; round < 60; ++round) {
    for (const PairQuestion& q : crowd.choose(5, context)) {
      bool left = rng.bernoulli(sigmoid(2 * (truth[index(q.left)] - truth[index(q.right)])));
      if (index(q.worker) == 0) left = !left;  // an adversary
      crowd.observe(q.worker, q.left, q.right, left ? Outcome::left : Outcome::right);
    }
  }
  for (std::size_t i = 1; i < 6; ++i) EXPECT_GT(crowd.scores()[i].mean, crowd.scores()[i - 1].mean) << i;
  EXPECT_LT(crowd.workers()[0].mean(), 0.4);
  EXPECT_GT(crowd.workers()[1].mean(), 0.7);
  const auto questions = crowd.choose(5, context);
  ASSERT_EQ(questions.size(), 5U);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_LE(questions[i].gain, questions[i - 1].gain);
}

}  // namespace
}  // namespace wisecrowd
