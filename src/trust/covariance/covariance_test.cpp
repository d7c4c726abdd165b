#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "trust/covariance/low_rank.hpp"
#include "wisecrowd/covariance_spammers.hpp"

namespace wisecrowd {
namespace {

std::size_t count_of(const CovarianceSpammers& found) {
  return static_cast<std::size_t>(std::count(found.spammer.begin(), found.spammer.end(), 1));
}

/// Workers by their tables; everybody answers a task with probability `share`.
CategoryAnswers crowd_of(const std::vector<std::vector<double>>& tables, std::size_t classes, std::size_t tasks,
                         double share, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < classes; ++k) names.push_back(std::to_string(k));
  CategoryAnswersBuilder builder(names);
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::size_t truth = rng.below(classes);
    for (std::size_t w = 0; w < tables.size(); ++w) {
      if (!rng.bernoulli(share)) continue;
      const auto row = std::span(tables[w]).subspan(truth * classes, classes);
      builder.add(std::to_string(t), std::to_string(w), std::to_string(rng.categorical(row)));
    }
  }
  return builder.build();
}

std::vector<double> coin(std::size_t classes, double accuracy) {
  std::vector<double> table(classes * classes, (1 - accuracy) / static_cast<double>(classes - 1));
  for (std::size_t k = 0; k < classes; ++k) table[k * (classes + 1)] = accuracy;
  return table;
}

TEST(CovarianceSpammers, PlantedSpammersAreFoundAndNobodyElse) {
  for (const std::size_t classes : {2U, 3U, 5U}) {
    std::vector<std::vector<double>> tables;
    for (int w = 0; w < 18; ++w) tables.push_back(coin(classes, .85));
    for (int w = 0; w < 12; ++w) tables.push_back(coin(classes, 1 / static_cast<double>(classes)));
    const auto answers = crowd_of(tables, classes, 400, .5, classes);
    const auto found = spammers_by_covariance(answers, {}, RunContext());
    ASSERT_TRUE(found.applies) << found.why;
    for (std::size_t w = 0; w < 30; ++w) EXPECT_EQ(found.spammer[w] != 0, w >= 18) << classes << " worker " << w;
  }
}

TEST(CovarianceSpammers, ACrowdOfOneKindHasNone) {
  for (const double accuracy : {.6, .8, .95}) {
    const auto answers = crowd_of(std::vector<std::vector<double>>(25, coin(3, accuracy)), 3, 300, .6, 3);
    const auto found = spammers_by_covariance(answers, {}, RunContext());
    EXPECT_EQ(count_of(found), 0U) << accuracy;
    EXPECT_FALSE(found.why.empty());
  }
}

/// Three classes in a row: who swaps the outer two half of the time has no covariance of numbers with anybody, but
/// knows very well where the middle one is.
TEST(CovarianceSpammers, WhoVariesInAnotherWayIsNoSpammer) {
  const std::vector<double> blind{.5, 0, .5, 0, 1, 0, .5, 0, .5};
  std::vector<std::vector<double>> tables(15, coin(3, .9));
  for (int w = 0; w < 3; ++w) tables.push_back(blind);
  for (int w = 0; w < 6; ++w) tables.push_back(coin(3, 1.0 / 3));
  const auto found = spammers_by_covariance(crowd_of(tables, 3, 500, .6, 5), {}, RunContext());
  for (std::size_t w = 0; w < tables.size(); ++w) EXPECT_EQ(found.spammer[w] != 0, w >= 18) << "worker " << w;
  EXPECT_GT(found.strength[15], .5);
  EXPECT_LT(found.strength[20], .2);
}

TEST(CovarianceSpammers, SwappedClassesAreNoSpam) {
  std::vector<std::vector<double>> tables(12, coin(2, .9));
  for (int w = 0; w < 2; ++w) tables.push_back(coin(2, .1));
  for (int w = 0; w < 5; ++w) tables.push_back(coin(2, .5));
  const auto found = spammers_by_covariance(crowd_of(tables, 2, 300, .8, 6), {}, RunContext());
  for (std::size_t w = 0; w < tables.size(); ++w) EXPECT_EQ(found.spammer[w] != 0, w >= 14) << "worker " << w;
}

TEST(CovarianceSpammers, FewAnswersAreNoProof) {
  std::vector<std::vector<double>> tables(12, coin(2, .9));
  for (int w = 0; w < 5; ++w) tables.push_back(coin(2, .5));
  const auto answers = crowd_of(tables, 2, 200, .8, 7);
  CategoryAnswersBuilder builder;
  for (std::size_t t = 0; t < 200; ++t) {
    const TaskId task{static_cast<std::uint32_t>(t)};
    for (std::size_t a = 0; a < answers.workers_of(task).size(); ++a) {
      builder.add(answers.task_names()[t], answers.worker_names()[index(answers.workers_of(task)[a])],
                  std::to_string(index(answers.labels_of(task)[a])));
    }
    if (t < 5) builder.add(answers.task_names()[t], "guest", "0");
  }
  const auto found = spammers_by_covariance(builder.build(), {}, RunContext());
  EXPECT_EQ(count_of(found), 5U);
  EXPECT_EQ(found.spammer[17], 0) << "five answers, all the same";
}

