#include "aggregate/categories/glad/glad.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/slow_reference.hpp"

namespace wisecrowd::glad {
namespace {

double share_right(const std::vector<ClassId>& labels, const std::vector<ClassId>& gold) {
  double right = 0, all = 0;
  for (std::size_t t = 0; t < gold.size(); ++t) {
    if (gold[t] == kNoClass) continue;
    all += 1;
    right += labels[t] == gold[t] ? 1 : 0;
  }
  return right / all;
}

/// The log posterior by plain loops.
double slow_log_posterior(const CategoryData& data, const std::vector<double>& ability,
                          const std::vector<double>& log_easiness) {
  const auto classes = data.answers.class_count();
  double sum = 0;
  for (std::uint32_t t = 0; t < data.answers.task_count(); ++t) {
    double likelihood = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      double p = data.task_priors.empty() ? 1.0 / static_cast<double>(classes) : data.task_priors[t * classes + k];
      if (data.gold_of(TaskId{t}) != kNoClass && index(data.gold_of(TaskId{t})) != k) continue;
      for (std::size_t a = 0; a < data.answers.labels_of(TaskId{t}).size(); ++a) {
        const double u = ability[index(data.answers.workers_of(TaskId{t})[a])] * std::exp(log_easiness[t]);
        const bool right = index(data.answers.labels_of(TaskId{t})[a]) == k;
        p *= right ? 1 / (1 + std::exp(-u)) : 1 / (1 + std::exp(u)) / static_cast<double>(classes - 1);
      }
      likelihood += p;
    }
    sum += std::log(likelihood) - std::pow(log_easiness[t] - 1, 2) / 2;
  }
  for (const double a : ability) sum -= std::pow(a - 1, 2) / 2;
  return sum;
}

TEST(Glad, EndsWhereThePlainLogPosteriorIsFlat) {
  for (const bool extras : {false, true}) {
    auto crowd = testing::small_crowd(5, 40, 6, 3, 4);
    if (extras) {
      crowd.data.gold.assign(40, kNoClass);
      for (std::size_t t = 0; t < 10; ++t) crowd.data.gold[t] = crowd.truth[t];
      Rng rng(3);
      const std::vector<double> even(3, 3.0);
      crowd.data.task_priors.resize(120);
      for (std::size_t t = 0; t < 40; ++t) rng.dirichlet(even, std::span(crowd.data.task_priors).subspan(3 * t, 3));
    }
    const auto fit = Glad({.max_iterations = 3000, .tolerance = 0}).fit(crowd.data, RunContext());
    std::vector<double> ability = fit.skill, log_easiness;
    for (const double b : fit.task_score) log_easiness.push_back(std::log(b));
    EXPECT_NEAR(fit.trace.back(), slow_log_posterior(crowd.data, ability, log_easiness), 1e-9);
    constexpr double kStep = 1e-5;
    for (auto* group : {&ability, &log_easiness}) {
      for (double& x : *group) {
        const double held = x;
        x = held + kStep;
        const double up = slow_log_posterior(crowd.data, ability, log_easiness);
        x = held - kStep;
        const double down = slow_log_posterior(crowd.data, ability, log_easiness);
        x = held;
        EXPECT_NEAR((up - down) / (2 * kStep), 0, 2e-4);
      }
    }
    for (std::size_t i = 1; i < fit.trace.size(); ++i) EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-9);
  }
}

TEST(Glad, DerivativesAgreeWithDifferences) {
  Rng rng(6);
  for (const bool is_easiness : {false, true}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<double> chance(7), factor(7);
      for (double& c : chance) c = rng.uniform();
      for (double& f : factor) f = is_easiness ? rng.normal() : std::exp(rng.normal());
      const Coordinate coordinate{is_easiness, .5, 2};
      const double x = rng.normal(), h = 1e-5;
      const Slope here = slope(coordinate, x, chance, factor);
      const Slope up = slope(coordinate, x + h, chance, factor), down = slope(coordinate, x - h, chance, factor);
      EXPECT_NEAR((up.value - down.value) / (2 * h), here.first, 1e-5 * std::max(1.0, std::abs(here.first)));
      const double second = -(up.first - down.first) / (2 * h);
      EXPECT_GT(here.curvature, 0);
      if (!is_easiness) {
        EXPECT_NEAR(second, here.curvature, 1e-5 * here.curvature);
      } else {
        EXPECT_GE(here.curvature, second - 1e-5 * std::abs(second));
      }
    }
  }
}

