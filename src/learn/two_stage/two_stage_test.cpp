#include "learn/two_stage/two_stage.hpp"

#include <gtest/gtest.h>

#include "support/learning.hpp"

namespace wisecrowd::two_stage {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

double accuracy(const std::string& aggregator, const std::string& targets, int which) {
  const auto crowd = gaussian_crowd(1, 3000, 5000, 2, 1.3, max_mig_workers('H', which));
  const Learned learned = testing::run_learner(
      crowd.data, "two_stage",
      {{"aggregator", aggregator}, {"targets", targets}, {"learning_rate", "0.01"}, {"epochs", "10"}},
      {.kind = "linear"}, 1);
  return testing::test_accuracy(crowd, learned.row_probabilities);
}

TEST(TwoStage, TrainsOnWhatTheAggregatorSays) {
  for (const char* targets : {"automatic", "hard", "soft", "confident"}) {
    EXPECT_GT(accuracy("dawid_skene", targets, 1), 0.89) << targets;
    EXPECT_GT(accuracy("majority_vote", targets, 1), 0.88) << targets;
  }
  // A vote that naive workers win teaches nothing; tables of the workers see through them.
  EXPECT_LT(accuracy("majority_vote", "automatic", 2), 0.6);
  EXPECT_GT(accuracy("dawid_skene", "automatic", 2), 0.89);
}

TEST(TwoStage, GoldIsLearnedFrom) {
  auto crowd = gaussian_crowd(1, 1000, 2000, 2, 1.3, max_mig_workers('H', 2));
  crowd.data.crowd.gold.assign(crowd.truth.begin(), crowd.truth.begin() + 1000);
  const Learned learned = testing::run_learner(
      crowd.data, "two_stage", {{"aggregator", "majority_vote"}, {"epochs", "10"}, {"learning_rate", "0.01"}},
      {.kind = "linear"}, 1);
  EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.89);
  EXPECT_EQ(testing::task_accuracy(crowd, learned.crowd.posterior), 1.0);
}

}  // namespace
}  // namespace wisecrowd::two_stage
