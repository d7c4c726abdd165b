#include "aggregate/numbers/crh_numbers/crh_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

using crh_numbers::CrhNumbers;
using crh_numbers::Distance;

NumberData crowd(std::vector<double>& truth) {
  Rng rng(9);
  NumberAnswersBuilder builder;
  for (int t = 0; t < 500; ++t) {
    truth.push_back(10 * rng.normal());
    for (int w = 0; w < 5; ++w) {
      builder.add("t" + std::to_string(1000 + t), "w" + std::to_string(w), truth.back() + (w + 1) * rng.normal());
    }
  }
  return {builder.build(), {}};
}

TEST(CrhNumbers, WeightedMedianByHand) {
  std::vector<std::pair<double, double>> one{{3, 1}}, three{{1, 1}, {9, 5}, {2, 1}}, even{{4, 2}, {1, 1}, {2, 1}};
  EXPECT_EQ(crh_numbers::weighted_median(one), 3);
  EXPECT_EQ(crh_numbers::weighted_median(three), 9);
  EXPECT_EQ(crh_numbers::weighted_median(even), 3);
}

/// At the end the weights are those of the distances, and the estimates those of the weights.
TEST(CrhNumbers, StandsStill) {
  std::vector<double> truth;
  const NumberData data = crowd(truth);
  const NumberFit fit = CrhNumbers().fit(data, RunContext());
  EXPECT_EQ(fit.status, Status::converged);
  std::vector<double> distance(5, 0), weight(5);
  double all = 0;
  for (std::size_t t = 0; t < 500; ++t) {
    for (std::size_t w = 0; w < 5; ++w) {
      const double off = data.answers.value(static_cast<AnswerIndex>(t * 5 + w))[0] - fit.estimate[t];
      distance[w] += off * off / 500;
    }
  }
  for (const double d : distance) all += d;
  for (std::size_t w = 0; w < 5; ++w) {
    weight[w] = -std::log(distance[w] / all);
    EXPECT_NEAR(fit.scale[w], std::sqrt(distance[w]), 1e-4);
    if (w > 0) EXPECT_LT(weight[w], weight[w - 1]);
  }
  double sum = 0, weights = 0;
  for (std::size_t w = 0; w < 5; ++w) {
    sum += weight[w] * data.answers.value(static_cast<AnswerIndex>(w))[0];
    weights += weight[w];
  }
  EXPECT_NEAR(fit.estimate[0], sum / weights, 1e-4);
}

TEST(CrhNumbers, IsBetterThanTheMeanByEitherDistance) {
  std::vector<double> truth;
  const NumberData data = crowd(truth);
  const auto off = [&](const NumberFit& fit) {
    double sum = 0;
    for (std::size_t t = 0; t < truth.size(); ++t) sum += std::abs(fit.estimate[t] - truth[t]);
    return sum / static_cast<double>(truth.size());
  };
  const double mean = off(aggregate(data, "mean"));
  EXPECT_LT(off(CrhNumbers().fit(data, RunContext())), 0.9 * mean);
  EXPECT_LT(off(CrhNumbers({.distance = Distance::absolute}).fit(data, RunContext())), 0.9 * mean);
}

}  // namespace
}  // namespace wisecrowd
