#include "aggregate/numbers/trimmed_mean/trimmed_mean.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "aggregate/numbers/shared/spread.hpp"

namespace wisecrowd {
namespace {

using trimmed_mean::trimmed;
using trimmed_mean::TrimmedMean;

TEST(TrimmedMean, ByHand) {
  const std::vector<double> ten{-1000, 1, 2, 3, 4, 5, 6, 7, 8, 999};
  EXPECT_DOUBLE_EQ(trimmed(ten, 10, 0.1), 4.5);
  EXPECT_DOUBLE_EQ(trimmed(ten, 0, 1.0 / 9), 5);  // of the nine without −1000: 2 … 8
  const std::vector<double> five{0, 1, 2, 3, 100};
  EXPECT_DOUBLE_EQ(trimmed(five, 5, 0.1), (0 * .5 + 1 + 2 + 3 + 100 * .5) / 4);  // half an answer at either end
  EXPECT_DOUBLE_EQ(trimmed(five, 5, 0.2), 2);
}

TEST(TrimmedMean, LiesBetweenMeanAndMedian) {
  const std::vector<double> odd{1, 2, 7}, even{1, 2, 7, 20}, one{3};
  for (const auto* values : {&odd, &even, &one}) {
    for (std::size_t left_out = values->size() == 1 ? 1 : 0; left_out <= values->size(); ++left_out) {
      EXPECT_NEAR(trimmed(*values, left_out, 0), numbers::mean_of(*values, left_out), 1e-12);
      EXPECT_NEAR(trimmed(*values, left_out, 0.49), numbers::median_of(*values, left_out), 0.3);
    }
  }
}

TEST(TrimmedMean, AWildAnswerInTenMovesLittle) {
  NumberAnswersBuilder calm, wild;
  for (int w = 0; w < 10; ++w) {
    calm.add("t", std::to_string(w), w);
    wild.add("t", std::to_string(w), w == 9 ? 1e99 : w);
  }
  EXPECT_EQ(TrimmedMean().fit({calm.build(), {}}, RunContext()).estimate,
            TrimmedMean().fit({wild.build(), {}}, RunContext()).estimate);
}

}  // namespace
}  // namespace wisecrowd
