#include "aggregate/numbers/worker_types/worker_types.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/numbers/worker_types/type_messages.hpp"
#include "base/rng.hpp"
#include "wisecrowd/simulate_numbers.hpp"

namespace wisecrowd {
namespace {

using worker_types::Options;
using worker_types::WorkerTypes;

/// Log density of a task's answers when its workers' variances are known, by the determinant of
/// diag(v) + τ² 1 1ᵀ and its inverse (Sherman and Morrison).
double task_log_density(const std::vector<double>& y, const std::vector<double>& v, numbers::Truth truth) {
  double precision = 0, sum = 0, square = 0, log_det = 0;
  for (std::size_t j = 0; j < y.size(); ++j) {
    const double off = y[j] - truth.mean;
    precision += 1 / v[j];
    sum += off / v[j];
    square += off * off / v[j];
    log_det += std::log(v[j]);
  }
  log_det += std::log1p(truth.variance * precision);
  square -= truth.variance * sum * sum / (1 + truth.variance * precision);
  return -(log_det + square) / 2;
}

struct Tiny {
  NumberData data;
  std::size_t tasks, workers;
};

/// Posterior of every worker's type by all combinations of all workers' types.
std::vector<double> by_brute_force(const Tiny& tiny, const worker_types::TypeModel& model) {
  const std::size_t types = model.variances.size();
  const auto offsets = tiny.data.answers.task_offsets();
  std::vector<double> posterior(tiny.workers * types, 0);
  std::size_t count = 1;
  for (std::size_t w = 0; w < tiny.workers; ++w) count *= types;
  for (std::size_t c = 0; c < count; ++c) {
    std::vector<std::size_t> type;
    for (std::size_t w = 0, rest = c; w < tiny.workers; ++w, rest /= types) type.push_back(rest % types);
    double log_weight = 0;
    for (const std::size_t t : type) log_weight += std::log(model.shares[t]);
    for (std::size_t i = 0; i < model.columns.size(); ++i) {
      for (std::size_t t = 0; t < tiny.tasks; ++t) {
        std::vector<double> y, v;
        for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
          y.push_back(model.columns[i].value[a]);
          v.push_back(model.variances[type[index(tiny.data.answers.workers()[a])]]);
        }
        log_weight += task_log_density(y, v, model.truth[i]);
      }
    }
    for (std::size_t w = 0; w < tiny.workers; ++w) posterior[w * types + type[w]] += std::exp(log_weight);
  }
  for (std::size_t w = 0; w < tiny.workers; ++w) {
    double sum = 0;
    for (std::size_t t = 0; t < types; ++t) sum += posterior[w * types + t];
    for (std::size_t t = 0; t < types; ++t) posterior[w * types + t] /= sum;
  }
  return posterior;
}

/// A random tree of tasks and workers: every new task is answered by one known worker and by new ones.
Tiny random_tree(std::uint64_t seed, std::size_t dimensions) {
  Rng rng(seed);
  std::vector<std::string> names;
  for (std::size_t d = 0; d < dimensions; ++d) names.push_back("d" + std::to_string(d));
  NumberAnswersBuilder builder(names);
  Tiny tiny{{}, 4, 1};
  for (std::size_t t = 0; t < tiny.tasks; ++t) {
    std::vector<std::size_t> workers{rng.below(tiny.workers)};
    for (std::size_t fresh = 1 + rng.below(2); fresh > 0; --fresh) workers.push_back(tiny.workers++);
    for (const std::size_t w : workers) {
      std::vector<double> y;
      for (std::size_t d = 0; d < dimensions; ++d) y.push_back(3 * static_cast<double>(t) + 2 * rng.normal());
      builder.add("t" + std::to_string(t), "w" + std::to_string(100 + w), y);
    }
  }
  tiny.data.answers = builder.build();
  return tiny;
}

TEST(WorkerTypes, BeliefsAreExactOnTrees) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Tiny tiny = random_tree(seed, 1 + seed % 2);
    const numbers::MeanStart start = numbers::mean_start(tiny.data, RunContext());
    Options options;
    options.learn_shares = false;
    options.tolerance = 1e-13;
    const auto model = fit_types(tiny.data, start.spread, options, {.2, .5, .3}, {}, RunContext());
    EXPECT_EQ(model.status, Status::converged);
    EXPECT_EQ(model.approximate_tasks, 0U);
    const auto exact = by_brute_force(tiny, model);
    for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(model.worker_types[i], exact[i], 1e-9) << seed;
  }
}

TEST(WorkerTypes, EstimateIsTheMixtureOverTypes) {
  const std::vector<double> answers{1, 4}, beliefs{.3, .7, .6, .4}, variances{.5, 3};
  const worker_types::TaskView view{answers, 0.5, 2};
  const auto estimate = worker_types::estimate_task(std::span(&view, 1), beliefs, variances);
  double total = 0, mean = 0;
  for (int c = 0; c < 4; ++c) {
    const double v1 = variances[static_cast<std::size_t>(c % 2)], v2 = variances[static_cast<std::size_t>(c / 2)];
    const double weight = beliefs[static_cast<std::size_t>(c % 2)] * beliefs[static_cast<std::size_t>(2 + c / 2)] *
                          std::exp(task_log_density(answers, {v1, v2}, {0.5, 2}));
    total += weight;
    mean += weight * (.5 / 2 + 1 / v1 + 4 / v2) / (1 / 2.0 + 1 / v1 + 1 / v2);
  }
  EXPECT_NEAR(estimate.mean[0], mean / total, 1e-12);
}

TEST(WorkerTypes, ManyAnswersAreSaidToBeApproximate) {
  EXPECT_TRUE(worker_types::is_exact(8, 3));   // 3⁷ = 2187
  EXPECT_FALSE(worker_types::is_exact(9, 3));  // 3⁸ = 6561
  EXPECT_TRUE(worker_types::is_exact(13, 2));  // 2¹² = 4096
  EXPECT_FALSE(worker_types::is_exact(14, 2));
  const NumberSimulation crowd = simulate_numbers({.tasks = 60, .workers = 12, .answers_per_task = 10, .dimensions = 1},
                                                  Parameters(number_simulation_parameters()), RunContext({.seed = 1}));
  const NumberFit fit = WorkerTypes().fit({crowd.data.answers, {}}, RunContext());
  ASSERT_EQ(fit.warnings.size(), 1U);
  EXPECT_EQ(fit.warnings[0].code, "approximate_messages");
}

TEST(WorkerTypes, TellsCarefulWorkersFromCarelessOnes) {
  Rng rng(5);
  NumberAnswersBuilder builder;
  for (int t = 0; t < 300; ++t) {
    const double truth = 10 * rng.normal();
    for (int w = 0; w < 6; ++w) {
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), truth + (w < 3 ? 1 : 4) * rng.normal());
    }
  }
  const NumberFit fit = WorkerTypes().fit({builder.build(), {}}, RunContext());
  for (std::size_t w = 0; w < 6; ++w) EXPECT_EQ(fit.scale[w] < 2.5, w < 3) << w << " " << fit.scale[w];
}

}  // namespace
}  // namespace wisecrowd
