#include "aggregate/numbers/gaussian_em/gaussian_em.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "wisecrowd/simulate_numbers.hpp"

namespace wisecrowd {
namespace {

using gaussian_em::GaussianEm;

NumberSimulation crowd_of(std::size_t tasks, std::size_t dimensions = 1, std::uint64_t seed = 5) {
  Parameters parameters(number_simulation_parameters());
  parameters.set("noise_spread", "0.8");
  return simulate_numbers({.tasks = tasks, .workers = 20, .answers_per_task = 5, .dimensions = dimensions}, parameters,
                          RunContext({.seed = seed}));
}

double error_of(const NumberFit& fit, std::span<const double> gold) {
  double sum = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) sum += (fit.estimate[i] - gold[i]) * (fit.estimate[i] - gold[i]);
  return std::sqrt(sum / static_cast<double>(gold.size()));
}

TEST(GaussianEm, LogPosteriorNeverFalls) {
  for (const bool bias : {true, false}) {
    const NumberFit fit = GaussianEm({.bias = bias}).fit({crowd_of(300).data.answers, {}}, RunContext());
    ASSERT_GT(fit.trace.size(), 5U);
    for (std::size_t i = 1; i < fit.trace.size(); ++i) {
      EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-8 * std::abs(fit.trace[i])) << bias << " " << i;
    }
    EXPECT_EQ(fit.status, Status::converged);
  }
}

/// With a prior that overrules the data all variances are equal: the mean, drawn to the mean of all.
TEST(GaussianEm, EqualVariancesGiveTheMean) {
  const NumberData data{crowd_of(200).data.answers, {}};
  const NumberFit fit = GaussianEm({.bias = false, .prior_answers = 1e6}).fit(data, RunContext());
  const NumberFit mean = aggregate(data, "mean");
  double slope = 0, all = 0, around = 0;
  for (const double m : mean.estimate) all += m / 200;
  for (std::size_t t = 0; t < 200; ++t) {
    slope += (fit.estimate[t] - all) * (mean.estimate[t] - all);
    around += (mean.estimate[t] - all) * (mean.estimate[t] - all);
  }
  slope /= around;
  EXPECT_GT(slope, 0.9);
  EXPECT_LT(slope, 1);
  for (std::size_t t = 0; t < 200; ++t) EXPECT_NEAR(fit.estimate[t], all + slope * (mean.estimate[t] - all), 1e-2);
}

/// Given the variances, the estimate is the best linear unbiased one, drawn to the mean by the prior of the truth.
TEST(GaussianEm, KnownVariancesGiveTheBestLinearEstimate) {
  const NumberSimulation crowd = crowd_of(500);
  const NumberData data{crowd.data.answers, {}};
  RunContext context;
  const numbers::MeanStart start = numbers::mean_start(data, context);
  const numbers::StandardColumn column = numbers::standard_column(data, start.spread, 0);
  const numbers::PrecisionModel model = numbers::fit_precision(data.answers, column, {.tolerance = 1e-12}, context);
  const auto offsets = data.answers.task_offsets();
  for (std::size_t t = 0; t < 500; ++t) {
    double precision = 1 / model.variance, sum = model.mean / model.variance;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      const std::size_t w = index(data.answers.workers()[a]);
      precision += 1 / model.worker_variance[w];
      sum += (column.value[a] - model.bias[w]) / model.worker_variance[w];
    }
    EXPECT_NEAR(model.estimate[t], sum / precision, 1e-9);
    EXPECT_NEAR(model.estimate_variance[t], 1 / precision, 1e-12);
  }
}

TEST(GaussianEm, BiasesCancelOverTheAnswersUnlessGoldIsKnown) {
  NumberSimulation crowd = crowd_of(300);
  const NumberFit fit = GaussianEm().fit({crowd.data.answers, {}}, RunContext());
  double sum = 0;
  for (const WorkerId w : crowd.data.answers.workers()) sum += fit.bias[index(w)];
  EXPECT_NEAR(sum, 0, 1e-6);
  // All workers answer 100 too high; gold of half of the tasks says so.
  std::vector<double> values(crowd.data.answers.values().begin(), crowd.data.answers.values().end());
  NumberData shifted{crowd.data.answers, crowd.data.gold};
  for (std::size_t t = 0; t < 300; ++t) shifted.gold[t] = t % 2 == 0 ? crowd.data.gold[t] - 100 : std::nan("");
  const NumberFit anchored = GaussianEm().fit(shifted, RunContext());
  for (std::size_t w = 0; w < 20; ++w) EXPECT_NEAR(anchored.bias[w], 100 + crowd.bias[w], 6) << w;
  EXPECT_NEAR(anchored.estimate[1], crowd.data.gold[1] - 100, 15);
}

TEST(GaussianEm, FindsBiasesAndScalesAsAnswersGrow) {
  double before = 1e9;
  for (const std::size_t tasks : {100UL, 1000UL, 10'000UL}) {
    const NumberSimulation crowd = crowd_of(tasks);
    const NumberFit fit = GaussianEm().fit({crowd.data.answers, {}}, RunContext());
    double mean_bias = 0, off = 0;
    const auto by_answer = crowd.data.answers.workers();  // biases cancel over answers
    for (const WorkerId w : by_answer) mean_bias += crowd.bias[index(w)] / static_cast<double>(by_answer.size());
    for (std::size_t w = 0; w < 20; ++w) {
      off += std::abs(fit.bias[w] - (crowd.bias[w] - mean_bias)) / 20 + std::abs(fit.scale[w] - crowd.scale[w]) / 20;
    }
    EXPECT_LT(off, before * 0.7);
    before = off;
  }
  EXPECT_LT(before, 0.25);  // the sum of both
}

TEST(GaussianEm, IsBetterThanTheMeanWhereWorkersDiffer) {
  const NumberSimulation crowd = crowd_of(2000, 2);
  const NumberData data{crowd.data.answers, {}};
  EXPECT_LT(error_of(GaussianEm().fit(data, RunContext()), crowd.data.gold),
            0.8 * error_of(aggregate(data, "mean"), crowd.data.gold));
}

/// Without a prior one worker's variance runs to 0, and it alone is believed.
TEST(GaussianEm, NobodyIsBelievedAlone) {
  NumberAnswersBuilder builder;
  Rng rng(3);
  for (int t = 0; t < 200; ++t) {
    const double truth = rng.normal();
    for (int w = 0; w < 3; ++w) builder.add("t" + std::to_string(t), "w" + std::to_string(w), truth + rng.normal());
  }
  const NumberFit fit = GaussianEm().fit({builder.build(), {}}, RunContext());
  for (std::size_t w = 0; w < 3; ++w) EXPECT_NEAR(fit.scale[w], 1, 0.35);
}

}  // namespace
}  // namespace wisecrowd
