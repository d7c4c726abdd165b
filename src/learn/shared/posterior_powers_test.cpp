#include "learn/shared/posterior_powers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

/// Tasks of three classes: what an exact network says of N(1.5 e_z, I), and what independent workers, right in 60 %,
/// say; each of them `copies` times.
struct World {
  std::vector<double> log_network, log_likelihoods;
  explicit World(std::size_t tasks, int workers, int copies, std::uint64_t seed) {
    Rng rng(seed);
    for (std::size_t i = 0; i < tasks; ++i) {
      const std::size_t truth = rng.below(3);
      std::vector<double> f(3), likelihood(3, 0.0);
      for (std::size_t k = 0; k < 3; ++k) f[k] = 1.5 * ((k == truth ? 1.5 : 0) + rng.normal());
      softmax(f);
      for (int j = 0; j < workers; ++j) {
        const std::size_t said = rng.bernoulli(.6) ? truth : (truth + 1 + rng.below(2)) % 3;
        for (std::size_t k = 0; k < 3; ++k) likelihood[k] += copies * std::log(k == said ? .6 : .2);
      }
      for (std::size_t k = 0; k < 3; ++k) {
        log_network.push_back(std::log(f[k]));
        log_likelihoods.push_back(likelihood[k]);
      }
    }
  }
  [[nodiscard]] PosteriorPowers found(double network_sureness = 1) const {
    std::vector<double> sure = log_network;
    for (double& value : sure) value *= network_sureness;
    return most_informative({sure.data(), sure.size() / 3, 3}, {log_likelihoods.data(), log_likelihoods.size() / 3, 3});
  }
};

TEST(PosteriorPowers, WhatIsExactStaysAsItIs) {
  const PosteriorPowers powers = World(20000, 5, 1, 1).found();
  EXPECT_EQ(powers.network, 1);
  EXPECT_EQ(powers.answers, 1);
}

/// Everybody has a copy: each answer counts for half of one. Answers foretold from their copies would not show it.
TEST(PosteriorPowers, CopiesCountOnce) {
  const PosteriorPowers powers = World(20000, 3, 2, 2).found();
  EXPECT_EQ(powers.network, 1);
  EXPECT_NEAR(powers.answers, .5, .06);
}

TEST(PosteriorPowers, ATooSureOrTooShyNetworkIsCorrected) {
  EXPECT_EQ(World(20000, 5, 1, 3).found(2).network, .5);
  EXPECT_EQ(World(20000, 5, 1, 4).found(.5).network, 2);
}

}  // namespace
}  // namespace wisecrowd
