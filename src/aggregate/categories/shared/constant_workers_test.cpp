#include "aggregate/categories/shared/constant_workers.hpp"

#include <gtest/gtest.h>

#include "aggregate/categories/shared/vote_rows.hpp"

namespace wisecrowd {
namespace {

/// One letter per answer: worker w says said[w][t] of task t.
CategoryData crowd_of(const std::vector<std::string>& said) {
  CategoryAnswersBuilder builder({"a", "b"});
  for (std::size_t w = 0; w < said.size(); ++w) {
    for (std::size_t t = 0; t < said[w].size(); ++t) {
      if (said[w][t] != '-') builder.add(std::to_string(100 + t), std::to_string(w), std::string(1, said[w][t]));
    }
  }
  return {builder.build(), {}, {}};
}

TEST(ConstantWorkers, AreThoseWhomChanceDoesNotExplain) {
  // 36 of 52 answers are a: sixteen in a row are one in 360, five more would do; b's are rarer.
  EXPECT_EQ(constancy_of(crowd_of({"aaaaaaaaaaaaaaaa", "abababababababab", "babababababababa", "aaaa"})).constant, 0U);
  EXPECT_EQ(constancy_of(crowd_of({"bbbbbbbb", "abaaabaa", "aabaaaba", "aaaaaaaa"})).is_constant,
            (std::vector<bool>{true, false, false, false}));
  const CategoryData longer = crowd_of(
      {"aaaaaaaaaaaaaaaaaaaa", "abababababababababab", "babababababababababa", "babababababababababa", "aaaa"});
  EXPECT_EQ(constancy_of(longer).is_constant, (std::vector<bool>{true, false, false, false, false}));
  CategoryData trusted = longer;
  trusted.trusted = {WorkerId{0}};
  EXPECT_EQ(constancy_of(trusted).constant, 0U);
  const CategoryData rest = without_answers_of(longer, constancy_of(longer).is_constant);
  EXPECT_EQ(rest.answers.answer_count(), 64U);
  EXPECT_EQ(rest.answers.worker_count(), 5U);
}

// By hand: two workers with (2 a, 1 b) and (0, 3): W = (3·(2/6) + 3·1)/6 = 2/3, shares 1/3 and 2/3.
TEST(ConstantWorkers, DiversityByHand) {
  EXPECT_NEAR(constancy_of(crowd_of({"aab", "bbb"})).diversity, (1.0 / 3) / (1 - 5.0 / 9), 1e-12);
  EXPECT_EQ(constancy_of(crowd_of({"aaa", "bbb"})).diversity, 0);
  EXPECT_EQ(constancy_of(crowd_of({"aaa", "aaa"})).diversity, 1) << "nobody says anything else: nothing to tell";
  EXPECT_FALSE(constancy_of(crowd_of({"aaa", "bbb"})).rules) << "so few answers may be chance";
}

// Votes of task 0: a, a, b. Agreement with the vote: 3/3, 2/3, 2/3. With one vote more, spread evenly.
TEST(VoteRows, ByHand) {
  const CategoryData data = crowd_of({"aab", "aaa", "bab"});
  std::vector<double> row(2);
  VoteRows(data, {}, false).row(0, row);
  EXPECT_NEAR(row[0], 2.5 / 4, 1e-12);
  VoteRows(data, {}, true).row(0, row);
  const double first = 3 * (1 + 2.0 / 3) / (1 + 2.0 / 3 + 2.0 / 3);
  EXPECT_NEAR(row[0], (2.5 + first + 0.5) / 8, 1e-12);
  const std::vector<std::uint32_t> voices{0, 0, 1};
  VoteRows(data, voices, false).row(0, row);
  EXPECT_NEAR(row[0], 1.5 / 3, 1e-12);
}

}  // namespace
}  // namespace wisecrowd
