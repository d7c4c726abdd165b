#include "aggregate/categories/eigen_ratio/eigen_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/exact_crowds.hpp"
#include "support/population.hpp"

namespace wisecrowd {
namespace {

using eigen_ratio::Diagonal;
using eigen_ratio::EigenRatio;
using eigen_ratio::ratios;

TableModel coin_model(const std::vector<double>& accuracy) {
  TableModel model{2, {}, {0.3, 0.7}};
  for (const double p : accuracy) model.tables.insert(model.tables.end(), {p, 1 - p, 1 - p, p});
  return model;
}

WorkerLinks one_part(std::size_t workers) {
  WorkerLinks links;
  links.part.assign(workers, 0);
  links.linked.assign(workers, 1);
  links.settled.assign(workers, 1);
  return links;
}

TEST(EigenRatio, PopulationIsExactWhenAllMeet) {
  const std::vector<double> accuracy = {.9, .7, .6, .45, .8, .95};
  const auto pairs = testing::population_pairs(coin_model(accuracy));
  auto w = ratios(pairs, one_part(6), Diagonal::filled, RunContext());
  if (w[0] < 0) {
    for (double& x : w) x = -x;
  }
  for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(w[j], 2 * accuracy[j] - 1, 1e-6) << j;
}

/// Top eigenvalue and vector of a dense symmetric matrix by many plain power steps, shifted to make it positive.
std::pair<double, std::vector<double>> slow_top(const std::vector<std::vector<double>>& matrix) {
  const std::size_t n = matrix.size();
  const double shift = static_cast<double>(n);
  std::vector<double> x(n, 1.0), y(n);
  double length = 0;
  for (int step = 0; step < 20000; ++step) {
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = shift * x[i];
      for (std::size_t j = 0; j < n; ++j) y[i] += matrix[i][j] * x[j];
    }
    length = 0;
    for (const double v : y) length += v * v;
    length = std::sqrt(length);
    for (std::size_t i = 0; i < n; ++i) x[i] = y[i] / length;
  }
  return {length - shift, x};
}

// On an incomplete pattern, with ones on the diagonal, as the paper has it.
TEST(EigenRatio, AgreesWithASlowReference) {
  const auto crowd = testing::small_crowd(5, 60, 40, 2, 4);
  const RunContext context;
  const PairMoments pairs(crowd.data, context, {.detail = PairDetail::agreements, .min_common = 1});
  const auto ours = ratios(pairs, link_workers(crowd.data), Diagonal::ones, context);
  std::vector<std::vector<double>> agreement(40, std::vector<double>(40, 0)), pattern = agreement;
  for (std::size_t j = 0; j < 40; ++j) agreement[j][j] = pattern[j][j] = 1;
  for (const auto& pair : pairs.pairs()) {
    agreement[pair.first][pair.second] = agreement[pair.second][pair.first] = 2 * pair.agreements / pair.common - 1;
    pattern[pair.first][pair.second] = pattern[pair.second][pair.first] = 1;
  }
  const auto [first, numerator] = slow_top(agreement);
  const auto [second, denominator] = slow_top(pattern);
  const double sign = numerator[0] / denominator[0] * ours[0] > 0 ? 1 : -1;
  for (std::size_t j = 0; j < 40; ++j) {
    const double w = sign * std::sqrt(first / second) * numerator[j] / denominator[j];
    EXPECT_NEAR(ours[j], std::clamp(w, -1.0, 1.0), 1e-7);
  }
}

TEST(EigenRatio, PartsAreSolvedApart) {
  const auto left = testing::small_crowd(1, 200, 6, 2, 5), right = testing::small_crowd(2, 150, 7, 2, 5);
  std::vector<CategoryAnswer> both;
  const auto add = [&](const CategoryAnswers& answers, std::uint32_t first_task, std::uint32_t first_worker) {
    for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
      for (std::size_t a = 0; a < answers.workers_of(TaskId{t}).size(); ++a) {
        both.push_back({TaskId{first_task + t},
                        WorkerId{first_worker + static_cast<std::uint32_t>(index(answers.workers_of(TaskId{t})[a]))},
                        answers.labels_of(TaskId{t})[a]});
      }
    }
  };
  add(left.data.answers, 0, 0);
  add(right.data.answers, 200, 6);
  const auto names = [](std::size_t count) {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(std::to_string(i));
    return NameTable(list);
  };
  const auto result =
      EigenRatio().fit({make_category_answers(both, {names(350), names(13), names(2)}), {}, {}}, RunContext());
  const auto one = EigenRatio().fit(left.data, RunContext()), two = EigenRatio().fit(right.data, RunContext());
  for (std::size_t w = 0; w < 6; ++w) EXPECT_NEAR(result.skill[w], one.skill[w], 1e-7);
  for (std::size_t w = 0; w < 7; ++w) EXPECT_NEAR(result.skill[6 + w], two.skill[w], 1e-7);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0].code, "separate_parts");
}

// A crowd of liars is believed, unless gold contradicts.
TEST(EigenRatio, GoldTurnsAnAdversarialCrowd) {
  const std::vector<std::vector<std::size_t>> liar = {{1, 4}, {4, 1}}, half = {{2, 3}, {3, 2}};
  auto crowd = testing::exact_crowd({liar, liar, half, liar}, {1, 1});
  EXPECT_GT(EigenRatio().fit(crowd.data, RunContext()).skill[0], 0.5);
  crowd.data.gold.assign(crowd.truth.size(), kNoClass);
  for (std::size_t t = 0; t < crowd.truth.size(); t += 7) crowd.data.gold[t] = crowd.truth[t];
  EXPECT_LT(EigenRatio().fit(crowd.data, RunContext()).skill[0], -0.5);
}

// No published figures for these sets: what we measured, as a guard.
TEST(EigenRatio, MeasuredAccuracies) {
  if (!testing::real_data_folder())
    GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  EXPECT_NEAR(testing::real_accuracy("bluebird", "eigen_ratio"), .7222, .002);
  EXPECT_NEAR(testing::real_accuracy("rte", "eigen_ratio"), .9100, .002);
  EXPECT_NEAR(testing::real_accuracy("product", "eigen_ratio"), .9274, .002);
}

}  // namespace
}  // namespace wisecrowd
