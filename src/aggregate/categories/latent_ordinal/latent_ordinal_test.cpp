#include "aggregate/categories/latent_ordinal/latent_ordinal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/categories/latent_ordinal/threshold_model.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/evaluate_ordered.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/task_graph.hpp"

namespace wisecrowd::latent_ordinal {
namespace {

double below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

struct Problem {
  std::vector<double> cuts{-0.8, 0.1, 1.2};
  std::vector<double> counts = std::vector<double>(4 * kStride);
  explicit Problem(std::uint64_t seed) {
    Rng rng(seed);
    for (double& n : counts) n = rng.uniform();
  }
};

TEST(LatentOrdinal, WorkerGradientByDifferences) {
  const Problem problem(1);
  const WorkerPrior prior{0.7, 0.4, 0.2};
  const Worker worker{0.3, -0.1};
  WorkerSlope slope;
  static_cast<void>(worker_objective(worker, problem.cuts, problem.counts.data(), prior, &slope));
  constexpr double h = 1e-5;
  const auto value = [&](double bias, double noise) {
    return worker_objective({worker.bias + bias, worker.log_noise + noise}, problem.cuts, problem.counts.data(), prior);
  };
  EXPECT_NEAR(slope.bias, (value(h, 0) - value(-h, 0)) / (2 * h), 1e-5 * std::abs(slope.bias) + 1e-6);
  EXPECT_NEAR(slope.log_noise, (value(0, h) - value(0, -h)) / (2 * h), 1e-5 * std::abs(slope.log_noise) + 1e-6);
}

TEST(LatentOrdinal, CutGradientByDifferences) {
  const Problem problem(2);
  const Worker worker{-0.4, 0.3};
  CutSlope slope(3);
  static_cast<void>(add_cut_terms(worker, problem.cuts, problem.counts.data(), &slope));
  static_cast<void>(add_cut_prior(problem.cuts, 2.5, &slope));
  constexpr double h = 1e-5;
  for (std::size_t c = 0; c < 3; ++c) {
    const auto value = [&](double by) {
      std::vector<double> cuts = problem.cuts;
      cuts[c] += by;
      return add_cut_terms(worker, cuts, problem.counts.data(), nullptr) + add_cut_prior(cuts, 2.5, nullptr);
    };
    EXPECT_NEAR(slope.gradient[c], (value(h) - value(-h)) / (2 * h), 1e-5 * std::abs(slope.gradient[c]) + 1e-6);
  }
}

TEST(LatentOrdinal, TablesAreProbabilitiesOfTheCuts) {
  const Problem problem(3);
  std::vector<double> logs(4 * kStride);
  const Worker worker{0.2, 0.4};
  log_table(worker, problem.cuts, logs.data());
  for (std::size_t m = 0; m < kNodes; ++m) {
    double sum = 0;
    for (std::size_t l = 0; l < 4; ++l) sum += std::exp(logs[l * kStride + m]);
    EXPECT_NEAR(sum, 1, 1e-10);
    const double first = below((problem.cuts[0] - node(m) - worker.bias) / std::exp(worker.log_noise));
    EXPECT_NEAR(std::exp(logs[m]), first, 1e-11);
  }
}

TEST(LatentOrdinal, SharesOfClassesFollowTheNormal) {
  const std::vector<double> cuts{-0.73, 0.41, 1.5};
  const auto shares = class_shares(cuts);
  double until = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    double share = 0;
    for (std::size_t m = 0; m < kNodes; ++m) share += node_prior()[m] * shares[m * 4 + k];
    EXPECT_NEAR(share, below(cuts[k]) - until, 2e-3);
    until = below(cuts[k]);
  }
}

/// ln ∫ φ(g) Π_j P_j(y_j | g) dg by a grid ten times as fine.
TEST(LatentOrdinal, EvidenceByBruteForce) {
  const SimulationInfo& kind = simulation_kind("ordered_scale");
  const Simulation crowd = simulate(kind.name, {.tasks = 60, .workers = 6, .classes = 4, .answers_per_task = 4},
                                    Parameters(kind.parameters), RunContext());
  const CategoryData data{.answers = crowd.data.answers};
  const CategoryFit fit = LatentOrdinal({.max_iterations = 1}).fit(data, RunContext());
  std::vector<double> cuts;
  for (const auto& [name, value] : fit.learned) {
    if (name.starts_with("cut_")) cuts.push_back(value);
  }
  ASSERT_EQ(cuts.size(), 3U);  // the first iteration is an E-step with equal workers: bias 0, noise 1
  double sum = 0;
  for (std::size_t t = 0; t < 60; ++t) {
    double evidence = 0;
    for (int i = -4000; i <= 4000; ++i) {
      const double g = i * 0.0015;
      double p = std::exp(-0.5 * g * g) / std::sqrt(2 * std::acos(-1.0)) * 0.0015;
      for (const ClassId y : data.answers.labels_of(TaskId(t))) {
        const double high = index(y) == 3 ? 1 : below(cuts[index(y)] - g);
        p *= high - (index(y) == 0 ? 0 : below(cuts[index(y) - 1] - g));
      }
      evidence += p;
    }
    sum += std::log(evidence);
  }
  EXPECT_NEAR(fit.log_likelihood, sum, 0.02);
}

TEST(LatentOrdinal, ClimbsAndRecoversNoise) {
  const SimulationInfo& kind = simulation_kind("ordered_scale");
  const Simulation crowd = simulate(kind.name, {.tasks = 1000, .workers = 20, .classes = 8, .answers_per_task = 8},
                                    Parameters(kind.parameters), RunContext({.seed = 4}));
  const CategoryData data{.answers = crowd.data.answers};
  const CategoryFit fit = LatentOrdinal().fit(data, RunContext());
  EXPECT_EQ(fit.status, Status::converged);
  for (std::size_t i = 1; i < fit.trace.size(); ++i) EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-8 * -fit.trace[i]);
  // Sharper workers are right more often: skill and true accuracy go together.
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (std::size_t w = 0; w < 20; ++w) {
    double accuracy = 0;
    for (std::size_t k = 0; k < 8; ++k) accuracy += crowd.confusion[(w * 8 + k) * 8 + k] / 8;
    const double x = std::log(fit.skill[w]);
    sx += x, sy += accuracy, sxx += x * x, syy += accuracy * accuracy, sxy += x * accuracy;
  }
  EXPECT_GT((sxy - sx * sy / 20) / std::sqrt((sxx - sx * sx / 20) * (syy - sy * sy / 20)), 0.6);
}

TEST(LatentOrdinal, TwoWorkersWhoAgreeMoveTheTruthTogether) {
  CategoryAnswersBuilder builder({"1", "2", "3"});
  builder.add("low", "a", "1").add("low", "b", "1").add("mid", "a", "2").add("mid", "b", "2");
  builder.add("high", "a", "3").add("high", "b", "3").add("split", "a", "1").add("split", "b", "3");
  CategoryData data{.answers = builder.build()};
  order_classes(data, true);
  const CategoryFit fit = LatentOrdinal().fit(data, RunContext());
  const auto& names = data.answers.task_names();
  for (std::size_t t = 0; t < 4; ++t) {
    const std::size_t expected = names[t] == "low" ? 0 : names[t] == "high" ? 2 : 1;  // split: half-way
    EXPECT_EQ(index(fit.labels[t]), expected) << names[t];
  }
}

}  // namespace
}  // namespace wisecrowd::latent_ordinal
