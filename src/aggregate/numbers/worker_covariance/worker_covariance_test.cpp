#include "aggregate/numbers/worker_covariance/worker_covariance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wisecrowd/error.hpp"
#include "wisecrowd/simulate_numbers.hpp"

namespace wisecrowd {
namespace {

using worker_covariance::PairMoments;
using worker_covariance::split;
using worker_covariance::WorkerCovariance;

PairMoments exact(const std::vector<double>& gain, double own, double tasks) {
  PairMoments moments;
  moments.workers = gain.size();
  for (std::size_t a = 0; a < gain.size(); ++a) {
    for (std::size_t b = 0; b < gain.size(); ++b) {
      moments.covariance.push_back(gain[a] * gain[b] + (a == b ? own : 0));
      moments.tasks.push_back(tasks);
    }
  }
  return moments;
}

TEST(WorkerCovariance, ExactCovariancesGiveTheGains) {
  const std::vector<double> gain{1, 2, .5, 1.5, .8};
  const auto found = split(exact(gain, 0.7, 1e6), {.prior_tasks = 0, .max_iterations = 5000});
  EXPECT_TRUE(found.converged);
  for (std::size_t w = 0; w < gain.size(); ++w) {
    EXPECT_NEAR(found.gain[w], gain[w], 1e-6);
    EXPECT_NEAR(found.variance[w], 0.7, 1e-5);
  }
  EXPECT_TRUE(found.pairs.empty());
}

TEST(WorkerCovariance, ExactCovariancesOfAPairAreFound) {
  PairMoments moments = exact({1, 1.2, .9, 1.1, .8, 1, 1, 1}, 1, 1e6);
  moments.covariance_of(2, 5) += 0.8;
  moments.covariance_of(5, 2) += 0.8;
  const auto found = split(moments, {.prior_tasks = 0, .max_iterations = 5000});
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0].first, 2U);
  EXPECT_EQ(found.pairs[0].second, 5U);
  EXPECT_NEAR(found.pairs[0].covariance, 0.8, 0.01);
}

NumberSimulation crowd(double correlated, std::size_t dimensions) {
  Parameters parameters(number_simulation_parameters());
  parameters.set("correlated", std::to_string(correlated));
  return simulate_numbers({.tasks = 1000, .workers = 10, .answers_per_task = 8, .dimensions = dimensions}, parameters,
                          RunContext({.seed = 4}));
}

TEST(WorkerCovariance, PlantedPairsAreFoundAndNoOthers) {
  const NumberSimulation planted = crowd(0.4, 2);  // workers 0 and 1, 2 and 3
  const NumberFit fit = WorkerCovariance().fit({planted.data.answers, {}}, RunContext());
  const auto& pairs = fit.correlated;
  ASSERT_EQ(pairs.size(), 4U);
  for (const CorrelatedWorkers& pair : pairs) {
    EXPECT_EQ(index(pair.first) / 2, index(pair.second) / 2);
    EXPECT_LT(index(pair.second), 4U);
    EXPECT_GT(pair.correlation, 0.7);
    EXPECT_GT(pair.tasks, 500U);
  }
  ASSERT_EQ(fit.warnings.size(), 1U);
  EXPECT_EQ(fit.warnings[0].code, "correlated_workers");
  EXPECT_NE(fit.warnings[0].message.find("worker_000000 and worker_000001"), std::string::npos)
      << fit.warnings[0].message;
  const NumberData alone{crowd(0, 1).data.answers, {}};
  const NumberFit apart = WorkerCovariance().fit(alone, RunContext());
  EXPECT_TRUE(apart.correlated.empty());
  EXPECT_TRUE(apart.warnings.empty());
}

/// Two pairs of workers who err as one count as little more than two.
TEST(WorkerCovariance, WorkersWhoErrTogetherCountLess) {
  const NumberSimulation planted = crowd(0.4, 1);
  const auto off = [&](const NumberFit& fit) {
    double sum = 0;
    for (std::size_t t = 0; t < 1000; ++t) {
      sum += (fit.estimate[t] - planted.data.gold[t]) * (fit.estimate[t] - planted.data.gold[t]);
    }
    return std::sqrt(sum / 1000);
  };
  const NumberData data{planted.data.answers, {}};
  EXPECT_LT(off(WorkerCovariance().fit(data, RunContext())), off(aggregate(data, "mean")));
}

TEST(WorkerCovariance, TooManyWorkersAreRefused) {
  NumberAnswersBuilder builder;
  for (std::size_t w = 0; w <= worker_covariance::kMostWorkers; ++w) builder.add("t", "w" + std::to_string(w), 1);
  EXPECT_THROW((void)WorkerCovariance().fit({builder.build(), {}}, RunContext()), Error);
}

}  // namespace
}  // namespace wisecrowd
