#include "aggregate/sets/best_relevance/best_relevance.hpp"

#include <gtest/gtest.h>

#include "support/sets.hpp"

namespace wisecrowd {
namespace {

using best_relevance::BestRelevance;
using best_relevance::Options;

TEST(BestRelevance, TakesProfilesWhereClassesOccurTogether) {
  const SetSimulation crowd =
      testing::set_crowd(1, {.tasks = 600, .workers = 30, .answers_per_task = 4, .classes = 10}, {{"contrast", "3"}});
  const SetFit fit = BestRelevance().fit(testing::answers_alone(crowd.data), RunContext());
  EXPECT_NE(fit.explanation.find("profile_relevance with"), std::string::npos) << fit.explanation;
  EXPECT_GE(fit.learned.back().second, 2);
}

TEST(BestRelevance, StaysSimpleWhereClassesAreIndependent) {
  const SetSimulation crowd =
      testing::set_crowd(2, {.tasks = 600, .workers = 30, .answers_per_task = 4, .classes = 10}, {{"profiles", "1"}});
  const SetData data = testing::answers_alone(crowd.data);
  const SetFit fit = BestRelevance().fit(data, RunContext());
  EXPECT_NE(fit.explanation.find("shared_relevance: no other method"), std::string::npos) << fit.explanation;
  EXPECT_EQ(fit.probability, aggregate(data, "shared_relevance").probability);
}

TEST(BestRelevance, WithoutFoldsOrSecondAnswersNothingIsTried) {
  const SetSimulation crowd = testing::set_crowd(3, {.tasks = 50, .workers = 8, .answers_per_task = 1, .classes = 3});
  EXPECT_NE(BestRelevance().fit(testing::answers_alone(crowd.data), RunContext()).explanation.find("one answer"),
            std::string::npos);
  EXPECT_TRUE(BestRelevance({.folds = 0}).fit(testing::answers_alone(crowd.data), RunContext()).explanation.empty());
}

}  // namespace
}  // namespace wisecrowd
