#include "learn/geocrowdnet_w/geocrowdnet_w.hpp"

#include <gtest/gtest.h>

#include "support/learning_sets.hpp"

namespace wisecrowd::geocrowdnet_w {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

Options with_strength(double strength) {
  Options options;
  options.strength = strength;
  return options;
}

TEST(GeoCrowdNetW, GradientsThroughATwoLayerNetwork) {
  for (const bool gold : {false, true}) {
    const TrainingSet set = testing::three_class_set(gold);
    const TableVolumeModel model(set, with_strength(0.5));
    EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5);
    EXPECT_LT(testing::table_gradient_error(model, set, 1), 1e-5);
  }
}

TEST(GeoCrowdNetW, WithoutStrengthItIsCoupledCrossEntropy) {
  const TrainingSet set = testing::three_class_set();
  TableVolumeModel none(set, with_strength(0));
  CoupledTables plain(set, Options().tables);
  const auto a = testing::evaluate(none, set, 2), b = testing::evaluate(plain, set, 2);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.gradients, b.gradients);
}

TEST(GeoCrowdNetW, TheSumOverWorkersIsKeptUpToDate) {
  const TrainingSet set = testing::three_class_set();
  TableVolumeModel model(set, with_strength(0.1));
  for (int step = 0; step < 50; ++step) {
    (void)testing::evaluate(model, set, static_cast<std::uint64_t>(step));
    model.step(1);
  }
  std::vector<double> expected(9, 0.0);
  const auto tables = model.worker_tables();
  for (std::size_t j = 0; j < set.worker_count; ++j) {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t m = 0; m < 3; ++m) {
        for (std::size_t l = 0; l < 3; ++l)
          expected[k * 3 + m] += tables[j * 9 + k * 3 + l] * tables[j * 9 + m * 3 + l];
      }
    }
  }
  for (std::size_t cell = 0; cell < 9; ++cell) EXPECT_NEAR(model.gram()[cell], expected[cell], 1e-12);
}

/// The sum over all workers is part of the loss, yet a step costs what its answers cost.
TEST(GeoCrowdNetW, AMillionWorkersCostWhatAThousandCost) {
  const TrainingSet few = testing::sparse_set(1000, 4096, 3, 2), many = testing::sparse_set(1000000, 4096, 3, 2);
  TableVolumeModel small(few, with_strength(0.1)), large(many, with_strength(0.1));
  const double thousand = testing::seconds_of_steps(small, few, 64),
               million = testing::seconds_of_steps(large, many, 64);
  EXPECT_LT(million, 10 * thousand + 0.01) << thousand << " s and " << million << " s";
}

TEST(GeoCrowdNetW, GaussianSuite) {
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) {
      double mean = 0;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
        const Learned learned = testing::run_learner(crowd.data, "geocrowdnet_w",
                                                     {{"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}},
                                                     {.kind = "linear"}, seed);
        mean += testing::test_accuracy(crowd, learned.row_probabilities) / 3;
      }
      EXPECT_GT(mean, 0.885) << skill << which;
    }
  }
}

}  // namespace
}  // namespace wisecrowd::geocrowdnet_w
