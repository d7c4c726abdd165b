#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/intervals.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/category_result.hpp"

namespace wisecrowd {
namespace {

/// w1 always right, w2 half, w3 silent; two classes.
CategoryData small() {
  CategoryAnswersBuilder builder({"no", "yes"});
  builder.add("t1", "w1", "no").add("t2", "w1", "yes").add("t1", "w2", "yes").add("t2", "w2", "yes");
  builder.add_worker("w3");
  return {builder.build(), {}, {}};
}

CategoryFit certain(const CategoryData& data) {
  CategoryFit fit;
  fit.task_count = data.answers.task_count();
  fit.worker_count = data.answers.worker_count();
  fit.class_count = 2;
  fit.posterior = {1, 0, 0, 1};
  fit.labels = {ClassId{0}, ClassId{1}};
  fit.class_prior = {0.5, 0.5};
  return fit;
}

TEST(WorkerSummary, AccuracyIsTheExpectedShareOfRightAnswers) {
  const CategoryData data = small();
  CategoryFit fit = certain(data);
  fit.posterior = {0.9, 0.1, 0.25, 0.75};
  const RunContext context({.threads = 1});
  const auto workers = summarise_workers(data, fit, {}, context);
  ASSERT_EQ(workers.size(), 3U);
  EXPECT_NEAR(workers[0].accuracy, (0.9 + 0.75) / 2, 1e-9);
  EXPECT_NEAR(workers[1].accuracy, (0.1 + 0.75) / 2, 1e-9);
  EXPECT_EQ(workers[0].answers, 2U);
  EXPECT_LT(workers[0].accuracy_low, workers[0].accuracy);
  EXPECT_GT(workers[0].accuracy_high, workers[0].accuracy);
  EXPECT_EQ(workers[2].answers, 0U);
  EXPECT_TRUE(std::isnan(workers[2].accuracy));
  EXPECT_TRUE(std::isnan(workers[0].informativeness)) << "no tables, no informativeness";
  EXPECT_TRUE(std::isnan(workers[0].gold_accuracy)) << "no gold";
}

TEST(WorkerSummary, InformativenessIsMutualInformationInBits) {
  const CategoryData data = small();
  const CategoryFit fit = certain(data);
  const RunContext context({.threads = 1});
  // Perfect; a binary symmetric channel with error .1, whose capacity is 1 − H(.1) bits; a spammer.
  const std::vector<double> tables = {1, 0, 0, 1, 0.9, 0.1, 0.1, 0.9, 0.3, 0.7, 0.3, 0.7};
  const auto workers = summarise_workers(data, fit, tables, context);
  EXPECT_NEAR(workers[0].informativeness, 1, 1e-12);
  EXPECT_NEAR(workers[1].informativeness, 0.368064207168 / std::log(2.0), 1e-11);
  EXPECT_NEAR(workers[2].informativeness, 0, 1e-12);
  EXPECT_GE(workers[2].informativeness, 0);
}

TEST(WorkerSummary, GoldIsCountedApart) {
  CategoryData data = small();
  data.gold = {ClassId{0}, kNoClass};
  const RunContext context({.threads = 1});
  const auto workers = summarise_workers(data, certain(data), {}, context);
  EXPECT_EQ(workers[0].gold_answers, 1U);
  EXPECT_DOUBLE_EQ(workers[0].gold_accuracy, 1);
  EXPECT_DOUBLE_EQ(workers[1].gold_accuracy, 0);
  EXPECT_NEAR(workers[0].gold_accuracy_low, 1 / (1 + 1.959963984540054 * 1.959963984540054), 1e-12);
}

TEST(WorkerSummary, ConfusionIsEstimatedWhenTheMethodHasNone) {
  const CategoryData data = small();
  const RunContext context({.threads = 1});
  const auto tables = worker_confusion(data, certain(data), context);
  ASSERT_EQ(tables.size(), 12U);
  // w1: truth "no" answered "no" once: (1 + 1/4) / 1.5.
  EXPECT_NEAR(tables[0], 1.25 / 1.5, 1e-9);
  EXPECT_NEAR(tables[1], 0.25 / 1.5, 1e-9);
  EXPECT_NEAR(tables[4 + 1], 1.25 / 1.5, 1e-9) << "w2 says yes for no";
  EXPECT_DOUBLE_EQ(tables[8], 0.5) << "nothing is known of w3";
}

TEST(WorkerSummary, SameBitsForAnyNumberOfThreads) {
  CategoryAnswersBuilder builder({"a", "b", "c"});
  Rng rng(3);
  for (int t = 0; t < 40'000; ++t) {
    for (int a = 0; a < 3; ++a) {
      builder.add(std::to_string(t), std::to_string(rng.below(50)),
                  std::string(1, static_cast<char>('a' + rng.below(3))));
    }
  }
  CategoryData data{builder.build(), {}, {}};
  CategoryFit fit;
  fit.task_count = data.answers.task_count();
  fit.worker_count = data.answers.worker_count();
  fit.class_count = 3;
  fit.class_prior = {0.2, 0.3, 0.5};
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const double p = rng.uniform();
    fit.posterior.insert(fit.posterior.end(), {p / 2, p / 2, 1 - p});
  }
  const auto run = [&](unsigned threads) {
    const RunContext context({.threads = threads});
    const auto tables = worker_confusion(data, fit, context);
    return std::pair(tables, summarise_workers(data, fit, tables, context));
  };
  const auto [one_tables, one] = run(1);
  for (const unsigned threads : {2U, 3U, 5U}) {
    const auto [tables, workers] = run(threads);
    EXPECT_EQ(tables, one_tables);
    for (std::size_t w = 0; w < one.size(); ++w) {
      EXPECT_EQ(workers[w].accuracy, one[w].accuracy);
      EXPECT_EQ(workers[w].accuracy_low, one[w].accuracy_low);
      EXPECT_EQ(workers[w].informativeness, one[w].informativeness);
    }
  }
}

/// Ten workers of whom the last repeats the first.
CategoryData crowd_with_a_copy() {
  Rng rng(2);
  CategoryAnswersBuilder builder({"0", "1", "2"});
  for (int t = 0; t < 120; ++t) {
    std::string first;
    for (int w = 0; w < 10; ++w) {
      const std::string label = std::to_string(rng.bernoulli(0.7) ? t % 3 : static_cast<int>(rng.below(3)));
      if (w == 0) first = label;
      builder.add(std::to_string(t), std::to_string(w), w == 9 ? first : label);
    }
  }
  return {builder.build(), {}, {}};
}

TEST(MakeResult, TellsOfCopiesWhateverTheMethod) {
  const auto copied = [](const Warning& warning) {
    return warning.code == "copied_workers" || warning.code == "dependent_workers";
  };
  for (const std::string method : {"automatic", "majority_vote", "dawid_skene"}) {
    const CategoryData data = crowd_with_a_copy();
    const CategoryResult result = make_result(data, aggregate(data, method), {}, RunContext());
    ASSERT_EQ(result.dependence.groups.size(), 1U) << method;
    EXPECT_EQ(result.dependence.groups[0].workers, (std::vector<WorkerId>{WorkerId{0}, WorkerId{9}}));
    const auto& warnings = result.aggregation.warnings;
    EXPECT_EQ(std::count_if(warnings.begin(), warnings.end(), copied), 1) << method;
    EXPECT_EQ(rounded_for_files(result, RunContext()).dependence.groups.size(), 1U);
  }
  const auto crowd = testing::small_crowd(3, 200, 12, 2, 5);
  const CategoryResult result =
      make_result({crowd.data.answers, {}, {}}, aggregate({crowd.data.answers, {}, {}}), {}, RunContext());
  EXPECT_TRUE(result.dependence.groups.empty());
  EXPECT_EQ(std::count_if(result.aggregation.warnings.begin(), result.aggregation.warnings.end(), copied), 0);
}

TEST(Intervals, KnownValues) {
  // Beta(½, ½) is the arcsine law: its quantiles are sin²(πp/2).
  const Interval nothing = beta_interval(0, 0);
  EXPECT_NEAR(nothing.low, std::pow(std::sin(M_PI * 0.025 / 2), 2), 1e-9);
  EXPECT_NEAR(nothing.high, std::pow(std::sin(M_PI * 0.975 / 2), 2), 1e-9);
  // Symmetric, and inside the unit interval even at the edges.
  const Interval low = beta_interval(3, 10);
  const Interval high = beta_interval(7, 10);
  EXPECT_NEAR(low.low, 1 - high.high, 1e-9);
  EXPECT_NEAR(low.high, 1 - high.low, 1e-9);
  EXPECT_GT(beta_interval(0, 1e6).low, 0);
  EXPECT_LT(beta_interval(1e6, 1e6).high, 1);
  // Truth that is in doubt is information that is missing: with m = 8.5/11, 1.2 of ten answers' variance
  // 10 m (1 − m) = 1.756 leaves 10 (1 − 0.683) answers.
  const Interval sure = rate_interval(8, 0, 10), doubtful = rate_interval(8, 1.2, 10);
  EXPECT_DOUBLE_EQ(sure.low, beta_interval(8, 10).low);
  EXPECT_DOUBLE_EQ(sure.high, beta_interval(8, 10).high);
  const double left = 10 * (1 - 1.2 / (10 * (8.5 / 11) * (2.5 / 11)));
  EXPECT_NEAR(doubtful.low, beta_interval(0.8 * left, left).low, 1e-12);
  EXPECT_LT(doubtful.low, sure.low);
  EXPECT_GT(doubtful.high, sure.high);
  // Nothing speaks against a rate of 1, or of 0.
  EXPECT_EQ(rate_interval(9.8, 0.1, 10).high, 1);
  EXPECT_EQ(rate_interval(0.3, 0.1, 10).low, 0);
  EXPECT_LT(rate_interval(9.2, 0.1, 10).high, 1);
  EXPECT_GT(rate_interval(5, 100, 10).low, 0) << "never less than one answer";
  // Wilson's interval of 8 out of 10, computed by hand.
  const Interval wilson = wilson_interval(8, 10);
  EXPECT_NEAR(wilson.low, 0.4901625, 1e-6);
  EXPECT_NEAR(wilson.high, 0.9433178, 1e-6);
}

}  // namespace
}  // namespace wisecrowd
