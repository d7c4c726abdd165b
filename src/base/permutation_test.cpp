#include "base/permutation.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace wisecrowd {
namespace {

TEST(Permutation, IsAPermutationForEveryLength) {
  for (std::uint64_t n = 1; n < 300; ++n) {
    const Permutation order(n, Rng(n));
    std::vector<bool> seen(n, false);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t to = order(i);
      ASSERT_LT(to, n);
      ASSERT_FALSE(seen[to]);
      seen[to] = true;
    }
  }
}

TEST(Permutation, LooksShuffled) {
  const std::uint64_t n = 100000;
  const Permutation order(n, Rng(1));
  double product = 0;
  double steps = 0;
  const double mean = (n - 1) / 2.0;
  const double variance = (static_cast<double>(n) * n - 1) / 12;
  for (std::uint64_t i = 0; i + 1 < n; ++i) {
    const auto here = static_cast<double>(order(i)) - mean;
    product += here * (static_cast<double>(i) - mean) / variance / n;
    steps += here * (static_cast<double>(order(i + 1)) - mean) / variance / n;
  }
  EXPECT_NEAR(product, 0, 0.02);  // 6 standard errors
  EXPECT_NEAR(steps, 0, 0.02);
}

}  // namespace
}  // namespace wisecrowd
