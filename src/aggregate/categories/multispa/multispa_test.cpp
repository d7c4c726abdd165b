#include "aggregate/categories/multispa/multispa.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/categories/shared/separable.hpp"
#include "support/crowds.hpp"
#include "support/population.hpp"

namespace wisecrowd {
namespace {

using multispa::MultiSpa;

TEST(MultiSpa, ExtremeColumnsAreTheCornersOfASimplex) {
  // Three corners among mixtures of them.
  const double corners[3][3] = {{.8, .1, .1}, {.2, .7, .1}, {.1, .3, .6}};
  const double mixtures[6][3] = {{.4, .3, .3}, {0, 0, 1}, {.5, .5, 0}, {1, 0, 0}, {.2, .2, .6}, {0, 1, 0}};
  std::vector<double> columns;
  for (const auto& mixture : mixtures) {
    for (std::size_t r = 0; r < 3; ++r) {
      double value = 0;
      for (std::size_t c = 0; c < 3; ++c) value += mixture[c] * corners[c][r];
      columns.push_back(value);
    }
  }
  auto chosen = extreme_columns(columns, 3, 3);
  std::sort(chosen.begin(), chosen.end());
  EXPECT_EQ(chosen, (std::vector<std::size_t>{1, 3, 5}));
  // All columns on one line through the origin: nothing more to find after the first.
  EXPECT_EQ(extreme_columns({.1, .2, .3, .2, .4, .6}, 3, 3).size(), 1U);
  EXPECT_TRUE(extreme_columns({}, 3, 3).empty());
}

// With two experts per class, everyone's partners include one of each.
TEST(MultiSpa, ExactOnPopulationMomentsWithClassExperts) {
  for (const std::size_t classes : {2U, 3U, 5U}) {
    const auto model = testing::random_model(classes, 14, classes, 2);
    const auto fit =
        separable_tables(testing::population_pairs(model), RunContext(), testing::leaning_model(14, classes), 0);
    EXPECT_LT(testing::largest_difference(fit.model.tables, model.tables), 1e-8);
    EXPECT_LT(testing::largest_difference(fit.model.class_prior, model.class_prior), 1e-8);
    for (const Solved how : fit.how) EXPECT_EQ(how, Solved::separately);
  }
}

TEST(MultiSpa, WorkersWithoutPartnersKeepTheGuide) {
  const auto model = testing::random_model(3, 14, 3, 2);
  const auto pairs = testing::population_pairs(model, 1e12, [](auto, auto b) { return b != 13; });
  const auto guide = testing::leaning_model(14, 3);
  const auto fit = separable_tables(pairs, RunContext(), guide, 0);
  EXPECT_EQ(fit.how[13], Solved::not_at_all);
  EXPECT_EQ(testing::largest_difference(fit.model.table(13), guide.table(13)), 0);
  EXPECT_LT(testing::largest_difference(fit.model.table(12), model.table(12)), 1e-8);
}

TEST(MultiSpa, LeastSquaresThroughPartnersIsExact) {
  auto model = testing::random_model(4, 12, 3, 2);
  // Worker 11 says class 2 never, and class 1 to truths 1 and 2 alike: its rows span two dimensions only.
  const auto own = model.table(11);
  for (std::size_t k = 0; k < 3; ++k) {
    own[k * 3] = k == 0 ? 0.8 : 0.3;
    own[k * 3 + 1] = k == 0 ? 0.2 : 0.7;
    own[k * 3 + 2] = 0;
  }
  const auto fit = separable_tables(testing::population_pairs(model), RunContext(), testing::leaning_model(12, 3), 0);
  EXPECT_EQ(fit.how[11], Solved::with_partners);
  EXPECT_LT(testing::largest_difference(fit.model.table(11), model.table(11)), 1e-6);
}

TEST(MultiSpa, ErrorFallsAsDataGrow) {
  auto model = testing::random_model(11, 25, 3, 3);
  std::vector<double> errors;
  for (const std::size_t tasks : {1000U, 10000U, 100000U}) {
    const auto sampled = testing::sample(model, tasks, 0.3, 5);
    const auto result = MultiSpa().fit(sampled.data, RunContext());
    errors.push_back(testing::mean_difference(result.confusion, model.tables));
  }
  EXPECT_LT(errors[1], errors[0] / 2);
  EXPECT_LT(errors[2], errors[1] / 2);
  EXPECT_LT(errors[2], 0.02);
}

TEST(MultiSpa, GoldIsAPartnerWhoKnows) {
  // Nobody is an expert: the pairs alone do not determine the tables, but with gold they do.
  const auto model = testing::random_model(12, 10, 3, 0);
  auto sampled = testing::sample(model, 20000, 0.5, 6);
  const auto without = MultiSpa().fit(sampled.data, RunContext());
  sampled.data.gold = sampled.truth;
  for (std::size_t t = 10000; t < 20000; ++t) sampled.data.gold[t] = kNoClass;
  const auto with = MultiSpa().fit(sampled.data, RunContext());
  EXPECT_LT(testing::mean_difference(with.confusion, model.tables), 0.015);
  EXPECT_GT(testing::mean_difference(without.confusion, model.tables), 0.05);
}

TEST(MultiSpa, SparseDataFallBackToTheVoteWithAWarning) {
  const auto crowd = testing::small_crowd(3, 300, 400, 3, 3);
  const auto result = MultiSpa().fit(crowd.data, RunContext());
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(),
                          [](const Warning& w) { return w.code == "unsolved_workers"; }));
  std::size_t right = 0;
  for (std::size_t t = 0; t < 300; ++t) right += result.labels[t] == crowd.truth[t] ? 1 : 0;
  EXPECT_GT(right, 200U);
}

// Error in %, published: TREC 31.47, Bluebird 13.88, RTE 8.75, Dog 17.09.
TEST(MultiSpa, PublishedErrors) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const std::pair<const char*, double> published[] = {
      {"trec", .3147}, {"bluebird", .1388}, {"rte", .0875}, {"dog", .1709}};
  for (const auto& [set, error] : published) {
    const auto score = testing::score_on(*root + "/aggregate/" + set, "multispa");
    EXPECT_NEAR(1 - score.alone, error, 0.01) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
