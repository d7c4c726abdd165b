#include "aggregate/categories/crh/crh.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wisecrowd {
namespace {

// a and b agree with the vote throughout; c disagrees on two of three tasks.
TEST(Crh, WeighsByDisagreementWithTheVote) {
  CategoryAnswersBuilder builder;
  builder.add("t1", "a", "x").add("t1", "b", "x").add("t1", "c", "y");
  builder.add("t2", "a", "x").add("t2", "b", "x").add("t2", "c", "y");
  builder.add("t3", "a", "y").add("t3", "c", "x");
  builder.add("t4", "a", "x").add("t4", "b", "x").add("t4", "c", "x");
  const auto result = crh::Crh().fit({builder.build(), {}, {}}, RunContext());
  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.labels[2], ClassId{1});
  ASSERT_EQ(result.skill.size(), 3U);
  const double all = 3.0 / 4 + 3e-9;
  EXPECT_NEAR(result.skill[2], -std::log((3.0 / 4 + 1e-9) / all), 1e-12);
  EXPECT_NEAR(result.skill[0], -std::log(1e-9 / all), 1e-9);
  double sum = 0;
  for (const double w : result.skill) sum += std::exp(-w);
  EXPECT_NEAR(sum, 1, 1e-9);  // the constraint under which distances are least
}

TEST(Crh, GoldCorrectsTheVoteThatWorkersAreMeasuredAgainst) {
  CategoryAnswersBuilder builder({"x", "y", "z"});
  builder.add("t1", "a", "x").add("t1", "b", "x").add("t1", "c", "y");
  builder.add("t2", "a", "x").add("t2", "b", "x").add("t2", "c", "y");
  CategoryData data{builder.build(), {}, {}};
  data.gold = {ClassId{1}, kNoClass};
  const auto result = crh::Crh().fit(data, RunContext());
  EXPECT_EQ(result.labels[0], ClassId{1});
  EXPECT_GT(result.skill[2], result.skill[0] - 1e-12);
}

}  // namespace
}  // namespace wisecrowd
