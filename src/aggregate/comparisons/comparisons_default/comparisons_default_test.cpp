#include "aggregate/comparisons/comparisons_default/comparisons_default.hpp"

#include <gtest/gtest.h>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

ComparisonData crowd(bool adversaries) {
  Rng rng(9);
  ComparisonAnswersBuilder builder;
  for (int w = 0; w < 24; ++w) {
    for (int n = 0; n < 50; ++n) {
      const int i = static_cast<int>(rng.below(12)), j = (i + 1 + static_cast<int>(rng.below(11))) % 12;
      bool left = rng.bernoulli(sigmoid(0.5 * (i - j)));
      if (adversaries && w < 8) left = !left;
      builder.add("w" + std::to_string(10 + w), "i" + std::to_string(10 + i), "i" + std::to_string(10 + j),
                  left ? Outcome::left : Outcome::right);
    }
  }
  return {.answers = builder.build()};
}

TEST(ComparisonsDefault, TakesWorkersIntoAccountWhereThatPredictsBetter) {
  const ComparisonFit noisy = comparisons_default::ComparisonsDefault().fit(crowd(true), RunContext());
  EXPECT_EQ(noisy.explanation.substr(0, 8), "crowd_bt") << noisy.explanation;
  const ComparisonFit plain = comparisons_default::ComparisonsDefault().fit(crowd(false), RunContext());
  EXPECT_EQ(plain.explanation.substr(0, 13), "bradley_terry") << plain.explanation;
}

TEST(ComparisonsDefault, WithFewAnswersNothingIsJudged) {
  ComparisonAnswersBuilder builder;
  builder.add("w", "a", "b", Outcome::left);
  const ComparisonFit fit = comparisons_default::ComparisonsDefault().fit({.answers = builder.build()}, RunContext());
  EXPECT_NE(fit.explanation.find("too few answers"), std::string::npos);
  EXPECT_GT(fit.score[0], fit.score[1]);
}

}  // namespace
}  // namespace wisecrowd
