#include "learn/geocrowdnet_f/geocrowdnet_f.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/shared/volume.hpp"
#include "support/learning_sets.hpp"

namespace wisecrowd::geocrowdnet_f {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

Options with_strength(double strength) {
  Options options;
  options.strength = strength;
  return options;
}

TEST(GeoCrowdNetF, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = testing::three_class_set();
  const VolumeModel model(set, with_strength(0.5));
  EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
  EXPECT_LT(testing::table_gradient_error(model, set, 1), 1e-5);
}

TEST(GeoCrowdNetF, WithoutStrengthItIsCoupledCrossEntropy) {
  const TrainingSet set = testing::three_class_set();
  VolumeModel none(set, with_strength(0));
  CoupledTables plain(set, Options().tables);
  const auto a = testing::evaluate(none, set, 2), b = testing::evaluate(plain, set, 2);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.gradients, b.gradients);
}

TEST(Volume, LogDeterminantAndItsGuards) {
  const auto found = log_determinant(std::vector<double>{4, 2, 2, 3}, 2);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->value, std::log(8.0), 1e-12);
  EXPECT_NEAR(found->inverse[0], 3.0 / 8, 1e-12);
  EXPECT_NEAR(found->inverse[1], -2.0 / 8, 1e-12);
  EXPECT_FALSE(log_determinant(std::vector<double>{1, 2, 2, 1}, 2));             // not positive
  EXPECT_FALSE(log_determinant(std::vector<double>{1e-60, 0, 0, 1e-60}, 2));     // as good as flat
  EXPECT_FALSE(log_determinant(std::vector<double>{std::nan(""), 0, 0, 1}, 2));  // not a number
  std::vector<double> f{.5, .3, .2, .1, .1, .8}, g(6, 0.0);
  EXPECT_FALSE(volume_penalty({f.data(), 2, 3}, 1, {g.data(), 2, 3}));  // fewer rows than classes
  EXPECT_EQ(g, std::vector<double>(6, 0.0));
}

TEST(GeoCrowdNetF, CollapsedStepsAreCountedAndTold) {
  // Ten classes, all rows alike: the volume is that of a line.
  auto crowd = gaussian_crowd(1, 40, 0, 10, 1, {{std::vector<double>(100, .1), -1}});
  const TrainingSet set = training_set(crowd.data);
  VolumeModel model(set, with_strength(0.1));
  std::vector<std::uint32_t> tasks(40);
  std::iota(tasks.begin(), tasks.end(), 0U);
  std::vector<double> outputs(400, 0.0), gradients(400);
  (void)model.loss(tasks, {outputs.data(), 40, 10}, {gradients.data(), 40, 10});
  EXPECT_EQ(model.collapsed_steps(), 1U);
  Learned learned;
  model.describe(learned, crowd.data, [](std::size_t, std::span<double>) { return false; });
  ASSERT_EQ(learned.crowd.warnings.size(), 1U);
  EXPECT_EQ(learned.crowd.warnings[0].code, "volume_collapsed");
}

double log_volume(const std::vector<double>& rows, std::size_t count, std::size_t classes) {
  std::vector<double> gradients(rows.size(), 0.0);
  return -volume_penalty({rows.data(), count, classes}, 1, {gradients.data(), count, classes}).value();
}

/// More strength, more volume; and workers none of whom is an expert are found by it.
TEST(GeoCrowdNetF, VolumeGrowsAndTablesAreRecovered) {
  const std::vector<testing::PlannedWorker> workers{{{.6, .3, .1, .1, .6, .3, .3, .1, .6}, -1},
                                                    {{.5, .2, .3, .2, .7, .1, .2, .3, .5}, -1},
                                                    {{.7, .2, .1, .3, .5, .2, .1, .3, .6}, -1}};
  const auto crowd = gaussian_crowd(2, 2000, 500, 3, 3, workers);
  double volumes[2];
  for (const int strong : {0, 1}) {
    const Learned learned = testing::run_learner(
        crowd.data, "geocrowdnet_f",
        {{"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}, {"strength", strong == 1 ? "0.05" : "0"}},
        {.kind = "linear"}, 1);
    volumes[strong] = log_volume(learned.row_probabilities, crowd.data.features.rows, 3);
    if (strong == 0) continue;
    double error = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t cell = 0; cell < 9; ++cell) {
        error += std::abs(learned.crowd.confusion[j * 9 + cell] - workers[j].table[cell]) / 27;
      }
    }
    EXPECT_LT(error, 0.05);
    EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.95);
  }
  EXPECT_GT(volumes[1], volumes[0]);
}

TEST(GeoCrowdNetF, GaussianSuite) {
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) {
      double mean = 0;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
        const Learned learned = testing::run_learner(crowd.data, "geocrowdnet_f",
                                                     {{"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}},
                                                     {.kind = "linear"}, seed);
        mean += testing::test_accuracy(crowd, learned.row_probabilities) / 3;
      }
      EXPECT_GT(mean, 0.885) << skill << which;
    }
  }
}

}  // namespace
}  // namespace wisecrowd::geocrowdnet_f
