#include "aggregate/categories/spectral_em/spectral_em.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/population.hpp"

namespace wisecrowd {
namespace {

using spectral_em::decompose;
using spectral_em::GroupMoments;
using spectral_em::Options;
using spectral_em::SpectralEm;

using Groups = std::vector<std::size_t>;

/// Expected votes of a set of groups, label × truth.
std::vector<double> group_votes(const TableModel& model, const Groups& group_of, const Groups& wanted) {
  const std::size_t n = model.classes;
  std::vector<double> votes(n * n, 0.0);
  for (std::size_t w = 0; w < group_of.size(); ++w) {
    if (std::find(wanted.begin(), wanted.end(), group_of[w]) == wanted.end()) continue;
    for (std::size_t c = 0; c < n * n; ++c) votes[c % n * n + c / n] += model.table(w)[c];
  }
  return votes;
}

GroupMoments population_groups(const TableModel& model, const Groups& group_of) {
  const std::size_t n = model.classes;
  const std::vector<double> votes[3] = {group_votes(model, group_of, {0}), group_votes(model, group_of, {1}),
                                        group_votes(model, group_of, {2})};
  GroupMoments moments{n, std::vector<double>(n * n), std::vector<double>(n * n), std::vector<double>(n * n),
                       std::vector<double>(n * n * n)};
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t m = 0; m < n; ++m) {
        const auto product = [&](std::size_t a, std::size_t b) {
          return model.class_prior[k] * votes[a][l * n + k] * votes[b][m * n + k];
        };
        moments.first_second[l * n + m] += product(0, 1);
        moments.first_third[l * n + m] += product(0, 2);
        moments.second_third[l * n + m] += product(1, 2);
        for (std::size_t o = 0; o < n; ++o) moments.triple[(l * n + m) * n + o] += product(0, 1) * votes[2][o * n + k];
      }
    }
  }
  return moments;
}

// Third moments determine the tables without any expert, whatever the partition.
TEST(SpectralEm, ExactOnPopulationMoments) {
  for (const std::size_t classes : {2U, 3U, 4U}) {
    const auto model = testing::random_model(classes + 1, 8, classes, 0);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Rng rng(seed);
      Groups group_of = {0, 1, 2, 0, 1, 2, 0, 1};
      rng.shuffle(std::span(group_of));
      const auto groups = decompose(population_groups(model, group_of), rng, {});
      ASSERT_TRUE(groups.has_value());
      EXPECT_LT(testing::largest_difference(groups->class_prior, model.class_prior), 1e-6);
      for (std::size_t g = 0; g < 3; ++g) {
        EXPECT_LT(testing::largest_difference(groups->votes[g], group_votes(model, group_of, {g})), 1e-6);
      }
      const auto pairs = testing::population_pairs(model);
      std::vector<double> block(classes * classes), table(classes * classes);
      for (std::size_t w = 0; w < 8; ++w) {
        std::vector<double> joint(classes * classes, 0.0), votes(classes * classes, 0.0);
        for (const auto& partner : pairs.partners(w)) {
          if (group_of[partner.worker] == group_of[w]) continue;
          pairs.joint_shares(w, partner, block);
          for (std::size_t c = 0; c < block.size(); ++c) joint[c] += 0.3 * block[c];  // answers 30 % of the tasks
        }
        for (std::size_t g = 0; g < 3; ++g) {
          for (std::size_t c = 0; c < votes.size() && g != group_of[w]; ++c) votes[c] += groups->votes[g][c];
        }
        spectral_em::table_from_groups(joint, votes, groups->class_prior, classes, table);
        EXPECT_LT(testing::largest_difference(table, model.table(w)), 1e-6);
      }
    }
  }
}

