#include "select/predictive_entropy/predictive_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/open_crowd.hpp"

namespace wisecrowd::predictive_entropy_selector {
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

TEST(PredictiveEntropySelector, IsTheEntropyOfTheMean) {
  const Passes passes;
  EXPECT_NEAR(score(passes.view(), TaskId{0}), std::log(2.0), 1e-12);
  EXPECT_NEAR(score(passes.view(), TaskId{1}), std::log(2.0), 1e-12);
}

}  // namespace
}  // namespace wisecrowd::predictive_entropy_selector
