#include "select/entropy/entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/open_crowd.hpp"

namespace wisecrowd::entropy_selector {
namespace {

using testing::changed;
using testing::OpenCrowd;

TEST(EntropySelector, BoundsAndGoldenValue) {
  EXPECT_NEAR(score(std::vector<double>{.5, .3, .2}), 1.029653014065, 1e-12);
  EXPECT_EQ(score(std::vector<double>{0, 1, 0}), 0);
  EXPECT_NEAR(score(std::vector<double>{.25, .25, .25, .25}), std::log(4.0), 1e-12);
}

/// Tasks come in the order of their scores.
TEST(EntropySelector, AsksTheHighestFirst) {
  const OpenCrowd crowd(2, 30, 5, 4);
  SelectionRequest request;
  request.pairs = 30;
  const Selection selection = select(crowd.view(), request, "entropy", changed("entropy", {}), RunContext());
  ASSERT_EQ(selection.choices.size(), 30U);
  for (std::size_t n = 1; n < 30; ++n) {
    EXPECT_GE(score(crowd.q(index(selection.choices[n - 1].task))), score(crowd.q(index(selection.choices[n].task))));
  }
}

}  // namespace
}  // namespace wisecrowd::entropy_selector
