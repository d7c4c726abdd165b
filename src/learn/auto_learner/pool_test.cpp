#include "learn/auto_learner/pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"
#include "learn/shared/dense_network.hpp"
#include "support/features.hpp"
#include "support/learning.hpp"

namespace wisecrowd::auto_learner {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

/// What is maximised: Σ_i log Σ_c w_c r_ci + prior Σ_c log w_c, for two members and the weight of the first.
double objective(const std::vector<std::vector<double>>& ratios, double prior, double weight) {
  double sum = prior * (std::log(weight) + std::log(1 - weight));
  for (std::size_t i = 0; i < ratios[0].size(); ++i) {
    sum += std::log(weight * ratios[0][i] + (1 - weight) * ratios[1][i]);
  }
  return sum;
}

TEST(Pool, WeightsMaximiseTheLikelihoodOfTheMixture) {
  const std::vector<std::vector<double>> ratios{{1.8, .4, 1.5, 1.2, .9, 1.7}, {.7, 1.3, 1.4, .2, 1.1, .6}};
  for (const double prior : {0.5, 2.0}) {
    const std::vector<double> weights = mixture_weights(ratios, prior);
    EXPECT_NEAR(weights[0] + weights[1], 1, 1e-12);
    for (double other = 0.01; other < 1; other += 0.01) {
      EXPECT_GE(objective(ratios, prior, weights[0]) + 1e-9, objective(ratios, prior, other)) << other;
    }
  }
}

TEST(Pool, AlikeMembersWeighAlikeAndAWorseOneLess) {
  const std::vector<double> good(50, 1.6), poor(50, 0.5);
  const std::vector<double> weights = mixture_weights(std::vector{good, good, poor}, 10);
  EXPECT_DOUBLE_EQ(weights[0], weights[1]);
  EXPECT_LT(weights[2], weights[0] / 2);
}

/// A classifier that says the class shares for every row tells nothing (a ratio of 1); one that knows the truth tells
/// more, one that is always wrong less.
TEST(Pool, TheJudgeNeedsNoGold) {
  const auto crowd = gaussian_crowd(3, 400, 0, 2, 1.3, max_mig_workers('H', 1));
  const TrainingSet all = training_set(crowd.data);
  const std::vector<TaskId> hidden(all.task.begin() + 100, all.task.begin() + 200);
  const RunContext context;
  const CrowdJudge judge(all, hidden, context);
  std::vector<double> shares(2, 0.0), right, wrong, guess;
  for (const TaskId task : all.task)
    shares[index(crowd.truth[index(task)])] += 1.0 / static_cast<double>(all.task_count());
  for (const TaskId task : hidden) {
    const bool second = crowd.truth[index(task)] == ClassId{1};
    right.insert(right.end(), {second ? .1 : .9, second ? .9 : .1});
    wrong.insert(wrong.end(), {second ? .9 : .1, second ? .1 : .9});
    guess.insert(guess.end(), {shares[0], shares[1]});
  }
  const auto mean_log = [&](const std::vector<double>& f) {
    double sum = 0;
    for (const double ratio : judge.ratios(f)) sum += std::log(ratio);
    return sum / 100;
  };
  EXPECT_NEAR(mean_log(guess), 0, 0.05);
  EXPECT_GT(mean_log(right), 0.15);
  EXPECT_LT(mean_log(wrong), -0.15);
}

/// The merged network gives the weighted sum of what its parts give, output by output under the class's name.
TEST(Pool, MergedNetworksGiveTheWeightedSum) {
  ThreadPool pool(1);
  const Features features = testing::random_rows(20, 6, 4);
  std::vector<std::uint32_t> rows(features.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  const auto outputs = [&](const std::vector<std::size_t>& widths, std::uint64_t seed, std::span<const float> numbers) {
    DenseNetwork network(6, widths, 0.5, seed, pool);
    if (!numbers.empty()) std::copy(numbers.begin(), numbers.end(), network.parameters().begin());
    std::vector<float> out(rows.size() * 3);
    network.forward(features, rows, Network::Mode::predict, out);
    return out;
  };
  for (const std::size_t layers : {0, 1, 2}) {
    const NetworkSpec spec{
        .kind = layers == 0 ? "linear" : "mlp", .hidden = 5, .layers = std::max<std::size_t>(layers, 1)};
    ASSERT_TRUE(can_merge(spec, 2));
    std::vector<std::size_t> widths(layers, 5), wide_widths(layers, wide(spec, 2).hidden);
    widths.push_back(3);
    wide_widths.push_back(3);
    DenseNetwork one(6, widths, 0.5, 1, pool), two(6, widths, 0.5, 2, pool);
    const std::vector<std::size_t> turned{1, 2, 0};
    const std::vector<DensePart> parts{{one.parameters(), {0, 1, 2}, .3}, {two.parameters(), turned, .7}};
    const std::vector<float> first = outputs(widths, 1, {}), second = outputs(widths, 2, {});
    const std::vector<float> both = outputs(wide_widths, 3, merged(parts, spec, 6, 3));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t k = 0; k < 3; ++k) {
        const float own = second[r * 3 + k], other = first[r * 3 + turned[k]];
        EXPECT_NEAR(both[r * 3 + turned[k]], .3 * other + .7 * own, 1e-5) << layers;
      }
    }
  }
  EXPECT_FALSE(can_merge({.kind = "cnn"}, 2));
}

}  // namespace
}  // namespace wisecrowd::auto_learner
