#include "aggregate/comparisons/noisy_bradley_terry/noisy_bradley_terry.hpp"

#include <gtest/gtest.h>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

TEST(NoisyBradleyTerry, FindsThoseWhoClickOnOneSide) {
  Rng rng(5);
  ComparisonAnswersBuilder builder;
  for (int w = 0; w < 20; ++w) {
    for (int n = 0; n < 80; ++n) {
      const int i = static_cast<int>(rng.below(10)), j = (i + 1 + static_cast<int>(rng.below(9))) % 10;
      bool left = rng.bernoulli(sigmoid(0.6 * (i - j)));
      if (w < 4) left = true;
      builder.add("w" + std::to_string(10 + w), "i" + std::to_string(i), "i" + std::to_string(j),
                  left ? Outcome::left : Outcome::right);
    }
  }
  const ComparisonData data{.answers = builder.build()};
  const ComparisonFit fit = noisy_bradley_terry::NoisyBradleyTerry().fit(data, RunContext());
  for (std::size_t w = 0; w < 20; ++w) {
    EXPECT_EQ(fit.reliability[w] < 0.4, w < 4) << w << ' ' << fit.reliability[w];
    if (w < 4) {
      EXPECT_GT(fit.side_bias[w], 0.8);
    }
  }
  for (std::size_t i = 1; i < 10; ++i) EXPECT_GT(fit.score[i], fit.score[i - 1]);
  for (std::size_t i = 1; i < fit.trace.size(); ++i) EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-6);
}

}  // namespace
}  // namespace wisecrowd