TEST(SpectralEm, SingularMomentsAreRefused) {
  auto model = testing::random_model(9, 6, 3, 0);
  for (std::size_t w = 0; w < 6; ++w) {  // nobody tells class 1 from class 2
    std::copy_n(model.table(w).data() + 3, 3, model.table(w).data() + 6);
  }
  EXPECT_FALSE(decompose(population_groups(model, {0, 1, 2, 0, 1, 2}), Rng(1), {}).has_value());
}

TEST(SpectralEm, NoisyMomentsGiveTheTablesNearly) {
  const auto model = testing::random_model(6, 9, 3, 0);
  const Groups group_of = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  Rng rng(2);
  double previous = 0;
  for (const double noise : {1e-6, 1e-4}) {
    auto moments = population_groups(model, group_of);
    for (auto* cells : {&moments.first_second, &moments.first_third, &moments.second_third, &moments.triple}) {
      for (double& value : *cells) value += noise * rng.normal();
    }
    const auto groups = decompose(moments, rng, {});
    ASSERT_TRUE(groups.has_value());
    const double error = testing::largest_difference(groups->votes[0], group_votes(model, group_of, {0}));
    EXPECT_LT(error, 2000 * noise);
    EXPECT_GT(error, previous);
    previous = error;
  }
}

TEST(SpectralEm, TheStartAloneFindsTheTablesAsDataGrow) {
  const auto model = testing::random_model(14, 25, 3, 0);
  std::vector<double> errors;
  for (const std::size_t tasks : {1000U, 10000U, 100000U}) {
    const auto sampled = testing::sample(model, tasks, 0.3, 8);
    Options options;
    options.em.max_iterations = 1;
    options.partitions = 2;
    errors.push_back(
        testing::mean_difference(SpectralEm(options).fit(sampled.data, RunContext()).confusion, model.tables));
  }
  EXPECT_LT(errors[2], errors[0] / 3);
  EXPECT_LT(errors[2], 0.03);
}

TEST(SpectralEm, EmFinishesTheWork) {
  const auto model = testing::random_model(14, 25, 3, 0);
  const auto sampled = testing::sample(model, 10000, 0.3, 8);
  const auto result = SpectralEm().fit(sampled.data, RunContext());
  EXPECT_LT(testing::mean_difference(result.confusion, model.tables), 0.02);
  const auto plain = aggregate(sampled.data, "dawid_skene");
  EXPECT_NEAR(result.trace.back(), plain.trace.back(), 1e-4 * std::abs(plain.trace.back()));
}

TEST(SpectralEm, NeverEndsBelowPlainEmOnDenseData) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto crowd = testing::small_crowd(seed, 2000, 15, 3, 8);
    const auto spectral = SpectralEm().fit(crowd.data, RunContext());
    const auto plain = aggregate(crowd.data, "dawid_skene");
    EXPECT_GE(spectral.trace.back(), plain.trace.back() - 1e-5 * std::abs(plain.trace.back()));
  }
}

TEST(SpectralEm, SparseDataStartFromTheVoteWithAWarning) {
  const auto crowd = testing::small_crowd(4, 60, 60, 5, 2);  // two answers cannot be in three groups
  const auto result = SpectralEm().fit(crowd.data, RunContext());
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(),
                          [](const Warning& w) { return w.code == "no_spectral_start"; }));
  EXPECT_EQ(result.posterior, aggregate(crowd.data, "dawid_skene").posterior);
}

// "Spectral-D&S". Error in %: TREC 29.58, Bluebird 12.03, RTE 7.12, Dog 17.84. We are better on Bluebird and Dog, see
// METHOD.md, and no more than a point worse anywhere.
TEST(SpectralEm, PublishedErrors) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const std::pair<const char*, double> published[] = {
      {"trec", .2958}, {"bluebird", .1203}, {"rte", .0712}, {"dog", .1784}};
  for (const auto& [set, error] : published) {
    const double ours = 1 - testing::score_on(*root + "/aggregate/" + set, "spectral_em", {}, 1).alone;
    EXPECT_LT(ours, error + 0.01) << set;
    EXPECT_GT(ours, error - 0.025) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
