#include "select/margin/margin.hpp"

#include <gtest/gtest.h>

#include "support/open_crowd.hpp"

namespace wisecrowd::margin_selector {
namespace {

using testing::changed;
using testing::OpenCrowd;

TEST(MarginSelector, LooksAtTheFirstTwo) {
  EXPECT_NEAR(score(std::vector<double>{.5, .3, .2}), .8, 1e-12);
  EXPECT_NEAR(score(std::vector<double>{.2, .5, .3}), .8, 1e-12);
  EXPECT_NEAR(score(std::vector<double>{.4, .2, .4}), 1, 1e-12);
  EXPECT_NEAR(score(std::vector<double>{0, 0, 1}), 0, 1e-12);
}

/// Tasks come in the order of their scores.
TEST(MarginSelector, AsksTheHighestFirst) {
  const OpenCrowd crowd(2, 30, 5, 4);
  SelectionRequest request;
  request.pairs = 30;
  const Selection selection = select(crowd.view(), request, "margin", changed("margin", {}), RunContext());
  ASSERT_EQ(selection.choices.size(), 30U);
  for (std::size_t n = 1; n < 30; ++n) {
    EXPECT_GE(score(crowd.q(index(selection.choices[n - 1].task))), score(crowd.q(index(selection.choices[n].task))));
  }
}

}  // namespace
}  // namespace wisecrowd::margin_selector
