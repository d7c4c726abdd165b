#include "aggregate/comparisons/preference_groups/preference_groups.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

TEST(PreferenceGroups, FindsTwoOppositeTastes) {
  Rng rng(3);
  ComparisonAnswersBuilder builder;
  for (int w = 0; w < 30; ++w) {
    for (int n = 0; n < 40; ++n) {
      const int i = static_cast<int>(rng.below(8)), j = (i + 1 + static_cast<int>(rng.below(7))) % 8;
      const double d = 0.7 * (i - j) * (w < 10 ? -1 : 1);
      builder.add("w" + std::to_string(10 + w), "i" + std::to_string(i), "i" + std::to_string(j),
                  rng.bernoulli(sigmoid(d)) ? Outcome::left : Outcome::right);
    }
  }
  const ComparisonData data{.answers = builder.build()};
  const ComparisonFit fit = preference_groups::PreferenceGroups().fit(data, RunContext());
  ASSERT_EQ(fit.group_count, 2U);
  EXPECT_NEAR(fit.group_share[0], 2.0 / 3, 0.05);
  for (std::size_t w = 0; w < 30; ++w) EXPECT_GT(fit.group_of_worker[w * 2 + (w < 10 ? 1 : 0)], 0.9) << w;
  EXPECT_GT(fit.group_score[7], fit.group_score[0]);          // the larger group likes the last item
  EXPECT_LT(fit.group_score[8 + 7], fit.group_score[8 + 0]);  // the smaller one the first
  EXPECT_FALSE(fit.explanation.empty());
}

TEST(PreferenceGroups, OneGroupIsThePlainModel) {
  ComparisonAnswersBuilder builder;
  for (int n = 0; n < 12; ++n) builder.add("w", "a", "b", n < 9 ? Outcome::left : Outcome::right);
  const ComparisonFit fit = preference_groups::PreferenceGroups({.groups = 1, .virtual_games = 1e-9})
                                .fit({.answers = builder.build()}, RunContext());
  EXPECT_NEAR(fit.score[0] - fit.score[1], std::log(3.0), 1e-4);
}

}  // namespace
}  // namespace wisecrowd
