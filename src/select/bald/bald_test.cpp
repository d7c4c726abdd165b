#include "select/bald/bald.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/open_crowd.hpp"

namespace wisecrowd::bald_selector {
namespace {

using testing::changed;
using testing::OpenCrowd;

struct Passes {
  OpenCrowd crowd{3, 2, 3, 2};
  // Task 0: two passes that contradict each other. Task 1: two that agree on not knowing.
  std::vector<double> values = {.9, .1, .5, .5, .1, .9, .5, .5};
  CrowdView view() const {
    CrowdView view = crowd.view();
    view.passes = values;
    view.pass_count = 2;
    return view;
  }
};

TEST(BaldSelector, IsZeroWherePassesAgree) {
  const Passes passes;
  EXPECT_NEAR(score(passes.view(), TaskId{1}), 0, 1e-12);
  const double within = -.9 * std::log(.9) - .1 * std::log(.1);
  EXPECT_NEAR(score(passes.view(), TaskId{0}), std::log(2.0) - within, 1e-12);
}

TEST(BaldSelector, AsksWherePassesDisagree) {
  const Passes passes;
  SelectionRequest request;
  request.pairs = 1;
  const Selection selection = select(passes.view(), request, "bald", changed("bald", {}), RunContext());
  ASSERT_EQ(selection.choices.size(), 1U);
  EXPECT_EQ(index(selection.choices[0].task), 0U);
}

}  // namespace
}  // namespace wisecrowd::bald_selector
