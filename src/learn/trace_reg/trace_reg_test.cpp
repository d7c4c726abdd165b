#include "learn/trace_reg/trace_reg.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/learning_sets.hpp"

namespace wisecrowd::trace_reg {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

TEST(TraceReg, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = testing::three_class_set(true);
  for (const auto penalty : {Options::Penalty::trace, Options::Penalty::log}) {
    Options options;
    options.penalty = penalty;
    options.strength = 0.7;
    const TraceModel model(set, options);
    EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
    EXPECT_LT(testing::table_gradient_error(model, set, 1), 1e-5);
  }
}

TEST(TraceReg, WithoutStrengthItIsCoupledCrossEntropyAndTheLogIsADirichletPrior) {
  const TrainingSet set = testing::three_class_set();
  Options options;
  options.strength = 0;
  TraceModel none(set, options);
  CoupledTables plain(set, options.tables);
  const auto a = testing::evaluate(none, set, 2), b = testing::evaluate(plain, set, 2);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.gradients, b.gradients);

  // −log Dirichlet(1 − strength on the diagonal, 1 elsewhere), up to its constant, as part of a mean over the answers.
  options.strength = 0.3;
  options.penalty = Options::Penalty::log;
  TraceModel prior(set, options);
  double log_diagonal = 0;
  const auto tables = prior.worker_tables();
  for (std::size_t j = 0; j < set.worker_count; ++j) {
    for (std::size_t k = 0; k < 3; ++k) log_diagonal += std::log(tables[j * 9 + k * 4]);
  }
  EXPECT_NEAR(testing::evaluate(prior, set, 2).loss - a.loss,
              0.3 * log_diagonal / static_cast<double>(set.answer_count()), 1e-12);
}

double accuracy(char skill, int which, const char* start) {
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
    const Learned learned = testing::run_learner(
        crowd.data, "trace_reg", {{"learning_rate", "0.01"}, {"epochs", "20"}, {"start", start}, {"held_out", "0"}},
        {.kind = "linear"}, seed);
    mean += testing::test_accuracy(crowd, learned.row_probabilities) / 3;
  }
  return mean;
}

TEST(TraceReg, GaussianSuite) {
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) EXPECT_GT(accuracy(skill, which, "votes"), 0.885) << skill << which;
  }
  EXPECT_GT(accuracy('H', 1, "identity"), 0.885);
  // As published, from the same good worker for all, a majority of naive workers cannot be told from the truth.
  EXPECT_LT(accuracy('L', 2, "identity"), 0.7);
}

}  // namespace
}  // namespace wisecrowd::trace_reg
