#include "aggregate/numbers/median/median.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

using median::Median;

TEST(Median, ByHand) {
  NumberAnswersBuilder builder;
  builder.add("t1", "a", 1).add("t1", "b", 2).add("t1", "c", 600).add("t2", "a", 4).add("t2", "b", 8);
  const NumberFit fit = Median().fit({builder.build(), {}}, RunContext());
  EXPECT_DOUBLE_EQ(fit.estimate[0], 2);
  EXPECT_DOUBLE_EQ(fit.estimate[1], 6);
  // a: 1 against 301, 4 against 8.
  EXPECT_DOUBLE_EQ(fit.bias[0], (-300.0 - 4) / 4);
}

TEST(Median, OneWildAnswerMovesNothing) {
  NumberAnswersBuilder calm, wild;
  for (int w = 0; w < 5; ++w) {
    calm.add("t", std::to_string(w), w);
    wild.add("t", std::to_string(w), w == 4 ? 1e99 : w);
  }
  EXPECT_EQ(Median().fit({calm.build(), {}}, RunContext()).estimate,
            Median().fit({wild.build(), {}}, RunContext()).estimate);
}

TEST(Median, IntervalsHoldWhatWasDrawn) {
  Rng rng(8);
  NumberAnswersBuilder builder;
  std::vector<double> truth;
  for (int t = 0; t < 3000; ++t) {
    truth.push_back(rng.normal());
    for (int w = 0; w < 7; ++w) {
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), truth.back() + .5 * rng.normal());
    }
  }
  const NumberFit fit = Median().fit({builder.build(), {}}, RunContext());
  std::size_t held = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) held += fit.low[t] <= truth[t] && truth[t] <= fit.high[t];
  EXPECT_NEAR(static_cast<double>(held) / 3000, .95, .02);
}

TEST(Median, PredictiveDensityIsOne) {
  NumberAnswersBuilder builder;
  builder.add("t1", "a", 1).add("t1", "b", 3).add("t2", "a", 10).add("t2", "b", 14);
  const NumberData data{.answers = builder.build(), .gold = {}};
  double mass = 0;
  for (double y = -100; y < 100; y += .01) {
    const NumberAnswer answer{TaskId{0}, WorkerId{1}, std::span(&y, 1)};
    mass += .01 * std::exp(Median().log_predictive(data, std::span(&answer, 1), RunContext())[0]);
  }
  EXPECT_NEAR(mass, 1, 1e-4);
}

/// Workers who always agree make a density that is narrow, not that of all answers.
TEST(Median, AgreementIsConcentratedButFinite) {
  NumberAnswersBuilder builder;
  builder.add("t1", "a", 1).add("t1", "b", 1).add("t2", "a", 9).add("t2", "b", 9);
  const NumberData data{.answers = builder.build(), .gold = {}};
  const auto log_density = [&](double y) {
    const NumberAnswer answer{TaskId{0}, WorkerId{0}, std::span(&y, 1)};
    return Median().log_predictive(data, std::span(&answer, 1), RunContext()).at(0);
  };
  EXPECT_GT(log_density(1), 15);
  for (const double far : {1.001, 5.0, 1e100, -1e100}) {
    EXPECT_LT(log_density(far), -1000);
    EXPECT_TRUE(std::isfinite(log_density(far))) << far;
  }
}

}  // namespace
}  // namespace wisecrowd
