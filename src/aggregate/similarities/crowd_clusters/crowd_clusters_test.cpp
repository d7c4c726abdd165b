#include "aggregate/similarities/crowd_clusters/crowd_clusters.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "aggregate/similarities/crowd_clusters/mean_field.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

struct PlantedCrowd {
  SimilarityData data;
  std::vector<std::uint32_t> truth;
};

/// Random pairs of items in clusters of equal size; worker w errs at the rates given for it, the rates being used in
/// turn.
PlantedCrowd planted(std::size_t items, std::size_t clusters, std::size_t answers,
                     const std::vector<std::pair<double, double>>& rates, std::uint64_t seed) {
  Rng rng(seed);
  PlantedCrowd crowd;
  SimilarityAnswersBuilder builder;
  for (std::size_t i = 0; i < items; ++i) {
    crowd.truth.push_back(static_cast<std::uint32_t>(i % clusters));
    builder.add_item(fmt::format("{:05}", i));
  }
  for (std::size_t w = 0; w < rates.size(); ++w) builder.add_worker(fmt::format("w{:03}", w));
  for (std::size_t a = 0; a < answers; ++a) {
    const std::size_t left = rng.below(items);
    std::size_t right = rng.below(items - 1);
    if (right >= left) ++right;
    const std::size_t w = rng.below(rates.size());
    const bool same = crowd.truth[left] == crowd.truth[right];
    const bool errs = rng.uniform() < (same ? rates[w].first : rates[w].second);
    builder.add(fmt::format("w{:03}", w), fmt::format("{:05}", left), fmt::format("{:05}", right), same != errs);
  }
  crowd.data.answers = builder.build();
  return crowd;
}

/// Every pair once, without an error.
PlantedCrowd complete(std::size_t items, std::size_t clusters) {
  PlantedCrowd crowd;
  SimilarityAnswersBuilder builder;
  for (std::size_t i = 0; i < items; ++i) {
    crowd.truth.push_back(static_cast<std::uint32_t>(i % clusters));
    for (std::size_t j = 0; j < i; ++j) {
      builder.add("w", fmt::format("{:05}", i), fmt::format("{:05}", j), i % clusters == j % clusters);
    }
  }
  crowd.data.answers = builder.build();
  return crowd;
}

/// Share of pairs of items on which two clusterings agree.
double rand_index(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  double agree = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      agree += (a[i] == a[j]) == (b[i] == b[j]) ? 1 : 0;
      all += 1;
    }
  }
  return agree / all;
}

crowd_clusters::Options room_for(std::size_t clusters) {
  crowd_clusters::Options options;
  options.clusters = clusters;
  return options;
}

TEST(CrowdClusters, CompleteCleanPairsGiveTheClusters) {
  for (const std::size_t clusters : {1, 2, 3, 7}) {
    const PlantedCrowd crowd = complete(42, clusters);
    const SimilarityFit fit = crowd_clusters::CrowdClusters(room_for(clusters)).fit(crowd.data, RunContext());
    EXPECT_EQ(rand_index(fit.cluster, crowd.truth), 1) << clusters;
    EXPECT_EQ(fit.cluster_count(), clusters);
    for (const double p : fit.probability) EXPECT_GT(p, 0.99);
  }
}

TEST(CrowdClusters, RoomForTooManyClustersStaysEmpty) {
  const PlantedCrowd clean = complete(60, 3);
  const SimilarityFit exact = crowd_clusters::CrowdClusters(room_for(12)).fit(clean.data, RunContext());
  EXPECT_EQ(rand_index(exact.cluster, clean.truth), 1);
  EXPECT_EQ(exact.cluster_count(), 3U);

  const PlantedCrowd noisy = planted(300, 4, 20000, std::vector(10, std::pair(0.2, 0.2)), 1);
  const SimilarityFit fit = crowd_clusters::CrowdClusters(room_for(16)).fit(noisy.data, RunContext());
  EXPECT_GT(rand_index(fit.cluster, noisy.truth), 0.99);
}

TEST(CrowdClusters, FindsTheNumberOfClustersByHiddenPairs) {
  for (const std::size_t clusters : {2, 5}) {
    const PlantedCrowd crowd = planted(240, clusters, 16000, std::vector(8, std::pair(0.2, 0.15)), clusters);
    const SimilarityFit fit = crowd_clusters::CrowdClusters().fit(crowd.data, RunContext());
    EXPECT_EQ(fit.cluster_count(), clusters);
    EXPECT_GT(rand_index(fit.cluster, crowd.truth), 0.99);
    EXPECT_NE(fit.explanation.find("hidden pairs"), std::string::npos);
  }
}

