#include "base/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

TEST(BestAssignment, EqualsBruteForce) {
  Rng rng(7);
  for (std::size_t n = 1; n <= 6; ++n) {
    for (int repetition = 0; repetition < 20; ++repetition) {
      std::vector<double> gain(n * n);
      for (double& g : gain) g = rng.normal();
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), 0U);
      const auto total = [&](const std::vector<std::size_t>& p) {
        double sum = 0;
        for (std::size_t r = 0; r < n; ++r) sum += gain[r * n + p[r]];
        return sum;
      };
      double best = -1e300;
      do {
        best = std::max(best, total(order));
      } while (std::next_permutation(order.begin(), order.end()));
      EXPECT_NEAR(total(best_assignment(gain, n)), best, 1e-12);
    }
  }
}

}  // namespace
}  // namespace wisecrowd
