#include "wisecrowd/tempering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

constexpr const char* kMethod = "hierarchical_dawid_skene";

TemperingFit tempering_of(const CategoryData& data, const CategoryFit& fit, const RunContext& context) {
  return fit_tempering(data, fit, kMethod, Parameters(aggregation_method(kMethod).parameters), 100'000, context);
}

TEST(Tempering, IsDoneByTheFormulaAndCanBeUndone) {
  const auto crowd = testing::small_crowd(5, 200, 12, 3, 4);
  CategoryData data = crowd.data;
  data.gold.assign(data.answers.task_count(), kNoClass);
  data.gold[7] = crowd.truth[7];
  const RunContext context;
  const CategoryFit model = aggregate(data, kMethod, Parameters(aggregation_method(kMethod).parameters), context);
  TemperingFit tempering;
  tempering.chosen = {.power = 0.8, .vote_share = 0.3};
  tempering.plausible = {{.power = 0.5, .vote_share = 0.3}, {.power = 1, .vote_share = 0.1}};
  CategoryFit fit = model;
  const Estimate expected = temper(data, tempering, fit, context);

  double right = 0;
  std::vector<double> undone(3);
  const ModelPosterior before(data, fit);
  data.gold.clear();  // gold for a score may come or go after a fit
  for (std::uint32_t t = 0; t < fit.task_count; ++t) {
    const auto p = fit.posterior_of(TaskId{t});
    const auto q = model.posterior_of(TaskId{t});
    right += p[index(fit.labels[t])];
    EXPECT_EQ(*std::max_element(p.begin(), p.end()), p[index(fit.labels[t])]);
    const auto labels = crowd.data.answers.labels_of(TaskId{t});
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += std::pow(q[k], 0.8);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto votes =
          static_cast<double>(std::count(labels.begin(), labels.end(), ClassId{static_cast<std::uint16_t>(k)}));
      const double v = (votes + 1.0 / 3) / (static_cast<double>(labels.size()) + 1);
      const double by_hand = labels.empty() || t == 7 ? q[k] : 0.7 * std::pow(q[k], 0.8) / sum + 0.3 * v;
      EXPECT_NEAR(p[k], by_hand, 1e-12);
    }
    before.row(t, undone);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(undone[k], q[k], 1e-9) << t;
  }
  EXPECT_NEAR(expected.value, right / 200, 1e-12);
  EXPECT_LT(expected.low, expected.value);
  EXPECT_GT(expected.high, expected.value);
  // The plausible temperings are in the interval, with the chance of 200 tasks on top.
  TemperingFit alone = tempering;
  alone.plausible.clear();
  CategoryFit other = model;
  const Estimate narrow = temper(crowd.data, alone, other, context);
  EXPECT_LT(narrow.high - narrow.low, expected.high - expected.low);
}

TEST(Tempering, LeavesAnUntemperedFitAlone) {
  const auto crowd = testing::small_crowd(6, 50, 8, 2, 3);
  const CategoryFit fit = aggregate(crowd.data, kMethod);
  const ModelPosterior posterior(crowd.data, fit);
  std::vector<double> row(2);
  for (std::uint32_t t = 0; t < 50; ++t) {
    posterior.row(t, row);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), fit.posterior_of(TaskId{t}).begin()));
  }
}

// Independent workers: the model passes, and what is left is the modesty that mean field needs.
TEST(Tempering, AModelThatIsRightIsBelieved) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto crowd = testing::small_crowd(seed, 600, 30, 2 + seed, 5);
    const RunContext context;
    const TemperingFit found = tempering_of(crowd.data, aggregate(crowd.data, kMethod), context);
    EXPECT_LT(found.misfit, 0.2) << seed;
    EXPECT_LT(found.chosen.vote_share, 0.1) << seed;
    EXPECT_GT(found.chosen.power, 0.5) << seed;
    EXPECT_LT(found.chosen.power, 1.3) << seed;
    EXPECT_FALSE(found.plausible.empty());
  }
}

// Tasks on which everybody guesses: the model does not know of them.
TEST(Tempering, AModelThatIsWrongIsNot) {
  Rng rng(7);
  CategoryAnswersBuilder builder({"0", "1", "2"});
  for (int t = 0; t < 500; ++t) {
    const bool hard = rng.bernoulli(0.4);
    for (int w = 0; w < 8; ++w) {
      const int label = !hard && rng.bernoulli(0.9) ? t % 3 : static_cast<int>(rng.below(3));
      builder.add(std::to_string(t), std::to_string(w), std::to_string(label));
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  const TemperingFit found = tempering_of(data, aggregate(data, kMethod), RunContext());
  EXPECT_EQ(found.misfit, 1);
  EXPECT_GT(found.chosen.vote_share, 0.2);
  EXPECT_GT(found.gain, std::log(500.0));
}

// Rules that always say the same: a hidden answer is predicted alike whatever the truth, so nothing speaks for the
// model against the votes, and the votes decide.
TEST(Tempering, WhereHiddenAnswersTellNothingTheVotesDecide) {
  Rng rng(3);
  CategoryAnswersBuilder builder({"ham", "spam"});
  for (int t = 0; t < 300; ++t) {
    for (int w = 0; w < 6; ++w) {
      if (rng.bernoulli(0.4)) builder.add(std::to_string(t), std::to_string(w), w % 2 == 0 ? "ham" : "spam");
    }
    builder.add(std::to_string(t), "7", "spam");
  }
  const CategoryData data{builder.build(), {}, {}};
  const TemperingFit found = tempering_of(data, aggregate(data, kMethod), RunContext());
  EXPECT_GT(found.chosen.vote_share, 0.8);
}

TEST(Tempering, OneAnswerPerTaskTellsNothingAndChangesNothing) {
  CategoryAnswersBuilder builder({"0", "1"});
  for (int t = 0; t < 60; ++t) builder.add(std::to_string(t), std::to_string(t % 5), t % 3 == 0 ? "1" : "0");
  const CategoryData data{builder.build(), {}, {}};
  CategoryFit fit = aggregate(data, kMethod);
  const auto before = fit.posterior;
  const RunContext context;
  temper(data, tempering_of(data, fit, context), fit, context);
  EXPECT_EQ(fit.posterior, before);
}

}  // namespace
}  // namespace wisecrowd
