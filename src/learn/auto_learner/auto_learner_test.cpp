#include "learn/auto_learner/auto_learner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/learning.hpp"

namespace wisecrowd::auto_learner {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

/// Whatever the crowd, it is about as good as training on the truth (G7's Bayes accuracy is .903).
TEST(AutoLearner, StandsNaiveWorkersAndCopies) {
  for (const int which : {1, 2, 3}) {
    const auto crowd = gaussian_crowd(2, 2000, 4000, 2, 1.3, max_mig_workers('H', which));
    for (const std::string combine : {"choice", "pool"}) {
      const Learned learned =
          testing::run_learner(crowd.data, "auto", {{"learning_rate", "0.01"}, {"epochs", "15"}, {"combine", combine}},
                               {.kind = "linear"}, 1, 2);
      EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), 0.88) << which << ' ' << combine;
      EXPECT_NE(learned.crowd.explanation.find("held-out task"), std::string::npos);
      EXPECT_NE(learned.crowd.explanation.find(combine == "pool" ? "crowd_layer" : "two_stage"), std::string::npos);
    }
  }
}

/// Few tasks, several classes, workers of unequal skill with few answers each: where learners differ most.
TEST(AutoLearner, ThePoolIsNotFarBelowItsBestMember) {
  constexpr std::size_t kClasses = 5;
  std::vector<testing::PlannedWorker> workers;
  for (int j = 0; j < 30; ++j) {
    const double skill = 0.3 + 0.02 * j;
    std::vector<double> table(kClasses * kClasses, (1 - skill) / (kClasses - 1));
    for (std::size_t k = 0; k < kClasses; ++k) table[k * (kClasses + 1)] = skill;
    workers.push_back({std::move(table), -1});
  }
  const auto crowd = gaussian_crowd(7, 300, 2000, kClasses, 2, workers, 0.1);
  std::vector<std::pair<std::string, std::string>> settings{{"learning_rate", "0.01"}, {"epochs", "20"}};
  const auto accuracy = [&](const std::string& name) {
    const Learned learned = testing::run_learner(crowd.data, name, settings, {.kind = "linear"}, 1);
    return testing::test_accuracy(crowd, learned.row_probabilities);
  };
  double best = 0;
  for (const std::string& name : members()) best = std::max(best, accuracy(name));
  settings.emplace_back("combine", "pool");
  EXPECT_GE(accuracy("auto") + 0.01, best);
}

TEST(AutoLearner, WithoutHiddenTasksMembersWeighAlike) {
  const auto crowd = gaussian_crowd(2, 200, 50, 2, 1.3, max_mig_workers('H', 1));
  const Learned learned = testing::run_learner(
      crowd.data, "auto", {{"held_out", "0"}, {"epochs", "3"}, {"combine", "pool"}}, {.kind = "linear"}, 1);
  std::size_t weights = 0;
  for (const auto& [name, value] : learned.crowd.learned) {
    if (!name.starts_with("weight_of_")) continue;
    EXPECT_DOUBLE_EQ(value, 1.0 / static_cast<double>(members().size())) << name;
    ++weights;
  }
  EXPECT_EQ(weights, members().size());
}

TEST(AutoLearner, WithoutHiddenTasksItChoosesTheFirst) {
  const auto crowd = gaussian_crowd(2, 200, 50, 2, 1.3, max_mig_workers('H', 1));
  const std::vector<std::pair<std::string, std::string>> quick{{"held_out", "0"}, {"epochs", "3"}};
  const Learned first = testing::run_learner(crowd.data, candidates().front(), quick, {.kind = "linear"}, 1);
  const Learned learned = testing::run_learner(crowd.data, "auto", quick, {.kind = "linear"}, 1);
  EXPECT_EQ(learned.row_probabilities, first.row_probabilities);
  EXPECT_NE(learned.crowd.explanation.find("preferred"), std::string::npos);
}

/// Networks that are merged predict the same when read from the classifier as in the result.
TEST(AutoLearner, APoolIsOneClassifier) {
  const auto crowd = gaussian_crowd(
      2, 200, 50, 3, 2, std::vector<testing::PlannedWorker>(6, {{.8, .1, .1, .1, .8, .1, .1, .1, .8}, -1}), 0.5);
  const Learned learned =
      testing::run_learner(crowd.data, "auto", {{"epochs", "4"}, {"combine", "pool"}}, {.kind = "mlp", .hidden = 8}, 1);
  const std::vector<double> again = learned.classifier->predict(crowd.data.features, RunContext());
  ASSERT_EQ(again.size(), learned.row_probabilities.size());
  for (std::size_t cell = 0; cell < again.size(); ++cell)
    EXPECT_NEAR(again[cell], learned.row_probabilities[cell], 1e-9);
}

}  // namespace
}  // namespace wisecrowd::auto_learner
