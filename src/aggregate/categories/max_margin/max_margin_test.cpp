#include "aggregate/categories/max_margin/max_margin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd::max_margin {
namespace {

double share_right(const std::vector<ClassId>& labels, const std::vector<ClassId>& gold) {
  double right = 0;
  for (std::size_t t = 0; t < gold.size(); ++t) right += labels[t] == gold[t] ? 1 : 0;
  return right / static_cast<double>(gold.size());
}

/// ½|η−1|² + c Σ ξ by plain loops; and one of its subgradients.
double slow_objective(const CategoryAnswers& answers, const std::vector<ClassId>& label,
                      const std::vector<double>& weight, double cost, std::vector<double>* gradient = nullptr) {
  double sum = 0;
  if (gradient != nullptr) *gradient = weight;
  for (std::size_t w = 0; w < weight.size(); ++w) {
    sum += 0.5 * (weight[w] - 1) * (weight[w] - 1);
    if (gradient != nullptr) (*gradient)[w] -= 1;
  }
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    std::vector<double> score(answers.class_count(), 0.0);
    const auto labels = answers.labels_of(TaskId{t});
    const auto workers = answers.workers_of(TaskId{t});
    for (std::size_t a = 0; a < labels.size(); ++a) score[index(labels[a])] += weight[index(workers[a])];
    std::size_t rival = answers.class_count();
    for (std::size_t k = 0; k < score.size(); ++k) {
      if (k != index(label[t]) && (rival == score.size() || score[k] > score[rival])) rival = k;
    }
    const double slack = 3 - (score[index(label[t])] - score[rival]);
    if (slack <= 0) continue;
    sum += cost * slack;
    for (std::size_t a = 0; a < labels.size() && gradient != nullptr; ++a) {
      if (labels[a] == label[t]) (*gradient)[index(workers[a])] -= cost;
      if (index(labels[a]) == rival) (*gradient)[index(workers[a])] += cost;
    }
  }
  return sum;
}

// For the labels it ends with, the weights minimise the objective: subgradient descent by plain loops finds none lower,
// and gets as low.
TEST(MaxMargin, WeightsAreTheMinimum) {
  for (const std::size_t classes : {2U, 4U}) {
    const auto crowd = testing::small_crowd(41, 120, 9, classes, 4);
    const double cost = .1;
    const auto fit = MaxMargin({.cost = cost, .max_iterations = 100, .passes = 500}).fit(crowd.data, RunContext());
    ASSERT_EQ(fit.status, Status::converged);
    const double reached = slow_objective(crowd.data.answers, fit.labels, fit.skill, cost);
    EXPECT_NEAR(reached, -fit.trace.back(), 1e-9);
    std::vector<double> weight(9, 1.0), gradient;
    double lowest = 1e300;
    for (int step = 1; step <= 20000; ++step) {
      lowest = std::min(lowest, slow_objective(crowd.data.answers, fit.labels, weight, cost, &gradient));
      for (std::size_t w = 0; w < 9; ++w) weight[w] -= gradient[w] / (step + 1.0);
    }
    EXPECT_LE(reached, lowest + 1e-4 * lowest);
    EXPECT_NEAR(reached, lowest, 1e-2 * lowest);
  }
}

TEST(MaxMargin, LittleCostIsThePlainVote) {
  const auto crowd = testing::small_crowd(42, 200, 10, 3, 5);
  const auto fit = MaxMargin({.cost = 1e-14}).fit(crowd.data, RunContext());
  for (const double w : fit.skill) EXPECT_NEAR(w, 1, 1e-6);
  const auto votes = aggregate(crowd.data, "majority_vote");
  EXPECT_EQ(fit.labels, votes.labels);
}

TEST(MaxMargin, TurnsAdversariesAroundAndBeatsTheVote) {
  CategoryAnswersBuilder builder({"0", "1"});
  Rng rng(4);
  std::vector<ClassId> truth;
  for (int t = 0; t < 500; ++t) {
    truth.push_back(ClassId{static_cast<std::uint16_t>(rng.below(2))});
    const int z = static_cast<int>(index(truth.back()));
    for (int w = 0; w < 11; ++w) {
      const bool right = rng.bernoulli(w < 5 ? .85 : w < 9 ? .5 : .1);
      builder.add(std::to_string(t), std::to_string(w), std::to_string(right ? z : 1 - z));
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  const auto fit = MaxMargin({.margin = 10}).fit(data, RunContext());
  EXPECT_GT(share_right(fit.labels, truth), share_right(aggregate(data, "majority_vote").labels, truth) + .05);
  const auto of_name = [&](std::size_t name) {
    for (std::size_t w = 0; w < 11; ++w) {
      if (data.answers.worker_names()[w] == std::to_string(name)) return fit.skill[w];
    }
    return 0.0;
  };
  EXPECT_LT(of_name(10), 0);
  EXPECT_GT(of_name(0), of_name(6));
}

// With weights of one every vote without a tie leads by one: at that margin nothing is left to do.
TEST(MaxMargin, AMarginOfOneIsMetByThePlainVote) {
  CategoryAnswersBuilder builder({"0", "1"});
  Rng rng(5);
  for (int t = 0; t < 100; ++t) {
    for (int w = 0; w < 5; ++w) builder.add(std::to_string(t), std::to_string(w), std::to_string(rng.below(2)));
  }
  const auto fit = MaxMargin({.margin = 1}).fit({builder.build(), {}, {}}, RunContext());
  for (const double w : fit.skill) EXPECT_EQ(w, 1);
  EXPECT_EQ(fit.iterations, 1U);
}

TEST(MaxMargin, GoldTeachesTheWeights) {
  CategoryAnswersBuilder builder({"0", "1"});
  std::vector<ClassId> gold;
  for (int t = 0; t < 60; ++t) {
    // Two agree and are wrong, one is right; without gold the vote wins.
    builder.add(std::to_string(t), "a", std::to_string(t % 2));
    builder.add(std::to_string(t), "b", std::to_string(1 - t % 2));
    builder.add(std::to_string(t), "c", std::to_string(1 - t % 2));
    gold.push_back(t < 40 ? ClassId{static_cast<std::uint16_t>(t % 2)} : kNoClass);
  }
  CategoryData data{builder.build(), gold, {}};
  const auto fit = MaxMargin({.cost = .25}).fit(data, RunContext());
  for (std::size_t t = 40; t < 60; ++t) EXPECT_EQ(index(fit.labels[t]), t % 2);
}

}  // namespace
}  // namespace wisecrowd::max_margin