TEST(CrowdClusters, FewAnswersAreJudgedByTheEvidence) {
  SimilarityAnswersBuilder builder;  // nine answers, one of them wrong
  builder.add("ann", "a", "b", true).add("bob", "b", "a", true).add("cid", "a", "b", false).add("ann", "c", "d", true);
  builder.add("bob", "c", "d", true)
      .add("ann", "a", "c", false)
      .add("bob", "d", "b", false)
      .add("cid", "a", "d", false);
  builder.add("ann", "b", "c", false);
  SimilarityData data;
  data.answers = builder.build();
  const SimilarityFit fit = crowd_clusters::CrowdClusters().fit(data, RunContext());
  EXPECT_EQ(fit.cluster, (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_NE(fit.explanation.find("evidence"), std::string::npos);
}

TEST(CrowdClusters, RecoversTheErrorRatesOfWorkers) {
  const std::vector<std::pair<double, double>> rates{{0.05, 0.05}, {0.4, 0.1}, {0.1, 0.4}, {0.3, 0.3}, {0.5, 0.5}};
  const PlantedCrowd crowd = planted(200, 3, 15000, rates, 3);
  const SimilarityFit fit = crowd_clusters::CrowdClusters(room_for(3)).fit(crowd.data, RunContext());
  EXPECT_GT(rand_index(fit.cluster, crowd.truth), 0.99);
  for (std::size_t w = 0; w < rates.size(); ++w) {
    EXPECT_NEAR(fit.false_different[w], rates[w].first, 0.05) << w;
    EXPECT_NEAR(fit.false_same[w], rates[w].second, 0.05) << w;
    EXPECT_LE(fit.false_different[w] + fit.false_same[w], 1 + 1e-12);
  }
}

TEST(CrowdClusters, WhoSaysTheOppositeCountsForNothing) {
  std::vector<std::pair<double, double>> rates(9, {0.15, 0.15});
  rates.insert(rates.end(), 3, {0.9, 0.9});
  const PlantedCrowd crowd = planted(150, 3, 9000, rates, 4);
  const SimilarityFit fit = crowd_clusters::CrowdClusters(room_for(3)).fit(crowd.data, RunContext());
  EXPECT_GT(rand_index(fit.cluster, crowd.truth), 0.99);
  EXPECT_NEAR(fit.false_different[10] + fit.false_same[10], 1, 1e-12);
}

TEST(CrowdClusters, TheBoundNeverFalls) {
  const PlantedCrowd crowd = planted(120, 4, 3000, std::vector(6, std::pair(0.3, 0.25)), 5);
  const SimilarityFit fit = crowd_clusters::CrowdClusters(room_for(6)).fit(crowd.data, RunContext());
  ASSERT_GT(fit.trace.size(), 1U);
  for (std::size_t t = 1; t < fit.trace.size(); ++t) {
    EXPECT_GE(fit.trace[t], fit.trace[t - 1] - 1e-8 * std::abs(fit.trace[t - 1]));
  }
}

/// The bound by its definition, over all assignments of a tiny world.
TEST(CrowdClusters, TheBoundIsOneAndTightWhereItemsAreCertain) {
  const PlantedCrowd crowd = complete(4, 2);
  crowd_clusters::Crowd world(crowd.data);
  crowd_clusters::State state = crowd_clusters::start_from(world, crowd.truth, 2);
  crowd_clusters::ascend(world, {.max_iterations = 50, .tolerance = 1e-10}, RunContext(), state);
  // ln Σ over assignments of P(answers, assignment), with the same prior densities at the rates found.
  const double e1 = state.rates.false_different[0], e0 = state.rates.false_same[0];
  double evidence = 0;
  for (unsigned z = 0; z < 16; ++z) {
    double p = 1;
    for (unsigned i = 0; i < 4; ++i) p *= state.share[(z >> i) & 1U];
    for (std::size_t pair = 0; pair < crowd.data.answers.task_count(); ++pair) {
      const SimilarPair of = crowd.data.answers.pairs()[pair];
      const bool same = ((z >> of.left) & 1U) == ((z >> of.right) & 1U);
      const bool said = crowd.data.answers.same()[pair] != 0;
      p *= same ? (said ? 1 - e1 : e1) : (said ? e0 : 1 - e0);
    }
    evidence += p;
  }
  double prior = similarities::log_prior(e1, e0);
  for (const double share : state.share) prior += std::log(share);
  EXPECT_LE(state.bound(), std::log(evidence) + prior + 1e-9);
  EXPECT_NEAR(state.bound(), std::log(evidence) + prior, 0.8);  // the two ways to name the clusters are one: ln 2
}

TEST(CrowdClusters, GoldIsKeptAndNamesItsClusters) {
  PlantedCrowd crowd = planted(90, 3, 2500, std::vector(5, std::pair(0.25, 0.25)), 6);
  const std::vector<std::string> names{"red", "green", "blue"};
  crowd.data.gold_clusters = NameTable(names);
  crowd.data.gold.assign(90, kNoCluster);
  for (std::size_t i = 0; i < 30; ++i) crowd.data.gold[i] = crowd.truth[i];
  const SimilarityFit fit = crowd_clusters::CrowdClusters().fit(crowd.data, RunContext());
  std::size_t right = 0;
  for (std::size_t i = 0; i < 90; ++i) right += fit.cluster_names[fit.cluster[i]] == names[crowd.truth[i]] ? 1 : 0;
  EXPECT_GT(right, 85U);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(fit.cluster_names[fit.cluster[i]], names[crowd.truth[i]]);
    EXPECT_EQ(fit.probability[i], 1);
  }
}

TEST(CrowdClusters, PairsThatGoldKnowsAreKept) {
  PlantedCrowd crowd = planted(40, 2, 400, std::vector(4, std::pair(0.2, 0.2)), 7);
  crowd.data.gold_pairs = {{{0, 1}, true}, {{2, 5}, true}};  // against the truth
  const SimilarityFit fit = crowd_clusters::CrowdClusters(room_for(2)).fit(crowd.data, RunContext());
  EXPECT_EQ(fit.cluster[0], fit.cluster[1]);
  EXPECT_EQ(fit.cluster[2], fit.cluster[5]);
}

TEST(CrowdClusters, StartsWhereAnotherMethodEnded) {
  const PlantedCrowd crowd = planted(60, 3, 1500, std::vector(4, std::pair(0.1, 0.1)), 8);
  const SimilarityFit fit = crowd_clusters::CrowdClusters().fit(crowd.data, RunContext(), SimilarityStart{crowd.truth});
  EXPECT_EQ(rand_index(fit.cluster, crowd.truth), 1);
  EXPECT_EQ(fit.cluster_count(), 3U);
}

}  // namespace
}  // namespace wisecrowd
