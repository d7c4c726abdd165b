#include "wisecrowd/evaluate_ordered.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

std::vector<ClassId> ids(std::initializer_list<int> values) {
  std::vector<ClassId> list;
  for (const int value : values) list.push_back(value < 0 ? kNoClass : ClassId(value));
  return list;
}

TEST(EvaluateRanks, ByHand) {
  const auto labels = ids({0, 1, 2, 3, -1, 2});
  const auto gold = ids({0, 2, 2, 1, 1, -1});
  const RankScores scores = evaluate_ranks(labels, gold, 4, RunContext());
  EXPECT_DOUBLE_EQ(scores.rank_error.value, (0 + 1 + 0 + 2) / 4.0);
  // Squares: 5 of 4 tasks. By chance: all 16 pairs of a label and a gold class.
  double chance = 0;
  for (const int a : {0, 1, 2, 3}) {
    for (const int b : {0, 2, 2, 1}) chance += (a - b) * (a - b) / 16.0;
  }
  EXPECT_NEAR(scores.quadratic_kappa.value, 1 - 5 / 4.0 / chance, 1e-12);
  EXPECT_LE(scores.rank_error.low, scores.rank_error.value);
  EXPECT_GE(scores.rank_error.high, scores.rank_error.value);
}

TEST(EvaluateRanks, PerfectAndConstant) {
  const auto gold = ids({0, 1, 2, 1});
  const RankScores perfect = evaluate_ranks(gold, gold, 3, RunContext());
  EXPECT_EQ(perfect.rank_error.value, 0);
  EXPECT_EQ(perfect.quadratic_kappa.value, 1);
  const auto same = ids({1, 1, 1});
  EXPECT_EQ(evaluate_ranks(same, same, 3, RunContext()).quadratic_kappa.value, 0);  // nothing to explain
  EXPECT_THROW(static_cast<void>(evaluate_ranks(ids({0, -1}), ids({-1, 0}), 3, RunContext())), Error);
}

/// The deviation of a mean is known: intervals are as wide.
TEST(EvaluateRanks, IntervalsAreAsWideAsTheyShouldBe) {
  Rng rng(3);
  std::vector<ClassId> labels, gold;
  double sum = 0, squares = 0;
  for (int t = 0; t < 2000; ++t) {
    labels.push_back(ClassId(rng.below(5)));
    gold.push_back(ClassId(rng.below(5)));
    const double error = std::abs(static_cast<double>(index(labels.back())) - static_cast<double>(index(gold.back())));
    sum += error;
    squares += error * error;
  }
  const double deviation = std::sqrt((squares / 2000 - sum * sum / 4e6) / 2000);
  const RankScores scores = evaluate_ranks(labels, gold, 5, RunContext({.threads = 1}));
  EXPECT_NEAR(scores.rank_error.high - scores.rank_error.low, 2 * 1.96 * deviation, 0.3 * deviation);
  EXPECT_LT(scores.quadratic_kappa.low, 0);
  EXPECT_GT(scores.quadratic_kappa.high, 0);
  const RankScores again = evaluate_ranks(labels, gold, 5, RunContext({.threads = 3}));
  EXPECT_EQ(again.rank_error.low, scores.rank_error.low);
}

}  // namespace
}  // namespace wisecrowd
