#include "learn/auto_learner/auto_learner.hpp"

#include <gtest/gtest.h>

#include "support/learning.hpp"

namespace wisecrowd::auto_learner {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

/// Whatever the crowd, it is about as good as training on the truth (G7's Bayes accuracy is .903).
TEST(AutoLearner, StandsNaiveWorkersAndCopies) {
  for (const int which : {1, 2, 3}) {
    const auto crowd = gaussian_crowd(2, 2000, 4000, 2, 1.3, max_mig_workers('H', which));
    const Learned learned = testing::run_learner(crowd.data, "auto", {{"learning_rate", "0.01"}, {"epochs", "15"}},
                                                 {.kind = "linear"}, 1, 2);
    EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.88) << which;
    EXPECT_NE(learned.crowd.explanation.find("held-out task"), std::string::npos);
    EXPECT_NE(learned.crowd.explanation.find("two_stage"), std::string::npos);
  }
}

TEST(AutoLearner, WithoutHiddenTasksItTakesTheFirst) {
  const auto crowd = gaussian_crowd(2, 200, 50, 2, 1.3, max_mig_workers('H', 1));
  const std::vector<std::pair<std::string, std::string>> quick{{"held_out", "0"}, {"epochs", "3"}};
  const Learned learned = testing::run_learner(crowd.data, "auto", quick, {.kind = "linear"}, 1);
  const Learned first = testing::run_learner(crowd.data, candidates().front(), quick, {.kind = "linear"}, 1);
  EXPECT_EQ(learned.row_probabilities, first.row_probabilities);
  EXPECT_NE(learned.crowd.explanation.find("preferred"), std::string::npos);
}

}  // namespace
}  // namespace wisecrowd::auto_learner
