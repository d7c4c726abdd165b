#include "aggregate/shared/copied_workers.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

/// Ten independent workers of accuracy .7; with `copies`, workers 8 and 9 repeat worker 0 with that probability.
Dataset crowd_with_copies(std::uint64_t seed, int tasks, double copies) {
  Rng rng(seed);
  AnnotationsBuilder builder({"0", "1", "2"});
  for (int w = 0; w < 10; ++w) builder.add_worker(std::to_string(w));
  for (int t = 0; t < tasks; ++t) {
    int first = 0;
    for (int w = 0; w < 10; ++w) {
      int label = rng.bernoulli(0.7) ? t % 3 : static_cast<int>(rng.below(3));
      if (w == 0) first = label;
      if (w >= 8 && rng.bernoulli(copies)) label = first;
      builder.add(std::to_string(t), std::to_string(w), std::to_string(label));
    }
  }
  return {builder.build(), {}, {}};
}

TEST(CopiedWorkers, IndependentWorkersAreNotSuspected) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Dataset data = crowd_with_copies(seed, 200, 0);
    EXPECT_TRUE(copied_workers(data, RunContext()).empty()) << seed;
  }
}

TEST(CopiedWorkers, CopiesAreFound) {
  using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;
  const Pairs planted = {{0, 8}, {0, 9}, {8, 9}};
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Dataset data = crowd_with_copies(seed, 150, 0.97);
    const auto pairs = copied_workers(data, RunContext());
    for (const auto& pair : pairs) {
      EXPECT_TRUE(planted.contains({pair.first, pair.second})) << seed;
      EXPECT_GT(pair.agreement, pair.expected);
      ++found;
    }
    if (pairs.size() == 3) {
      EXPECT_NE(copied_workers_warning(data, pairs)->message.find("2 more pairs look alike"), std::string::npos);
    }
  }
  EXPECT_GE(found, 114U);  // of 120
}

TEST(CopiedWorkers, TheSameForAnyNumberOfThreads) {
  const Dataset data = crowd_with_copies(3, 300, 0.95);
  const auto one = copied_workers(data, RunContext({.threads = 1}));
  const auto three = copied_workers(data, RunContext({.threads = 3}));
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].z, three[i].z);
  EXPECT_FALSE(copied_workers_warning(data, {}));
}

TEST(CopiedWorkers, NothingToCompare) {
  AnnotationsBuilder builder({"a", "b"});
  builder.add("t", "v", "a").add("t", "w", "a");
  const Dataset data{builder.build(), {}, {}};
  EXPECT_TRUE(copied_workers(data, RunContext()).empty());
}

}  // namespace
}  // namespace wisecrowd
