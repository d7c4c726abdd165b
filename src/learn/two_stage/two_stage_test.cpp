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

TEST(TwoStage, GradientsAreThoseOfCrossEntropyOnTheLabels) {
  // One perfect worker: labels are answers, the loss is plain cross-entropy, whatever the targets.
  const auto crowd = gaussian_crowd(4, 300, 1000, 2, 1.5, {{{1, 0, 0, 1}, -1}});
  const auto run = [&](const char* targets, bool gold) {
    LearningData data = crowd.data;
    if (gold) data.crowd.gold.assign(crowd.truth.begin(), crowd.truth.begin() + 300);
    return testing::run_learner(
        data, "two_stage", {{"aggregator", "majority_vote"}, {"targets", targets}, {"epochs", "5"}, {"held_out", "0"}},
        {.kind = "linear"}, 1);
  };
  const Learned hard = run("hard", false);
  for (const char* targets : {"soft", "confident"}) {
    EXPECT_EQ(run(targets, false).row_probabilities, hard.row_probabilities) << targets;
  }
  EXPECT_EQ(run("truth", true).row_probabilities, hard.row_probabilities);
  EXPECT_THROW((void)run("truth", false), Error);
}

/// Trained on the truth alone, answers that are all wrong do no harm.
TEST(TwoStage, TruthAloneIsTheOracle) {
  auto crowd = gaussian_crowd(4, 1000, 2000, 2, 1.3, std::vector<testing::PlannedWorker>(3, {{0, 1, 1, 0}, -1}));
  crowd.data.crowd.gold.assign(crowd.truth.begin(), crowd.truth.begin() + 1000);
  for (std::size_t t = 0; t < 1000; t += 2) crowd.data.crowd.gold[t] = kNoClass;
  const auto accuracy = [&](const char* targets) {
    const Learned learned = testing::run_learner(
        crowd.data, "two_stage",
        {{"aggregator", "majority_vote"}, {"targets", targets}, {"epochs", "10"}, {"learning_rate", "0.01"}},
        {.kind = "linear"}, 1);
    return testing::test_accuracy(crowd, learned.final_row_probabilities);
  };
  EXPECT_GT(accuracy("truth"), 0.88);
  EXPECT_LT(accuracy("hard"), 0.8);
}

/// A third of the first class has features from far on the other side: they bend a linear classifier, until they count
/// less.
TEST(TwoStage, SpoiltFeaturesCanBeDoubted) {
  auto crowd = gaussian_crowd(5, 1500, 3000, 2, 1.5, std::vector<testing::PlannedWorker>(3, {{.9, .1, .1, .9}, -1}));
  const std::size_t columns = crowd.data.features.dense.size() / crowd.data.features.rows;
  for (std::size_t t = 0; t < 1500; t += 3) {
    if (crowd.truth[t] == ClassId{0}) crowd.data.features.dense[crowd.data.row_of_task[t] * columns] = 4;
  }
  const auto accuracy = [&](const char* doubt) {
    const Learned learned = testing::run_learner(
        crowd.data, "two_stage",
        {{"aggregator", "dawid_skene"}, {"doubt_features", doubt}, {"epochs", "15"}, {"learning_rate", "0.02"}},
        {.kind = "linear"}, 1);
    return testing::test_accuracy(crowd, learned.row_probabilities);
  };
  const double plain = accuracy("false"), doubting = accuracy("true");
  EXPECT_GT(doubting, plain + 0.005) << plain;
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
