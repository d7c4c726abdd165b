#include "aggregate/numbers/mean/mean.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

using mean::Mean;

TEST(Mean, ByHand) {
  NumberAnswersBuilder builder;
  builder.add("t1", "a", 1).add("t1", "b", 2).add("t1", "c", 6).add("t2", "a", 4).add("t2", "b", 8).add_task("t3");
  const NumberData data{.answers = builder.build(), .gold = {}};
  const NumberFit fit = Mean().fit(data, RunContext());
  EXPECT_DOUBLE_EQ(fit.estimate[0], 3);
  EXPECT_DOUBLE_EQ(fit.estimate[1], 6);
  EXPECT_TRUE(std::isnan(fit.estimate[2]));
  const double pooled = std::sqrt((4 + 1 + 9 + 4 + 4) / 3.0);
  EXPECT_DOUBLE_EQ(fit.deviation[0], pooled / std::sqrt(3));
  EXPECT_DOUBLE_EQ(fit.deviation[1], pooled / std::sqrt(2));
  EXPECT_NEAR((fit.high[1] - fit.low[1]) / 2 / fit.deviation[1], 3.182446, 1e-6);  // Student's t, 3 degrees of freedom
  // a: 1 against 4, 4 against 8, with two answers that are right.
  EXPECT_DOUBLE_EQ(fit.bias[0], (-3.0 - 4.0) / 4);
}

TEST(Mean, EachDimensionForItself) {
  NumberAnswersBuilder builder({"x", "y"});
  const double one[] = {1, 10}, two[] = {3, 30};
  builder.add("t", "a", one).add("t", "b", two);
  const NumberFit fit = Mean().fit({builder.build(), {}}, RunContext());
  EXPECT_EQ(fit.estimate, (std::vector<double>{2, 20}));
  EXPECT_DOUBLE_EQ(fit.deviation[1], 10 * fit.deviation[0]);
}

/// Intervals hold the truth in 95 of 100 cases, and scales of workers are found as their answers grow.
TEST(Mean, RecoversWhatWasDrawn) {
  Rng rng(7);
  NumberAnswersBuilder builder;
  std::vector<double> truth;
  for (int t = 0; t < 3000; ++t) {
    truth.push_back(100 * rng.normal());
    for (int w = 0; w < 5; ++w) {
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), truth.back() + 2 * rng.normal() + (w == 4 ? 1 : 0));
    }
  }
  const NumberFit fit = Mean().fit({builder.build(), {}}, RunContext());
  std::size_t held = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) held += fit.low[t] <= truth[t] + .2 && truth[t] + .2 <= fit.high[t];
  EXPECT_NEAR(static_cast<double>(held) / 3000, .95, .015);
  EXPECT_NEAR(fit.bias[4] - fit.bias[0], 1.25, .2);  // the others' mean moves with it
  EXPECT_NEAR(fit.scale[0], 2, .1);
}

TEST(Mean, PredictiveDensityIsOne) {
  NumberAnswersBuilder builder;
  builder.add("t1", "a", 1).add("t1", "b", 3).add("t2", "a", 10).add("t2", "b", 14);
  const NumberData data{.answers = builder.build(), .gold = {}};
  double mass = 0;
  for (double y = -60; y < 60; y += .05) {
    const NumberAnswer answer{TaskId{0}, WorkerId{1}, std::span(&y, 1)};
    mass += .05 * std::exp(Mean().log_predictive(data, std::span(&answer, 1), RunContext())[0]);
  }
  EXPECT_NEAR(mass, 1, 1e-6);
  const double y = 2;
  const NumberAnswer answer{TaskId{0}, WorkerId{0}, std::span(&y, 1)};
  const double pooled = std::sqrt(5.0), scale = pooled * std::sqrt(1.5);
  EXPECT_NEAR(Mean().log_predictive(data, std::span(&answer, 1), RunContext())[0],
              -std::log(scale * std::sqrt(2 * std::numbers::pi)), 1e-12);
}

/// Workers who always agree make a density that is narrow, not that of all answers.
TEST(Mean, AgreementIsConcentratedButFinite) {
  NumberAnswersBuilder builder;
  builder.add("t1", "a", 1).add("t1", "b", 1).add("t2", "a", 9).add("t2", "b", 9);
  const NumberData data{.answers = builder.build(), .gold = {}};
  const auto log_density = [&](double y) {
    const NumberAnswer answer{TaskId{0}, WorkerId{0}, std::span(&y, 1)};
    return Mean().log_predictive(data, std::span(&answer, 1), RunContext()).at(0);
  };
  EXPECT_GT(log_density(1), 15);
  for (const double far : {1.001, 5.0, 1e100, -1e100}) {
    EXPECT_LT(log_density(far), -1000);
    EXPECT_TRUE(std::isfinite(log_density(far))) << far;
  }
}

}  // namespace
}  // namespace wisecrowd
