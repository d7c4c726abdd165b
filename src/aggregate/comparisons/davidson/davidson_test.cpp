#include "aggregate/comparisons/davidson/davidson.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/comparisons.hpp"

namespace wisecrowd {
namespace {

using testing::compared;

TEST(Davidson, TwoItemsHaveAClosedForm) {
  const ComparisonFit fit = davidson::Davidson().fit(compared({{"a", "b", 800, 200, 400}}), RunContext());
  EXPECT_NEAR(fit.score[0] - fit.score[1], std::log(4.0), 1e-3);  // the half tie that is added moves ν
  EXPECT_NEAR(fit.learned.at(0).second, 400 / std::sqrt(800.0 * 200), 5e-3);
}

TEST(Davidson, WithoutTiesItIsBradleyTerry) {
  const ComparisonFit fit =
      davidson::Davidson().fit(compared({{"a", "b", 7, 3, 0}, {"b", "c", 6, 5, 0}, {"a", "c", 8, 4, 0}}), RunContext());
  const std::vector<double> reference =
      testing::hunters_scores(compared({{"a", "b", 7, 3, 0}, {"b", "c", 6, 5, 0}, {"a", "c", 8, 4, 0}}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(fit.score[i], reference[i], 0.03);  // ν is small, not 0
}

TEST(Davidson, PredictsTiesOfThoseWhoSayThem) {
  ComparisonAnswersBuilder builder;
  for (int i = 0; i < 50; ++i) {
    builder.add("ties", "a", "b", Outcome::tie).add("decides", "a", "b", i % 3 == 0 ? Outcome::right : Outcome::left);
  }
  const ComparisonData data{.answers = builder.build()};
  const ComparisonAnswer asked[] = {{TaskId{0}, WorkerId{1}, ItemId{0}, ItemId{1}, Outcome::tie},
                                    {TaskId{0}, WorkerId{0}, ItemId{0}, ItemId{1}, Outcome::tie}};
  ASSERT_EQ(data.answers.worker_names()[1], "ties");
  const auto logs = davidson::Davidson().log_predictive(data, asked, RunContext());
  EXPECT_GT(logs[0], logs[1] + 0.5);
}

}  // namespace
}  // namespace wisecrowd
