#include "select/random/random.hpp"

#include <gtest/gtest.h>

#include "support/open_crowd.hpp"

namespace wisecrowd::random_selector {
namespace {

using testing::changed;
using testing::OpenCrowd;

TEST(RandomSelector, AsksManyDifferentPairs) {
  const OpenCrowd crowd(5, 40, 10, 2);
  SelectionRequest request;
  request.pairs = 100;
  const Selection one = select(crowd.view(), request, "random", changed("random", {}), RunContext());
  request.round = 1;
  const Selection other = select(crowd.view(), request, "random", changed("random", {}), RunContext());
  ASSERT_EQ(one.choices.size(), 100U);
  std::size_t same = 0;
  for (std::size_t n = 0; n < 100; ++n) same += one.choices[n].task == other.choices[n].task ? 1 : 0;
  EXPECT_LT(same, 20U);  // by chance 2.5
}

TEST(RandomSelector, RandomTaskBestWorker) {
  const OpenCrowd crowd(6, 40, 10, 3);
  CrowdView view = crowd.view();
  view.asked = {};
  SelectionRequest request;
  request.pairs = 20;
  const Selection selection =
      select(view, request, "random", changed("random", {{"worker", "accuracy"}, {"per_task", "1"}}), RunContext());
  for (const Choice& choice : selection.choices) {
    const auto right = [&](std::size_t worker) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += crowd.q(index(choice.task))[k] * crowd.table(worker)[k * 4];
      return sum;
    };
    for (std::size_t j = 0; j < 10; ++j) EXPECT_GE(right(index(choice.worker)), right(j) - 1e-12);
  }
}

}  // namespace
}  // namespace wisecrowd::random_selector