// All tasks alike and no prior on abilities: one-coin EM with accuracy sigmoid(ability × easiness).
TEST(Glad, WithoutDifficultyItIsTheOneCoinModel) {
  const auto crowd = testing::small_crowd(11, 150, 8, 3, 5);
  const auto fit =
      Glad(
          {.ability_variance = 1e12, .easiness_variance = 0, .max_iterations = 500, .tolerance = 0, .newton_steps = 20})
          .fit(crowd.data, RunContext());
  const auto slow = testing::slow_em(crowd.data, false, 0, 500, [&](const testing::Counts& n) {
    testing::Counts tables = n;
    for (std::size_t j = 0; j < n.size(); ++j) {
      double right = 0, all = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        right += n[j][k][k];
        for (std::size_t l = 0; l < 3; ++l) all += n[j][k][l];
      }
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t l = 0; l < 3; ++l) tables[j][k][l] = k == l ? right / all : (1 - right / all) / 2;
      }
    }
    return tables;
  });
  EXPECT_NEAR(fit.log_likelihood, slow.log_likelihood.back(), 1e-6);
  for (std::size_t w = 0; w < 8; ++w) {
    EXPECT_NEAR(sigmoid(fit.skill[w] * std::exp(1.0)), slow.tables[w][0][0], 1e-6);
    EXPECT_NEAR(fit.confusion[w * 9], slow.tables[w][0][0], 1e-6);
  }
  for (std::size_t t = 0; t < 150; ++t) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(fit.posterior[t * 3 + k], slow.posterior[t][k], 1e-6);
  }
}

struct HardAndEasy {
  CategoryData data;
  std::vector<ClassId> truth;
  std::vector<double> ability, log_easiness;
};
HardAndEasy hard_and_easy(std::size_t tasks, std::size_t workers, std::size_t per_task, std::uint64_t seed) {
  Rng rng(seed);
  HardAndEasy crowd;
  for (std::size_t w = 0; w < workers; ++w) crowd.ability.push_back(1 + rng.normal());
  std::vector<CategoryAnswer> answers;
  std::vector<std::string> task_names, worker_names;
  for (std::size_t w = 0; w < workers; ++w) worker_names.push_back(std::to_string(w));
  for (std::size_t t = 0; t < tasks; ++t) {
    task_names.push_back(std::to_string(t));
    crowd.log_easiness.push_back(rng.normal());
    crowd.truth.push_back(ClassId{static_cast<std::uint16_t>(rng.below(2))});
    const std::size_t first = rng.below(workers);
    for (std::size_t a = 0; a < per_task; ++a) {
      const std::size_t w = (first + a * 7) % workers;
      const bool right = rng.bernoulli(sigmoid(crowd.ability[w] * std::exp(crowd.log_easiness[t])));
      const std::size_t said = right ? index(crowd.truth[t]) : 1 - index(crowd.truth[t]);
      answers.push_back({TaskId{static_cast<std::uint32_t>(t)}, WorkerId{static_cast<std::uint32_t>(w)},
                         ClassId{static_cast<std::uint16_t>(said)}});
    }
  }
  const std::vector<std::string> classes = {"0", "1"};
  crowd.data.answers =
      make_category_answers(answers, {NameTable(task_names), NameTable(worker_names), NameTable(classes)});
  return crowd;
}

double rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto ranks = [](const std::vector<double>& v) {
    std::vector<std::size_t> order(v.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return v[a] < v[b]; });
    std::vector<double> rank(v.size());
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<double>(i);
    return rank;
  };
  const auto a = ranks(x), b = ranks(y);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double up = 0, down = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    up += (a[i] - mean) * (b[i] - mean);
    down += (a[i] - mean) * (a[i] - mean);
  }
  return up / down;
}

TEST(Glad, RecoversAbilitiesAndEasiness) {
  const auto crowd = hard_and_easy(2000, 40, 15, 7);
  Options options;
  options.easiness_mean = 0;
  const auto fit = Glad(options).fit(crowd.data, RunContext());
  EXPECT_GT(rank_correlation(fit.skill, crowd.ability), .97);
  EXPECT_GT(rank_correlation(fit.task_score, crowd.log_easiness), .5);
  EXPECT_EQ(fit.task_score_name, "easiness");
}

TEST(Glad, DoesNotCollapseOnManyTasks) {
  const auto crowd = hard_and_easy(30000, 500, 10, 8);
  const auto fit = Glad().fit(crowd.data, RunContext());
  const auto votes = aggregate(crowd.data, "majority_vote");
  EXPECT_GT(share_right(fit.labels, crowd.truth), share_right(votes.labels, crowd.truth) + .01);
  EXPECT_EQ(fit.status, Status::converged);
}

TEST(Glad, ProductAsPublishedByCrowdKit) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const std::string folder = *root + "/aggregate/product";
  CategoryData data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", ReadOptions(), RunContext());
  const std::vector<ClassId> gold = std::exchange(data.gold, {});
  EXPECT_NEAR(share_right(Glad().fit(data, RunContext()).labels, gold), .928, .003);
}

}  // namespace
}  // namespace wisecrowd::glad
