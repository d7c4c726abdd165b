#include "aggregate/categories/worker_clusters/worker_clusters.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/assignment.hpp"
#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "support/slow_reference.hpp"

namespace wisecrowd {
namespace {

using worker_clusters::Options;
using worker_clusters::WorkerClusters;

constexpr double kPlanted[3][3][3] = {
    {{.85, .10, .05}, {.05, .90, .05}, {.05, .10, .85}},  // good
    {{.45, .45, .10}, {.10, .80, .10}, {.05, .50, .45}},  // lean to the middle
    {{.30, .30, .40}, {.35, .30, .35}, {.35, .30, .35}},  // guess
};

struct Planted {
  CategoryData data;
  std::vector<ClassId> truth;
  std::vector<std::uint32_t> group;
};

Planted planted(std::uint64_t seed, std::size_t workers, std::size_t tasks, std::size_t per_task) {
  Rng rng(seed);
  Planted crowd;
  CategoryAnswersBuilder builder({"0", "1", "2"});
  for (std::size_t w = 0; w < workers; ++w) {
    builder.add_worker("w" + std::to_string(w));
    crowd.group.push_back(static_cast<std::uint32_t>(w % 5 < 2 ? 0 : w % 5 < 4 ? 1 : 2));
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::size_t z = rng.below(3);
    crowd.truth.push_back(ClassId{static_cast<std::uint16_t>(z)});
    std::vector<std::uint32_t> order(workers);
    for (std::size_t w = 0; w < workers; ++w) order[w] = static_cast<std::uint32_t>(w);
    rng.shuffle(std::span(order));
    for (std::size_t r = 0; r < per_task; ++r) {
      const auto label = rng.categorical(kPlanted[crowd.group[order[r]]][z]);
      builder.add(std::to_string(t), "w" + std::to_string(order[r]), std::to_string(label));
    }
  }
  crowd.data.answers = builder.build();
  return crowd;
}

/// Share of workers in the right group under the best naming of the groups.
double purity(const std::vector<std::uint32_t>& found, const std::vector<std::uint32_t>& group, std::size_t groups) {
  std::vector<double> joint(groups * groups, 0.0);
  for (std::size_t w = 0; w < found.size(); ++w) joint[group[w] * groups + found[w]] += 1;
  const auto best = best_assignment(joint, groups);
  double same = 0;
  for (std::size_t g = 0; g < groups; ++g) same += joint[g * groups + best[g]];
  return same / static_cast<double>(found.size());
}

double accuracy(const CategoryFit& result, const std::vector<ClassId>& truth) {
  double right = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) right += result.labels[t] == truth[t] ? 1 : 0;
  return right / static_cast<double>(truth.size());
}

testing::Counts smoothed(testing::Counts n, double pseudo, double diagonal) {
  for (auto& table : n) {
    for (std::size_t k = 0; k < table.size(); ++k) {
      double total = 0;
      for (std::size_t l = 0; l < table.size(); ++l) total += table[k][l] += pseudo + (k == l ? diagonal : 0);
      for (double& cell : table[k]) cell /= total;
    }
  }
  return n;
}

// One community: everybody has the pooled table.
TEST(WorkerClusters, OneCommunityIsThePooledTable) {
  for (const std::size_t classes : {2U, 3U, 5U}) {
    const auto crowd = testing::small_crowd(classes, 80, 9, classes, 4);
    Options options;
    options.communities = 1;
    options.pseudo_count = 0.7;
    options.em.max_iterations = 10;
    options.em.tolerance = 0;
    const auto votes = aggregate(crowd.data, "majority_vote");
    const auto fast = WorkerClusters(options).fit(crowd.data, RunContext(), CategoryStart{votes.posterior});
    const auto slow = testing::slow_em(crowd.data, true, 0, 10, [&](const testing::Counts& n) {
      testing::Counts pooled(n.size(), n[0]);
      for (std::size_t j = 1; j < n.size(); ++j) {
        for (std::size_t k = 0; k < classes; ++k) {
          for (std::size_t l = 0; l < classes; ++l) pooled[0][k][l] += n[j][k][l];
        }
      }
      for (auto& table : pooled) table = pooled[0];
      return smoothed(pooled, 0.7, 1);
    });
    for (std::size_t e = 0; e < fast.posterior.size(); ++e) {
      ASSERT_NEAR(fast.posterior[e], slow.posterior[e / classes][e % classes], 1e-9);
    }
    for (std::size_t e = 0; e < fast.confusion.size(); ++e) {
      ASSERT_NEAR(fast.confusion[e], slow.tables[0][e % (classes * classes) / classes][e % classes], 1e-9);
    }
    // With one community the bound is the log posterior itself.
    double expected = slow.log_likelihood.back();
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) expected += (k == l ? 1.7 : 0.7) * std::log(slow.tables[0][k][l]);
    }
    EXPECT_NEAR(fast.trace.back(), expected, 1e-8);
  }
}

