#include "learn/shared/pair_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kItems = 5, kClusters = 3;

std::vector<double> random_rows() {
  Rng rng(2);
  std::vector<double> f(kItems * kClusters);
  const std::vector<double> alpha(kClusters, 1.0);
  for (std::size_t i = 0; i < kItems; ++i) rng.dirichlet(alpha, std::span(f).subspan(i * kClusters, kClusters));
  return f;
}

std::vector<PairAnswer> some_answers() {
  return {{0, 1, true, 0.1, 0.2}, {0, 2, false, 0.3, 0.05}, {3, 4, true, 0.4, 0.4}, {1, 4, false, 0.02, 0.45}};
}

TEST(PairLoss, GradientIsThatOfTheLoss) {
  const auto answers = some_answers();
  std::vector<double> f = random_rows(), gradient(f.size(), 0), unused(f.size());
  std::vector<RateGradient> rates(answers.size());
  (void)pair_loss(f, kClusters, answers, gradient, rates);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double at = f[i];
    f[i] = at + kStep;
    const double up = pair_loss(f, kClusters, answers, unused);
    f[i] = at - kStep;
    const double down = pair_loss(f, kClusters, answers, unused);
    f[i] = at;
    EXPECT_NEAR((up - down) / (2 * kStep), gradient[i], 1e-5 * std::max(1.0, std::abs(gradient[i])));
  }
  for (std::size_t a = 0; a < answers.size(); ++a) {
    for (const bool first : {true, false}) {
      auto moved = answers;
      double& rate = first ? moved[a].false_different : moved[a].false_same;
      rate += kStep;
      const double up = pair_loss(f, kClusters, moved, unused);
      rate -= 2 * kStep;
      const double down = pair_loss(f, kClusters, moved, unused);
      const double expected = first ? rates[a].false_different : rates[a].false_same;
      EXPECT_NEAR((up - down) / (2 * kStep), expected, 1e-5 * std::max(1.0, std::abs(expected)));
    }
  }
}

TEST(PairLoss, WithoutErrorsItIsTheLikelihoodOfTheSimilarity) {
  const std::vector<double> f{0.5, 0.5, 0, 0.2, 0.3, 0.5};
  std::vector<double> gradient(6, 0);
  const PairAnswer same[] = {{0, 1, true, 0, 0}}, different[] = {{0, 1, false, 0, 0}};
  EXPECT_NEAR(pair_loss(f, 3, same, gradient), -std::log(0.25), 1e-12);
  EXPECT_NEAR(gradient[0], -0.2 / 0.25, 1e-12);  // −f_i' / s
  EXPECT_NEAR(pair_loss(f, 3, different, gradient), -std::log(0.75), 1e-12);
}

TEST(CollapseLoss, GradientIsThatOfTheLoss) {
  std::vector<double> f = random_rows(), gradient(f.size(), 0), unused(f.size());
  (void)collapse_loss(f, kClusters, 0.7, gradient);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double at = f[i];
    f[i] = at + kStep;
    const double up = collapse_loss(f, kClusters, 0.7, unused);
    f[i] = at - kStep;
    const double down = collapse_loss(f, kClusters, 0.7, unused);
    f[i] = at;
    EXPECT_NEAR((up - down) / (2 * kStep), gradient[i], 1e-5 * std::max(1.0, std::abs(gradient[i])));
  }
}

TEST(CollapseLoss, AllAlikeIsWorst) {
  std::vector<double> apart(9, 0), alike(9, 0), unused(9);
  for (std::size_t i = 0; i < 3; ++i) apart[4 * i] = alike[3 * i] = 1;
  EXPECT_LT(collapse_loss(apart, 3, 1, unused), collapse_loss(alike, 3, 1, unused));
  EXPECT_TRUE(std::isfinite(collapse_loss(alike, 3, 1, unused)));
}

}  // namespace
}  // namespace wisecrowd
