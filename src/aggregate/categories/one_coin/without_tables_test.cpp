#include "aggregate/categories/one_coin/without_tables.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

void expect_same(const CategoryData& data, const one_coin::Options& options, const CategoryStart& start = {}) {
  const RunContext context({.seed = 3, .threads = 2});
  const auto with = one_coin::OneCoin(options).fit(data, context, start);
  const auto without = one_coin::fit_without_tables(data, context, options, start);
  EXPECT_TRUE(without.confusion.empty());
  ASSERT_EQ(without.posterior.size(), with.posterior.size());
  for (std::size_t e = 0; e < with.posterior.size(); ++e) EXPECT_NEAR(without.posterior[e], with.posterior[e], 1e-9);
  for (std::size_t w = 0; w < with.skill.size(); ++w) EXPECT_NEAR(without.skill[w], with.skill[w], 1e-9);
  for (std::size_t k = 0; k < with.class_prior.size(); ++k) {
    EXPECT_NEAR(without.class_prior[k], with.class_prior[k], 1e-9);
  }
  ASSERT_EQ(without.trace.size(), with.trace.size());
  for (std::size_t i = 0; i < with.trace.size(); ++i) EXPECT_NEAR(without.trace[i], with.trace[i], 1e-6);
  EXPECT_NEAR(without.log_likelihood, with.log_likelihood, 1e-6);
}

TEST(OneCoinWithoutTables, IsTheSameModel) {
  for (const std::size_t classes : {2U, 5U, 30U}) {
    auto crowd = testing::small_crowd(7, 200, 12, classes, 4);
    one_coin::Options options;
    options.em.max_iterations = 6;
    options.em.tolerance = 0;
    expect_same(crowd.data, options);
    options.em.class_prior = EmOptions::ClassPrior::uniform;
    options.em.start = EmOptions::Start::majority;
    expect_same(crowd.data, options);
    options.em.start = EmOptions::Start::random;
    options.em.restarts = 1;
    expect_same(crowd.data, options);
    expect_same(crowd.data, options, CategoryStart{aggregate(crowd.data, "majority_vote").posterior});

    options = {.em = {.class_pseudo_count = 2, .max_iterations = 6, .tolerance = 0, .gold_weight = 3}};
    crowd.data.gold.assign(200, kNoClass);
    for (std::size_t t = 0; t < 200; t += 7) crowd.data.gold[t] = crowd.truth[t];
    expect_same(crowd.data, options);
    Rng rng(2);
    crowd.data.task_priors.resize(200 * classes);
    const std::vector<double> flat(classes, 1.0);
    for (std::size_t t = 0; t < 200; ++t) {
      rng.dirichlet(flat, std::span(crowd.data.task_priors).subspan(t * classes, classes));
    }
    expect_same(crowd.data, options);
  }
}

}  // namespace
}  // namespace wisecrowd
