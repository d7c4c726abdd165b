#include "select/dalc/dalc.hpp"

#include <gtest/gtest.h>

#include "support/open_crowd.hpp"

namespace wisecrowd::dalc_selector {
namespace {

using testing::changed;
using testing::OpenCrowd;

TEST(DalcSelector, MostUncertainTaskMostReliableWorker) {
  OpenCrowd crowd(3, 6, 5, 3);
  CrowdView view = crowd.view();
  view.asked = {};
  view.reliability = [](TaskId task, WorkerId worker) {
    return 0.4 + 0.1 * static_cast<double>((index(worker) + index(task)) % 5);
  };
  SelectionRequest request;
  request.pairs = 6;
  const Selection selection = select(view, request, "dalc", changed("dalc", {}), RunContext());
  ASSERT_EQ(selection.choices.size(), 6U);
  for (std::size_t n = 0; n < 6; ++n) {
    const Choice& choice = selection.choices[n];
    EXPECT_EQ((index(choice.worker) + index(choice.task)) % 5, 4U);  // eta = 0.8, the most there is
    if (n > 0) {
      EXPECT_GE(score(view, selection.choices[n - 1].task), score(view, choice.task));
    }
    // The gain is that of a worker who is right with eta and errs evenly.
    const std::vector<double> table = {.8, .1, .1, .1, .8, .1, .1, .1, .8};
    EXPECT_NEAR(choice.expected_gain, expected_information(crowd.q(index(choice.task)), table), 1e-12);
  }
}

TEST(DalcSelector, PassesOfTheNetworkCountMoreThanThePosterior) {
  OpenCrowd crowd(4, 2, 2, 2);
  crowd.posterior = {.5, .5, .99, .01};
  const std::vector<double> passes = {.99, .01, .5, .5};
  CrowdView view = crowd.view();
  view.asked = {};
  view.passes = passes;
  view.pass_count = 1;
  view.reliability = [](TaskId, WorkerId) { return 0.7; };
  SelectionRequest request;
  request.pairs = 1;
  EXPECT_EQ(index(select(view, request, "dalc", changed("dalc", {}), RunContext()).choices.at(0).task), 1U);
}

}  // namespace
}  // namespace wisecrowd::dalc_selector