TEST(CovarianceSpammers, ThinCrowdsAreLeftToOtherMeans) {
  Parameters parameters(simulation_kind("hammer_spammer").parameters);
  const auto crowd = simulate("hammer_spammer", {1000, 300, 2, 3}, parameters, RunContext());
  const auto found = spammers_by_covariance(crowd.data.answers, {}, RunContext());
  EXPECT_FALSE(found.applies);
  EXPECT_NE(found.why.find("too few others"), std::string::npos) << found.why;
  EXPECT_FALSE(spammers_by_covariance(CategoryAnswers(), {}, RunContext()).applies);
}

TEST(CovarianceSpammers, SameForAnyNumberOfThreadsAndAnySeed) {
  std::vector<std::vector<double>> tables(200, coin(3, .8));
  for (int w = 0; w < 100; ++w) tables.push_back(coin(3, 1.0 / 3));
  const auto answers = crowd_of(tables, 3, 200, .4, 9);  // above the size of dense eigenvectors
  const auto one = spammers_by_covariance(answers, {}, RunContext({.seed = 1, .threads = 1}));
  const auto three = spammers_by_covariance(answers, {}, RunContext({.seed = 2, .threads = 3}));
  EXPECT_EQ(one.spammer, three.spammer);
  EXPECT_EQ(one.strength, three.strength);
  EXPECT_EQ(one.separation, three.separation);
  for (std::size_t w = 0; w < 300; ++w) EXPECT_EQ(one.spammer[w] != 0, w >= 200) << "worker " << w;
}

/// Covariances that are of low rank indeed come back, also those that are not there, by either way to eigenvectors.
TEST(CovarianceLowRank, FindsWhatIsOfLowRank) {
  for (const std::size_t workers : {60U, 400U}) {
    Rng rng(4);
    RowMatrix truth(static_cast<Eigen::Index>(workers), 2);
    for (Eigen::Index i = 0; i < truth.rows(); ++i) {
      truth(i, 0) = rng.uniform(.2, 1);
      truth(i, 1) = rng.normal() * .3;
    }
    trust::PairCovariances pairs;
    pairs.first.push_back(0);
    for (std::size_t i = 0; i < workers; ++i) {
      for (std::size_t j = 0; j < workers; ++j) {
        if (i == j || (i + j) % 3 == 0) continue;
        pairs.partner.push_back(static_cast<std::uint32_t>(j));
        pairs.common.push_back(1000);
        pairs.covariance.push_back(
            truth.row(static_cast<Eigen::Index>(i)).dot(truth.row(static_cast<Eigen::Index>(j))));
      }
      pairs.first.push_back(pairs.partner.size());
    }
    const RowMatrix v = trust::low_rank_of(pairs, 2, 10, 2000, 1e-9, RunContext());
    EXPECT_LT((v * v.transpose() - truth * truth.transpose()).norm() / (truth * truth.transpose()).norm(), 1e-4)
        << workers;
  }
}

TEST(CovarianceLowRank, PairsHaveTheMeansOfTheirOwnTasks) {
  CategoryAnswersBuilder builder({"0", "1", "2"});
  const std::vector<std::array<int, 3>> rows{{0, 0, -1}, {1, 2, 0}, {2, 1, 1}, {2, 2, -1}, {0, -1, 2}};
  for (std::size_t t = 0; t < rows.size(); ++t) {
    for (std::size_t w = 0; w < 3; ++w) {
      if (rows[t][w] >= 0) builder.add(std::to_string(t), std::to_string(w), std::to_string(rows[t][w]));
    }
  }
  const auto pairs = trust::pair_covariances(builder.build(), RunContext());
  ASSERT_EQ(pairs.partner, (std::vector<std::uint32_t>{1, 2, 0, 2, 0, 1}));
  EXPECT_EQ(pairs.common, (std::vector<std::uint32_t>{4, 3, 4, 2, 3, 2}));
  // (0,0) (1,2) (2,1) (2,2): 8/4 − 5/4 · 5/4
  EXPECT_DOUBLE_EQ(pairs.covariance[0], 2 - 25.0 / 16);
  // (1,0) (2,1) (0,2): 2/3 − 1 · 1
  EXPECT_NEAR(pairs.covariance[1], 2.0 / 3 - 1, 1e-15);
  EXPECT_DOUBLE_EQ(pairs.covariance[0], pairs.covariance[2]);
}

/// The published line of the tutorial for Bluebird: 22 workers pruned.
TEST(CovarianceSpammers, RealCrowds) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const auto found_in = [&](const std::string& set) {
    const auto data = read_dataset(*root + "/aggregate/" + set + "/labels.csv", std::nullopt, {}, RunContext());
    return spammers_by_covariance(data.answers, {}, RunContext());
  };
  EXPECT_EQ(count_of(found_in("bluebird")), 22U);
  const auto dog = found_in("dog");
  EXPECT_TRUE(dog.applies);
  EXPECT_LE(count_of(dog), 35U);
  EXPECT_GE(count_of(dog), 1U);
}

}  // namespace
}  // namespace wisecrowd
