#include "wisecrowd/preferences.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wisecrowd/comparison_aggregator.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

TEST(Preferences, WithoutWrongPairsTheLossesAreDpo) {
  for (const double m : {-3.0, 0.0, 0.7, 40.0, -800.0}) {
    EXPECT_DOUBLE_EQ(robust_dpo_loss(m, 0), dpo_loss(m));
    EXPECT_DOUBLE_EQ(conservative_dpo_loss(m, 0), dpo_loss(m));
    EXPECT_TRUE(std::isfinite(dpo_loss(m)));
  }
  EXPECT_NEAR(dpo_loss(0.5), std::log1p(std::exp(-0.5)), 1e-15);
}

TEST(Preferences, TheRobustLossIsUnbiased) {
  for (const double e : {0.1, 0.3, 0.45}) {
    for (const double m : {-2.0, 0.3, 5.0}) {
      const double noisy = (1 - e) * robust_dpo_loss(m, e) + e * robust_dpo_loss(-m, e);
      EXPECT_NEAR(noisy, dpo_loss(m), 1e-9);
      EXPECT_NEAR((1 - e) * dpo_loss(m) + e * dpo_loss(-m), conservative_dpo_loss(m, e), 1e-12);
    }
  }
  EXPECT_THROW((void)robust_dpo_loss(1, 0.5), Error);
  EXPECT_THROW((void)conservative_dpo_loss(1, -0.1), Error);
  EXPECT_THROW((void)robust_dpo_loss(1, std::nan("")), Error);
}

TEST(Preferences, AreWrittenAsTrlReadsThem) {
  ComparisonAnswersBuilder builder;
  for (int i = 0; i < 6; ++i) builder.add("w" + std::to_string(i), "good", "bad \"one\"", Outcome::left);
  ComparisonData data{.answers = builder.build()};
  ComparisonFit fit = aggregate(data, "bradley_terry");
  const ComparisonResult result = make_result(std::move(data), std::move(fit), {});
  const std::string lines = preferences_jsonl(result);
  EXPECT_EQ(lines.rfind("{\"prompt\":\"\",\"chosen\":\"good\",\"rejected\":\"bad \\\"one\\\"\",\"weight\":", 0), 0U)
      << lines;
  const auto listed = preferences(result.data.answers, result.fit);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_GT(listed[0].weight, 0.5);
  EXPECT_THROW((void)preferences_jsonl(result, {{"p", "x"}, {"q", "y"}}), Error);
}

}  // namespace
}  // namespace wisecrowd
