#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/rng.hpp"
#include "wisecrowd/dependence.hpp"

namespace wisecrowd {
namespace {

/// 20 workers on their own who are right in 70 %; after them copies of a source that is right in 95 %, and copies of
/// one that is right in 40 %.
CategoryAnswers two_camps(int right_ones, int wrong_ones) {
  Rng rng(7);
  CategoryAnswersBuilder builder({"0", "1", "2"});
  for (int t = 0; t < 500; ++t) {
    const int truth = t % 3;
    const auto say = [&](double accuracy) {
      return rng.bernoulli(accuracy) ? truth : (truth + 1 + static_cast<int>(rng.below(2))) % 3;
    };
    const int right = say(0.95), wrong = say(0.4);
    for (int w = 0; w < 20 + right_ones + wrong_ones; ++w) {
      const int copied = w < 20 + right_ones ? right : wrong;
      const int said = w < 20 || rng.bernoulli(0.1) ? say(0.7) : copied;
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), std::to_string(said));
    }
  }
  return builder.build();
}

TEST(Dependence, NoSidesAreTakenForALargerGroup) {
  const auto acted_on = [](int right_ones, int wrong_ones) {
    std::set<std::size_t> sizes;
    const Dependence found = find_dependence({.answers = two_camps(right_ones, wrong_ones)}, {}, RunContext());
    EXPECT_EQ(found.groups.size(), 2U);
    for (const DependentGroup& group : found.groups) {
      if (group.acted_on) sizes.insert(group.workers.size());
    }
    return sizes;
  };
  EXPECT_EQ(acted_on(4, 8), std::set<std::size_t>{8});
  EXPECT_EQ(acted_on(8, 4), std::set<std::size_t>{});
}

}  // namespace
}  // namespace wisecrowd
