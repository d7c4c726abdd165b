#include "aggregate/categories/majority_vote/majority_vote.hpp"

#include <gtest/gtest.h>

namespace wisecrowd {
namespace {

CategoryData tied() {
  CategoryAnswersBuilder builder({"a", "b", "c"});
  builder.add("t1", "w1", "b").add("t1", "w2", "c").add("t2", "w1", "a").add("t2", "w2", "a").add("t2", "w3", "c");
  builder.add_task("t3");
  return {builder.build(), {}, {}};
}

TEST(MajorityVote, SharesAreFractionsOfVotes) {
  const auto result = majority_vote::MajorityVote().fit(tied(), RunContext());
  EXPECT_DOUBLE_EQ(result.posterior_of(TaskId{0})[1], 0.5);
  EXPECT_DOUBLE_EQ(result.posterior_of(TaskId{1})[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.posterior_of(TaskId{2})[2], 1.0 / 3);
}

TEST(MajorityVote, TieRules) {
  const auto label = [](TieRule rule) {
    return majority_vote::MajorityVote({.ties = rule}).fit(tied(), RunContext()).labels[0];
  };
  EXPECT_EQ(label(TieRule::lowest), ClassId{1});
  EXPECT_EQ(label(TieRule::highest), ClassId{2});
  EXPECT_EQ(label(TieRule::fractional), ClassId{1});
  std::size_t highest = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto result = majority_vote::MajorityVote({.ties = TieRule::random}).fit(tied(), RunContext({.seed = seed}));
    ASSERT_TRUE(result.labels[0] == ClassId{1} || result.labels[0] == ClassId{2});
    highest += result.labels[0] == ClassId{2} ? 1 : 0;
  }
  EXPECT_GT(highest, 60U);
  EXPECT_LT(highest, 140U);
}

TEST(MajorityVote, GoldIsPinned) {
  CategoryData data = tied();
  data.gold = {ClassId{2}, kNoClass, kNoClass};
  const auto result = majority_vote::MajorityVote().fit(data, RunContext());
  EXPECT_EQ(result.labels[0], ClassId{2});
  EXPECT_DOUBLE_EQ(result.posterior_of(TaskId{0})[2], 1.0);
}

}  // namespace
}  // namespace wisecrowd
