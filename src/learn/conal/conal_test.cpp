#include "learn/conal/conal.hpp"

#include <gtest/gtest.h>

#include "support/learning_sets.hpp"

namespace wisecrowd::conal {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

TEST(CoNal, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = testing::three_class_set(true);
  Options options;
  options.gate_width = 2;
  options.strength = 0.1;
  GateModel model(set, options, Rng(1));
  Rng rng(2);
  for (std::size_t j = 0; j < 3; ++j) {
    for (double& v : model.gates().of(j)) v = rng.normal();
  }
  EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
  EXPECT_LT(testing::table_gradient_error(model, set, 1), 1e-5);
  const double common = testing::own_gradient_error(
      model, set, 1, 9,
      [](AnswerModel& m, std::size_t p, double change) {
        dynamic_cast<GateModel&>(m).common_logits().of(0)[p] += change;
        dynamic_cast<GateModel&>(m).refresh_common();
      },
      [](AnswerModel& m, std::size_t p) { return dynamic_cast<GateModel&>(m).common_logits().gradient(0)[p]; });
  EXPECT_LT(common, 1e-5);
  const double gates = testing::own_gradient_error(
      model, set, 1, 6,
      [](AnswerModel& m, std::size_t p, double change) {
        dynamic_cast<GateModel&>(m).gates().of(p / 2)[p % 2] += change;
      },
      [](AnswerModel& m, std::size_t p) { return dynamic_cast<GateModel&>(m).gates().gradient(p / 2)[p % 2]; });
  EXPECT_LT(gates, 1e-5);
}

/// With one worker the common table is the worker's own, and the gate has nothing to choose: coupled cross-entropy.
TEST(CoNal, OneWorkerIsCoupledCrossEntropy) {
  const auto crowd = gaussian_crowd(3, 30, 0, 2, 1, {{{.8, .2, .3, .7}, -1}});
  const TrainingSet set = training_set(crowd.data);
  Options options;
  options.strength = 0;
  GateModel model(set, options, Rng(1));
  CoupledTables plain(set, options.tables);
  std::vector<std::uint32_t> tasks(30);
  std::iota(tasks.begin(), tasks.end(), 0U);
  Rng rng(4);
  std::vector<double> wide(30 * model.outputs()), narrow, at_wide(wide.size()), at_narrow(60);
  for (double& value : wide) value = rng.normal();
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t k = 0; k < 2; ++k) narrow.push_back(wide[i * model.outputs() + k]);
  }
  EXPECT_NEAR(model.loss(tasks, {wide.data(), 30, model.outputs()}, {at_wide.data(), 30, model.outputs()}),
              plain.loss(tasks, {narrow.data(), 30, 2}, {at_narrow.data(), 30, 2}), 1e-12);
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(at_wide[i * model.outputs() + k], at_narrow[i * 2 + k], 1e-12);
  }
}

TEST(CoNal, GaussianSuite) {
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) {
      double mean = 0;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
        const Learned learned =
            testing::run_learner(crowd.data, "conal", {{"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}},
                                 {.kind = "linear"}, seed);
        mean += testing::test_accuracy(crowd, learned.row_probabilities) / 3;
      }
      EXPECT_GT(mean, 0.88) << skill << which;
    }
  }
}

}  // namespace
}  // namespace wisecrowd::conal
