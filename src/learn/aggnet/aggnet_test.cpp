#include "learn/aggnet/aggnet.hpp"

#include <gtest/gtest.h>

#include "learn/shared/clip.hpp"
#include "support/learning.hpp"

namespace wisecrowd::aggnet {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

TEST(AggNet, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = training_set(gaussian_crowd(3, 20, 0, 2, 1, max_mig_workers('H', 1), 0.5).data);
  EXPECT_LT(testing::gradient_error(AggNetModel(set, {}), set, 2), 1e-5);
}

/// Independent workers, naive ones too: as good as training on the truth. Copies: it falls (G7).
TEST(AggNet, IndependentWorkersAndCopies) {
  const auto accuracy = [](int which) {
    const auto crowd = gaussian_crowd(1, 3000, 5000, 2, 1.3, max_mig_workers('H', which));
    const Learned learned = testing::run_learner(crowd.data, "aggnet", {{"learning_rate", "0.01"}, {"epochs", "20"}},
                                                 {.kind = "linear"}, 1);
    return testing::test_accuracy(crowd, learned.final_row_probabilities);
  };
  EXPECT_GT(accuracy(1), 0.895);
  EXPECT_GT(accuracy(2), 0.895);
  EXPECT_LT(accuracy(3), accuracy(1) - 0.05);
}

TEST(Clip, GoldenVectorAndLimits) {
  std::vector<double> p{.9, .05, .03, .02};
  clip(p, .6);
  EXPECT_NEAR(p[0], .6, 1e-12);
  EXPECT_NEAR(p[1], .15, 1e-12);
  EXPECT_NEAR(p[2], .13, 1e-12);
  EXPECT_NEAR(p[3], .12, 1e-12);
  std::vector<double> chained{.9, .1, 0};
  clip(chained, .4);
  EXPECT_NEAR(chained[0], .4, 1e-12);
  EXPECT_NEAR(chained[1], .35, 1e-12);
  EXPECT_NEAR(chained[2], .25, 1e-12);
  std::vector<double> none{.9, .1};
  clip(none, 0);
  EXPECT_NEAR(none[0], .5, 1e-12);
  std::vector<double> kept{.9, .1};
  clip(kept, 1);
  EXPECT_EQ(kept[0], .9);
}

}  // namespace
}  // namespace wisecrowd::aggnet
