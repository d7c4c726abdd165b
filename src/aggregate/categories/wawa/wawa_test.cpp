#include "aggregate/categories/wawa/wawa.hpp"

#include <gtest/gtest.h>

namespace wisecrowd {
namespace {

// Worker c disagrees with the majority on t1 and t2, so on t3 its voice counts less than that of a.
TEST(Wawa, WeighsByAgreementWithTheVote) {
  CategoryAnswersBuilder builder;
  builder.add("t1", "a", "x").add("t1", "b", "x").add("t1", "c", "y");
  builder.add("t2", "a", "x").add("t2", "b", "x").add("t2", "c", "y");
  builder.add("t3", "a", "y").add("t3", "c", "x");
  const auto result = wawa::Wawa().fit({builder.build(), {}, {}}, RunContext());
  // The tie on t3 goes to the lowest class x: a agrees 2 of 3 times, b 2 of 2, c 1 of 3.
  ASSERT_EQ(result.skill.size(), 3U);
  EXPECT_DOUBLE_EQ(result.skill[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.skill[1], 1.0);
  EXPECT_DOUBLE_EQ(result.skill[2], 1.0 / 3);
  EXPECT_EQ(result.labels[2], ClassId{1});
  EXPECT_DOUBLE_EQ(result.posterior_of(TaskId{2})[1], 2.0 / 3);
}

// Gold corrects the vote that workers are measured against.
TEST(Wawa, WorkersWhoContradictGoldLoseTheirWeight) {
  CategoryAnswersBuilder builder({"x", "y", "z"});
  builder.add("t1", "a", "x").add("t1", "b", "x").add("t1", "c", "y");
  builder.add("t2", "c", "z").add("t2", "d", "x");
  CategoryData data{builder.build(), {}, {}};
  data.gold = {kNoClass, ClassId{1}};
  const auto result = wawa::Wawa().fit(data, RunContext());
  EXPECT_DOUBLE_EQ(result.skill[2], 0.0);
  EXPECT_DOUBLE_EQ(result.skill[3], 0.0);
  EXPECT_EQ(result.labels[1], ClassId{1});
}

}  // namespace
}  // namespace wisecrowd
