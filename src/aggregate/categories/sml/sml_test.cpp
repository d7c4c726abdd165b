#include "aggregate/categories/sml/sml.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/exact_crowds.hpp"

namespace wisecrowd {
namespace {

using sml::Sml;

// Specificity and sensitivity in fifths; classes 2 : 3.
const std::vector<std::vector<std::vector<std::size_t>>> kWorkers = {
    {{4, 1}, {2, 3}}, {{3, 2}, {1, 4}}, {{2, 3}, {0, 5}}, {{4, 1}, {1, 4}}, {{1, 4}, {3, 2}}};

TEST(Sml, PopulationIsExact) {
  const auto crowd = testing::exact_crowd(kWorkers, {2, 3});
  const auto result = Sml().fit(crowd.data, RunContext());
  EXPECT_EQ(result.status, Status::converged);
  const double b = 0.2;
  for (std::size_t w = 0; w < kWorkers.size(); ++w) {
    const double specificity = static_cast<double>(kWorkers[w][0][0]) / 5;
    const double sensitivity = static_cast<double>(kWorkers[w][1][1]) / 5;
    EXPECT_NEAR(result.skill[w], std::sqrt(1 - b * b) * (specificity + sensitivity - 1), 1e-8) << w;
  }
}

/// The same least squares over an explicit list of pairs.
std::vector<double> slow_factors(const CategoryAnswers& answers) {
  const std::size_t M = answers.worker_count();
  std::vector<double> mean(M, 0.0), n(M, 0.0);
  const auto code = [](ClassId l) { return index(l) == 1 ? 1.0 : -1.0; };
  for (std::size_t a = 0; a < answers.answer_count(); ++a) {
    mean[index(answers.workers()[a])] += code(answers.labels()[a]);
    n[index(answers.workers()[a])] += 1;
  }
  for (std::size_t w = 0; w < M; ++w) mean[w] /= n[w];
  std::vector<std::vector<double>> common(M, std::vector<double>(M, 0)), sum = common;
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId{t});
    const auto labels = answers.labels_of(TaskId{t});
    for (std::size_t a = 0; a < workers.size(); ++a) {
      for (std::size_t b = 0; b < workers.size(); ++b) {
        if (a == b) continue;
        const std::size_t i = index(workers[a]), j = index(workers[b]);
        common[i][j] += 1;
        sum[i][j] += (code(labels[a]) - mean[i]) * (code(labels[b]) - mean[j]);
      }
    }
  }
  std::vector<double> v(M, 0.5);
  for (int sweep = 0; sweep < 3000; ++sweep) {
    for (std::size_t i = 0; i < M; ++i) {
      double above = 0, below = 0;
      for (std::size_t j = 0; j < M; ++j) {
        above += sum[i][j] * v[j];
        below += common[i][j] * v[j] * v[j];
      }
      v[i] = std::clamp(above / below, -1.0, 1.0);
    }
  }
  return v;
}

TEST(Sml, AgreesWithLeastSquaresOverPairs) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto crowd = testing::small_crowd(seed, 300, 9, 2, 3 + seed);
    const auto result = Sml().fit(crowd.data, RunContext());
    const auto slow = slow_factors(crowd.data.answers);
    for (std::size_t w = 0; w < slow.size(); ++w) EXPECT_NEAR(result.skill[w], slow[w], 1e-6);
  }
}

TEST(Sml, TheVoteIsLinearInTheWeights) {
  const auto crowd = testing::small_crowd(5, 100, 8, 2, 4);
  const auto result = Sml().fit(crowd.data, RunContext());
  for (std::uint32_t t = 0; t < 100; ++t) {
    double score = 0;
    for (std::size_t a = 0; a < crowd.data.answers.workers_of(TaskId{t}).size(); ++a) {
      const double y = index(crowd.data.answers.labels_of(TaskId{t})[a]) == 1 ? 1 : -1;
      score += result.skill[index(crowd.data.answers.workers_of(TaskId{t})[a])] * y;
    }
    EXPECT_NEAR(result.posterior[t * 2 + 1], 1 / (1 + std::exp(-2 * score)), 1e-9);
  }
}

TEST(Sml, ObjectiveNeverFalls) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto crowd = testing::small_crowd(seed, 60, 12, 2, 2 + seed % 3);
    const auto result = Sml({.fit = {.max_iterations = 80, .tolerance = 0}}).fit(crowd.data, RunContext());
    for (std::size_t i = 1; i < result.trace.size(); ++i) ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-12);
  }
}

// Covariances do not know which of the two is which: a crowd that is mostly wrong turns everything around, unless gold
// says so.
TEST(Sml, AnAdversarialMajorityTurnsSignsAndGoldTurnsThemBack) {
  auto flipped = kWorkers;
  for (auto& worker : flipped) {
    for (auto& row : worker) std::swap(row[0], row[1]);
  }
  auto crowd = testing::exact_crowd(flipped, {1, 1});
  const auto right = [&](const CategoryFit& result) {
    double sum = 0;
    for (std::size_t t = 0; t < crowd.truth.size(); ++t) sum += result.labels[t] == crowd.truth[t] ? 1 : 0;
    return sum / static_cast<double>(crowd.truth.size());
  };
  EXPECT_LT(right(Sml().fit(crowd.data, RunContext())), 0.4);
  crowd.data.gold.assign(crowd.truth.size(), kNoClass);
  for (std::size_t t = 0; t < crowd.truth.size(); t += 100) crowd.data.gold[t] = crowd.truth[t];
  const auto result = Sml().fit(crowd.data, RunContext());
  EXPECT_GT(right(result), 0.75);
  EXPECT_LT(result.skill[3], 0);
}

TEST(Sml, DegenerateLinksAreReported) {
  CategoryAnswersBuilder builder({"0", "1"});
  for (int t = 0; t < 20; ++t) {
    const std::string name = std::to_string(t);
    builder.add(name, "a", std::to_string(t % 2)).add(name, "b", std::to_string(t % 2));
  }
  const auto result = Sml().fit({builder.build(), {}, {}}, RunContext());
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0].code, "skills_not_settled");
  for (std::uint32_t t = 0; t < 20; ++t) EXPECT_EQ(index(result.labels[t]), t % 2);
}

// The reference figures of our method specification.
TEST(Sml, ReferenceAccuracies) {
  if (!testing::real_data_folder())
    GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  EXPECT_NEAR(testing::real_accuracy("bluebird", "sml"), .8611, .002);
  EXPECT_NEAR(testing::real_accuracy("rte", "sml"), .9275, .002);
  EXPECT_NEAR(testing::real_accuracy("sentiment_polarity", "sml"), .9088, .002);
  EXPECT_NEAR(testing::real_accuracy("trec", "sml"), .7112, .002);
}

}  // namespace
}  // namespace wisecrowd
