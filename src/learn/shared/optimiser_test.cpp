#include "learn/shared/optimiser.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

/// Three steps of Adam as its paper writes them.
TEST(Optimiser, AdamAgreesWithItsDefinition) {
  ThreadPool pool(2);
  constexpr std::size_t kSize = 40000;
  std::vector<float> w(kSize), g(kSize);
  std::vector<double> expected(kSize), m(kSize, 0.0), v(kSize, 0.0);
  Rng rng(1);
  for (std::size_t i = 0; i < kSize; ++i) expected[i] = w[i] = static_cast<float>(rng.normal());
  Optimiser optimiser({.learning_rate = 0.01, .weight_decay = 0.1}, kSize);
  for (int t = 1; t <= 3; ++t) {
    for (std::size_t i = 0; i < kSize; ++i) {
      g[i] = static_cast<float>(rng.normal());
      const double gradient = g[i] + 0.1 * expected[i];
      m[i] = 0.9 * m[i] + 0.1 * gradient;
      v[i] = 0.999 * v[i] + 0.001 * gradient * gradient;
      expected[i] -= 0.01 * 0.5 * (m[i] / (1 - std::pow(0.9, t))) / (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8);
    }
    optimiser.step(w, g, 0.5, pool);
  }
  for (std::size_t i = 0; i < kSize; ++i) {
    ASSERT_NEAR(w[i], expected[i], 2e-5);
    ASSERT_EQ(g[i], 0.0F);
  }
}

TEST(Optimiser, EveryKindFindsTheBottomOfABowl) {
  ThreadPool pool(1);
  for (const char* kind : {"adam", "rmsprop", "sgd"}) {
    std::vector<float> w{3, -2}, g(2);
    Optimiser optimiser({.kind = value_in(kOptimiserNames, "optimiser", kind), .learning_rate = 0.01}, 2);
    for (int step = 0; step < 2000; ++step) {
      g = {2 * (w[0] - 1), 2 * (w[1] + 0.5F)};
      optimiser.step(w, g, step < 1000 ? 1 : 0.01, pool);
    }
    EXPECT_NEAR(w[0], 1, 1e-2) << kind;
    EXPECT_NEAR(w[1], -0.5, 1e-2) << kind;
  }
}

TEST(Optimiser, MovesARunningMeanAlong) {
  ThreadPool pool(2);
  constexpr std::size_t kSize = 40000;
  std::vector<float> w(kSize, 1), alone(kSize, 1), g(kSize, 1), same(kSize, 1), mean(kSize, 2);
  Optimiser averaged({}, kSize), plain({}, kSize);
  averaged.step(w, g, 1, mean, 0.25, pool);
  plain.step(alone, same, 1, pool);
  EXPECT_EQ(w, alone);
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_FLOAT_EQ(mean[i], 2 + 0.25F * (w[i] - 2));
}

/// Arithmetic with numbers below the normal ones is slow, so the moments of a unit without gradients must become 0.
TEST(Optimiser, AUnitThatDiedComesToRest) {
  ThreadPool pool(1);
  for (const char* kind : {"adam", "sgd"}) {
    std::vector<float> w{1}, g{0.5F};
    Optimiser optimiser({.kind = value_in(kOptimiserNames, "optimiser", kind), .learning_rate = 1e38}, 1);
    for (int step = 0; step < 1000; ++step) optimiser.step(w, g, step < 900 ? 0 : 1, pool);
    EXPECT_EQ(w[0], 1.0F) << kind;
  }
}

TEST(BlockAdam, MovesOnlyThoseWhoseGradientWasAskedFor) {
  BlockAdam blocks(std::vector<double>(6, 1.0), 2, 0.1);
  blocks.gradient(2)[0] += 5;
  blocks.gradient(0)[1] -= 5;
  EXPECT_EQ(blocks.touched().size(), 2U);
  EXPECT_EQ(blocks.gradient(2)[0], 5);
  blocks.step(1);
  EXPECT_TRUE(blocks.touched().empty());
  EXPECT_NEAR(blocks.of(2)[0], 0.9, 1e-6);
  EXPECT_NEAR(blocks.of(0)[1], 1.1, 1e-6);
  EXPECT_EQ(blocks.of(1)[0], 1.0);
  EXPECT_EQ(blocks.of(2)[1], 1.0);
  EXPECT_EQ(blocks.gradient(2)[0], 0);
}

}  // namespace
}  // namespace wisecrowd
