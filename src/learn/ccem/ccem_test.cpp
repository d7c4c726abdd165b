#include "learn/ccem/ccem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "support/learning_sets.hpp"

namespace wisecrowd::ccem {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;
using Start = TableOptions::Start;
using Solver = TableOptions::Solver;

TEST(Ccem, GradientsThroughATwoLayerNetwork) {
  for (const bool gold : {false, true}) {
    const TrainingSet set = testing::three_class_set(gold);
    for (const auto start : {Start::votes, Start::identity}) {
      const CoupledTables model(set, {.start = start});
      EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
      EXPECT_LT(testing::table_gradient_error(model, set, 1), 1e-5);
    }
  }
}

/// With tables fixed to the identity and one answer per task the loss is the plain cross-entropy.
TEST(Ccem, ExpertTablesAndOneAnswerArePlainCrossEntropy) {
  const auto crowd = gaussian_crowd(3, 30, 0, 3, 1, {{{1, 0, 0, 0, 1, 0, 0, 0, 1}, -1}});
  const TrainingSet set = training_set(crowd.data);
  CoupledTables model(set, {.start = Start::expert});
  const auto found = testing::evaluate(model, set, 4);
  double expected = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    std::vector<double> f(found.outputs.begin() + static_cast<std::ptrdiff_t>(3 * i),
                          found.outputs.begin() + static_cast<std::ptrdiff_t>(3 * i + 3));
    softmax(f);
    expected -= std::log(f[index(set.labels_of(i)[0])]) / 30;
  }
  EXPECT_NEAR(found.loss, expected, 2e-3);
}

/// The EM solver with the network held never makes the answers less likely, and ends where the gradient of the tables
/// is 0.
TEST(Ccem, ExpectationMaximisationOfTheTablesIsMonotone) {
  const TrainingSet set = testing::three_class_set();
  CoupledTables model(set, {.warm_up = 0, .solver = Solver::em, .pooled_answers = 0});
  const auto start = testing::evaluate(model, set, 6);
  AnswerModel::Epoch epoch;
  epoch.total = 400;
  epoch.predict = [&](std::span<double> out) { std::copy(start.outputs.begin(), start.outputs.end(), out.begin()); };
  double last = start.loss;
  for (epoch.number = 1; epoch.number < 400; ++epoch.number) {
    model.begin_epoch(epoch);
    const double now = testing::evaluate(model, set, 6).loss;
    EXPECT_LE(now, last + 1e-10);
    last = now;
  }
  EXPECT_LT(last, start.loss - 0.01);
}

/// While warming up the tables stay: else a network that starts the wrong way round turns them around.
TEST(Ccem, TablesStayWhileWarmingUp) {
  const TrainingSet set = testing::three_class_set();
  CoupledTables model(set, {.warm_up = 2});
  const auto before = model.worker_tables();
  AnswerModel::Epoch epoch;
  epoch.total = 6;
  for (epoch.number = 0; epoch.number < 3; ++epoch.number) {
    model.begin_epoch(epoch);
    (void)testing::evaluate(model, set, 6);
    model.step(1);
    EXPECT_EQ(model.worker_tables() == before, epoch.number < 2);
  }
}

TEST(Ccem, NaiveMajorityAndCopiesDoNotMislead) {
  for (const char* solver : {"gradient", "em"}) {
    for (const char skill : {'H', 'L'}) {
      for (const int which : {1, 2, 3}) {
        double mean = 0;
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
          const Learned learned = testing::run_learner(
              crowd.data, "ccem", {{"learning_rate", "0.01"}, {"epochs", "20"}, {"solver", solver}, {"held_out", "0"}},
              {.kind = "linear"}, seed);
          mean += testing::test_accuracy(crowd, learned.row_probabilities) / 3;
        }
        EXPECT_GT(mean, 0.885) << solver << skill << which;
      }
    }
  }
}

}  // namespace
}  // namespace wisecrowd::ccem
