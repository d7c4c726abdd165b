#include "learn/deep_mf/deep_mf.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/learning.hpp"

namespace wisecrowd::deep_mf {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

std::vector<double> some_priors(std::size_t tasks) {
  Rng rng(8);
  std::vector<double> priors;
  for (std::size_t i = 0; i < tasks; ++i) {
    const double p = rng.uniform(0.1, 0.9);
    priors.insert(priors.end(), {p, 1 - p});
  }
  return priors;
}

CategoryFit by_ibcc(const TrainingSet& set, const Options& options, const std::vector<double>& priors) {
  Parameters parameters(aggregation_method("ibcc").parameters);
  parameters.set("coins", options.tables.one_coin ? "one_coin" : "full");
  parameters.set_value("diagonal_prior", options.tables.right);
  parameters.set_value("off_diagonal_prior", options.tables.wrong);
  parameters.set_value("tolerance", 1e-14);
  parameters.set_value("max_iterations", std::int64_t{2000});
  CategoryData data = as_dataset(set);
  data.task_priors = priors;
  return aggregate(data, "ibcc", parameters, RunContext());
}

TEST(DeepMf, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = training_set(gaussian_crowd(3, 20, 0, 2, 1, max_mig_workers('H', 1), 0.5).data);
  EXPECT_LT(testing::gradient_error(DeepMfModel(set, {}), set, 2), 1e-5);
}

/// With the priors of tasks fixed, the updates are those of variational Bayes without features, and its bound rises.
TEST(DeepMf, FixedPriorsGiveVariationalBayes) {
  const TrainingSet set = training_set(gaussian_crowd(3, 60, 0, 2, 1, max_mig_workers('H', 1), 0.5).data);
  const std::vector<double> priors = some_priors(set.task_count());
  for (const bool one_coin : {true, false}) {
    Options options;
    options.tables = {one_coin, 3, 1};
    DeepMfModel model(set, options);
    double before = -1e300;
    for (int round = 0; round < 2000; ++round) {
      model.update(priors);
      EXPECT_GE(model.bound(), before - 1e-9 * std::abs(before));
      before = model.bound();
    }
    const CategoryFit ibcc = by_ibcc(set, options, priors);
    for (std::size_t c = 0; c < ibcc.posterior.size(); ++c) {
      EXPECT_NEAR(model.soft_labels()[c], ibcc.posterior[c], 1e-6);
    }
    for (std::size_t c = 0; c < ibcc.confusion.size(); ++c) {
      EXPECT_NEAR(model.worker_tables()[c], ibcc.confusion[c], 1e-6);
    }
    EXPECT_NEAR(model.bound(), ibcc.trace.back(), 1e-6 * std::abs(model.bound()));
  }
}

/// A ceiling of 1/K leaves the network out, whatever it says.
TEST(DeepMf, LowestCeilingIgnoresTheFeatures) {
  const auto crowd = gaussian_crowd(3, 80, 0, 2, 2, max_mig_workers('H', 1), 0.5);
  const Learned learned = testing::run_learner(
      crowd.data, "deep_mf",
      {{"ceiling", "0.5"}, {"epochs", "40"}, {"updates", "30"}, {"learning_rate", "0.05"}, {"held_out", "0"}},
      {.kind = "linear"}, 1);
  Options options;
  const TrainingSet set = training_set(crowd.data);
  const CategoryFit ibcc = by_ibcc(set, options, std::vector<double>(set.task_count() * 2, 0.5));
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    EXPECT_NEAR(learned.crowd.posterior[index(set.task[i]) * 2], ibcc.posterior[i * 2], 1e-4);
  }
  // The network learned all the same.
  EXPECT_GT(testing::task_accuracy(crowd, learned.row_probabilities), 0.9);
}

TEST(DeepMf, IndependentAndNaiveWorkers) {
  for (const int which : {1, 2}) {
    const auto crowd = gaussian_crowd(1, 3000, 5000, 2, 1.3, max_mig_workers('H', which));
    const Learned learned = testing::run_learner(crowd.data, "deep_mf", {{"learning_rate", "0.01"}, {"epochs", "20"}},
                                                 {.kind = "linear"}, 1);
    EXPECT_GT(testing::test_accuracy(crowd, learned.final_row_probabilities), 0.892) << which;
  }
}

}  // namespace
}  // namespace wisecrowd::deep_mf
