#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_similarities.hpp"
#include "wisecrowd/learn_similarities.hpp"
#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd {
namespace {

/// Items on a plane around the corners of a polygon, and noisy answers to random pairs.
struct PairWorld {
  SimilarityData data;  ///< with gold
  Features features;
  std::vector<std::uint32_t> row_of_item;
};

PairWorld pair_world(std::size_t items, std::size_t clusters, std::size_t answers, double noise, double spread = 0.5) {
  Rng rng(4);
  PairWorld world;
  world.features.rows = items;
  world.features.shape = {2};
  SimilarityAnswersBuilder builder;
  const auto name = [](std::size_t i) { return fmt::format("{:04}", i); };
  std::vector<std::string> names;
  for (std::size_t c = 0; c < clusters; ++c) names.push_back(fmt::format("c{}", c));
  world.data.gold_clusters = NameTable(names);
  for (std::size_t i = 0; i < items; ++i) {
    const std::size_t own = i % clusters;
    const double angle = 2 * 3.14159265 * static_cast<double>(own) / static_cast<double>(clusters);
    world.features.dense.push_back(static_cast<float>(3 * std::cos(angle) + spread * rng.normal()));
    world.features.dense.push_back(static_cast<float>(3 * std::sin(angle) + spread * rng.normal()));
    world.data.gold.push_back(static_cast<std::uint32_t>(own));
    world.row_of_item.push_back(static_cast<std::uint32_t>(i));
    builder.add_item(name(i));
  }
  for (std::size_t a = 0; a < answers; ++a) {
    const std::size_t left = rng.below(items);
    std::size_t right = rng.below(items - 1);
    if (right >= left) ++right;
    const bool same = world.data.gold[left] == world.data.gold[right];
    builder.add(fmt::format("w{}", a % 5), name(left), name(right), same != rng.bernoulli(noise));
  }
  world.data.answers = builder.build();
  return world;
}

SimilarityLearned learned_from(const PairWorld& world, std::size_t clusters, unsigned threads = 1) {
  SimilarityData seen;
  seen.answers = world.data.answers;
  SimilarityLearningOptions options;
  options.clusters = clusters;
  options.rounds = 6;
  options.restarts = 2;
  options.learning_rate = 0.01;
  options.start_steps = 300;
  options.batch = 64;
  return learn_similarities(seen, world.features, world.row_of_item, {.hidden = 16, .dropout = 0}, options,
                            RunContext({.threads = threads}));
}

TEST(SimilarityLearning, FeaturesFindClustersWithFarFewerAnswers) {
  // 8 answers per item with 30 % errors: without features that is below what anybody can use.
  const PairWorld world = pair_world(400, 4, 1600, 0.3);
  const SimilarityLearned learned = learned_from(world, 4);
  EXPECT_GT(evaluate_similarities(learned.fit.cluster, world.data).accuracy.value, 0.95);
  EXPECT_EQ(learned.row_probabilities.size(), 400 * learned.fit.cluster_count());
  for (std::size_t w = 0; w < 5; ++w) {
    EXPECT_NEAR(learned.fit.false_same[w], 0.3, 0.1);
    EXPECT_LE(learned.fit.false_different[w] + learned.fit.false_same[w], 1 + 1e-12);
  }
}

TEST(SimilarityLearning, NoiseCostsLittleWhereFeaturesAndAnswersWorkTogether) {
  // 50 answers per item in 6 clusters that overlap: neither the features nor the answers alone tell them apart.
  const PairWorld clean = pair_world(300, 6, 7500, 0, 1), noisy = pair_world(300, 6, 7500, 0.3, 1);
  const double without_noise = evaluate_similarities(learned_from(clean, 6).fit.cluster, clean.data).accuracy.value;
  const SimilarityLearned learned = learned_from(noisy, 6);
  EXPECT_TRUE(learned.by_features);
  EXPECT_GT(without_noise, 0.98);
  EXPECT_GT(evaluate_similarities(learned.fit.cluster, noisy.data).accuracy.value, 0.95 * without_noise);
}

TEST(SimilarityLearning, FeaturesThatSayNothingDoNoHarm) {
  PairWorld world = pair_world(150, 3, 6000, 0.2);
  Rng rng(9);
  for (float& value : world.features.dense) value = static_cast<float>(rng.normal());
  SimilarityData seen;
  seen.answers = world.data.answers;
  const double without = evaluate_similarities(aggregate(seen).cluster, world.data).accuracy.value;
  const SimilarityLearned learned = learned_from(world, 3);
  EXPECT_GT(without, 0.98);
  EXPECT_GE(evaluate_similarities(learned.fit.cluster, world.data).accuracy.value, without - 0.01);
}

TEST(SimilarityLearning, ClustersWithoutRoomAreThoseOfTheAnswersAlone) {
  // Two outputs for five clusters: hidden pairs say that the answers alone do better.
  const PairWorld world = pair_world(150, 5, 9000, 0.1);
  const SimilarityLearned learned = learned_from(world, 2);
  EXPECT_FALSE(learned.by_features);
  EXPECT_EQ(learned.fit.cluster_count(), 5U);
  EXPECT_EQ(learned.row_probabilities.size(), 150U * 5);
  EXPECT_GT(evaluate_similarities(learned.fit.cluster, world.data).accuracy.value, 0.98);
}

TEST(SimilarityLearning, SameBitsForAnyNumberOfThreads) {
  const PairWorld world = pair_world(100, 3, 600, 0.2);
  const SimilarityLearned one = learned_from(world, 3, 1), two = learned_from(world, 3, 2);
  EXPECT_EQ(one.fit.cluster, two.fit.cluster);
  EXPECT_EQ(one.fit.probability, two.fit.probability);
}

TEST(SimilarityLearning, ItemsWithoutFeaturesAreJudgedByTheirAnswers) {
  PairWorld world = pair_world(60, 2, 600, 0.1);
  world.row_of_item[3] = kNoRow;
  const SimilarityLearned learned = learned_from(world, 2);
  EXPECT_EQ(learned.fit.cluster.size(), 60U);
  EXPECT_EQ(learned.fit.cluster[3], learned.fit.cluster[5]);
  world.row_of_item.assign(60, kNoRow);
  EXPECT_THROW((void)learned_from(world, 2), Error);
  world.row_of_item.pop_back();
  EXPECT_THROW((void)learned_from(world, 2), Error);
}

}  // namespace
}  // namespace wisecrowd