// As many communities as workers who all differ: Dawid–Skene.
TEST(WorkerClusters, AsManyCommunitiesAsWorkersIsDawidSkene) {
  Rng rng(31);
  CategoryAnswersBuilder builder({"0", "1", "2"});
  for (int t = 0; t < 900; ++t) {
    for (std::size_t w = 0; w < 5; ++w) {
      std::array<double, 3> row = {.05, .05, .05};
      row[static_cast<std::size_t>(t % 3)] = .4;
      row[w % 3] += w < 3 ? .5 : .2;  // favourites
      if (w == 4) row[static_cast<std::size_t>(t % 3)] = 2;
      builder.add(std::to_string(t), std::to_string(w), std::to_string(rng.categorical(row)));
    }
  }
  const CategoryData data{builder.build(), {}, {}};
  Options options;
  options.communities = 5;
  options.em.max_iterations = 3000;
  options.em.tolerance = 0;
  const auto fast = WorkerClusters(options).fit(data, RunContext());
  EXPECT_EQ(fast.learned[1].second, 5);
  const auto slow = testing::slow_em(data, true, 0, 600, [](const testing::Counts& n) { return smoothed(n, 1, 1); });
  for (std::size_t e = 0; e < fast.posterior.size(); ++e)
    ASSERT_NEAR(fast.posterior[e], slow.posterior[e / 3][e % 3], 1e-6);
}

TEST(WorkerClusters, BoundNeverFalls) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const auto crowd = testing::small_crowd(seed, 100, seed % 2 == 0 ? 60 : 12, 2 + seed % 4, 2 + seed % 4);
    Options options;
    options.communities = 1 + seed % 5;
    options.pseudo_count = seed % 3 == 0 ? 0.01 : 1;
    options.em.max_iterations = 100;
    options.em.tolerance = 0;
    const auto result = WorkerClusters(options).fit(crowd.data, RunContext());
    for (std::size_t i = 1; i < result.trace.size(); ++i) {
      ASSERT_GE(result.trace[i], result.trace[i - 1] - 1e-10 * std::abs(result.trace[i])) << seed << ": " << i;
    }
  }
}

TEST(WorkerClusters, RecoversPlantedCommunitiesAndTheirNumber) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto crowd = planted(seed, 50, 1000, 8);
    const auto result = WorkerClusters().fit(crowd.data, RunContext());
    ASSERT_EQ(result.learned[0].first, "communities");
    ASSERT_EQ(result.learned[0].second, 3);
    EXPECT_GT(purity(result.worker_group, crowd.group, 3), .95);
    for (std::size_t w = 0; w < 50; ++w) {
      for (std::size_t e = 0; e < 9; ++e) {
        EXPECT_NEAR(result.confusion[w * 9 + e], kPlanted[crowd.group[w]][e / 3][e % 3], .1) << w;
      }
    }
  }
}

TEST(WorkerClusters, HelpsWhenWorkersHaveFewAnswers) {
  double ours = 0, single = 0;
  for (std::uint64_t seed = 10; seed < 15; ++seed) {
    const auto crowd = planted(seed, 500, 600, 6);  // seven answers per worker
    ours += accuracy(WorkerClusters().fit(crowd.data, RunContext()), crowd.truth) / 5;
    single += accuracy(aggregate(crowd.data, "dawid_skene"), crowd.truth) / 5;
  }
  EXPECT_GT(ours, single + .03);
}

TEST(WorkerClusters, AccuracyOnRealData) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  struct Row {
    const char* set;
    double accuracy;
  };
  for (const auto& [set, expected] : {Row{"bluebird", .9074}, Row{"dog", .8352}, Row{"rte", .9300}}) {
    const std::string folder = *root + "/aggregate/" + set;
    CategoryData data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", {}, RunContext());
    std::vector<ClassId> gold;
    gold.swap(data.gold);
    const auto result = WorkerClusters().fit(data, RunContext());
    const auto score = evaluate(result.labels, result.posterior, gold, result.class_count,
                                {.tie_rule = result.tie_rule, .bootstrap = 0}, RunContext());
    EXPECT_NEAR(score.accuracy.value, expected, .01) << set;
  }
}

}  // namespace
}  // namespace wisecrowd
