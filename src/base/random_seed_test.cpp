#include "base/random_seed.hpp"

#include <gtest/gtest.h>

#include <set>

namespace wisecrowd {
namespace {

TEST(RandomSeed, IsAnotherEveryTimeAndUsesAllBits) {
  std::set<std::uint64_t> seen;
  std::uint64_t ones = 0, zeros = 0;
  for (int n = 0; n < 1000; ++n) {
    const std::uint64_t seed = random_seed();
    seen.insert(seed);
    ones |= seed;
    zeros |= ~seed;
  }
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(ones, ~std::uint64_t{0});
  EXPECT_EQ(zeros, ~std::uint64_t{0});
}

}  // namespace
}  // namespace wisecrowd
