#include "data/pair_labels.hpp"

#include <gtest/gtest.h>

#include "support/comparisons.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {
namespace {

/// Labels by scores that are all the same.
std::vector<double> labels_of(const ComparisonData& data) {
  ComparisonFit fit;
  fit.score.assign(data.answers.item_count(), 0);
  comparisons::label_pairs(data, fit, RunContext());
  return fit.pair_posterior;
}

TEST(PairLabels, WithoutTiesNoPairIsOne) {
  // As many for either item: where ties are known this would be called one.
  ComparisonData data = testing::compared({{"a", "b", 3, 3, 0}, {"b", "c", 5, 0, 0}, {"c", "d", 1, 1, 0}});
  const std::vector<double> labels = labels_of(data);
  ASSERT_EQ(labels.size(), 9U);
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(labels[t * 3 + 2], 0) << t;
    EXPECT_NEAR(labels[t * 3] + labels[t * 3 + 1], 1, 1e-12) << t;
  }
  EXPECT_NEAR(labels[0], 0.5, 1e-9);
  EXPECT_GT(labels[3], 0.9);
}

TEST(PairLabels, ATieThatIsKnownOrSaidMakesThemPossible) {
  ComparisonData data = testing::compared({{"a", "b", 3, 3, 0}, {"b", "c", 5, 0, 0}});
  data.gold = {Outcome::tie, Outcome::left};
  EXPECT_EQ(labels_of(data)[2], 1);
  EXPECT_GT(labels_of(testing::compared({{"a", "b", 1, 1, 8}, {"b", "c", 5, 0, 0}}))[2], 0.5);
}

}  // namespace
}  // namespace wisecrowd
