#include "wisecrowd/evaluate_similarities.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

namespace wisecrowd {
namespace {

SimilarityData gold_of(std::vector<std::uint32_t> clusters, std::size_t names) {
  SimilarityData data;
  data.gold = std::move(clusters);
  data.gold_clusters = NameTable("", std::vector<std::uint64_t>(names + 1, 0));
  return data;
}

TEST(EvaluateSimilarities, PerfectUnderAnyNames) {
  const std::uint32_t found[] = {9, 9, 4, 4, 4};
  const SimilarityEvaluation e = evaluate_similarities(found, gold_of({0, 0, 1, 1, 1}, 2));
  EXPECT_EQ(e.accuracy.value, 1);
  EXPECT_DOUBLE_EQ(e.nmi, 1);
  EXPECT_DOUBLE_EQ(e.adjusted_rand, 1);
  EXPECT_EQ(e.pair_f1, 1);
  EXPECT_EQ(e.pairs, 10U);
}

TEST(EvaluateSimilarities, KnownValues) {
  // A textbook case: 6 items, truth {0,1,2} {3,4,5}, found {0,1} {2,3} {4,5}.
  const std::uint32_t found[] = {0, 0, 1, 1, 2, 2};
  const SimilarityEvaluation e = evaluate_similarities(found, gold_of({0, 0, 0, 1, 1, 1}, 2));
  EXPECT_NEAR(e.accuracy.value, 4.0 / 6, 1e-12);
  EXPECT_NEAR(e.pair_precision, 2.0 / 3, 1e-12);
  EXPECT_NEAR(e.pair_recall, 2.0 / 6, 1e-12);
  EXPECT_NEAR(e.pair_f1, 4.0 / 9, 1e-12);
  // both = 2, truth pairs 6, found pairs 3, of 15: (2 − 1.2) / (4.5 − 1.2).
  EXPECT_NEAR(e.adjusted_rand, 0.8 / 3.3, 1e-12);
  const double information = 4.0 / 6 * std::log(2.0);  // clusters 0 and 2 tell the truth, 1 tells nothing
  EXPECT_NEAR(e.nmi, 2 * information / (std::log(2.0) + std::log(3.0)), 1e-12);
  EXPECT_EQ(e.clusters, 3U);
  EXPECT_EQ(e.true_clusters, 2U);
}

TEST(EvaluateSimilarities, ManySmallClustersAreMatchedQuickly) {
  std::vector<std::uint32_t> found, truth;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    found.push_back(i);  // all alone
    truth.push_back(i % 10);
  }
  const SimilarityEvaluation e = evaluate_similarities(found, gold_of(truth, 10));
  EXPECT_NEAR(e.accuracy.value, 10.0 / 20'000, 1e-12);
  EXPECT_TRUE(std::isnan(e.pair_precision));
  EXPECT_EQ(e.pair_recall, 0);
}

TEST(EvaluateSimilarities, PairsAloneAndUnknownItems) {
  SimilarityData data;
  data.gold_pairs = {{{0, 1}, true}, {{0, 2}, true}, {{1, 3}, false}};
  const std::uint32_t found[] = {0, 0, 1, 0};
  const SimilarityEvaluation e = evaluate_similarities(found, data);
  EXPECT_EQ(e.items, 0U);
  EXPECT_EQ(e.pairs, 3U);
  EXPECT_NEAR(e.accuracy.value, 1.0 / 3, 1e-12);
  EXPECT_NEAR(e.pair_precision, 0.5, 1e-12);
  EXPECT_NEAR(e.pair_recall, 0.5, 1e-12);
  const std::uint32_t some[] = {0, 1, 1};
  EXPECT_EQ(evaluate_similarities(some, gold_of({kNoCluster, 0, 0}, 1)).items, 2U);
}

TEST(DescribeSimilarities, CountsTrianglesThatContradict) {
  SimilarityAnswersBuilder builder;
  builder.add("w", "a", "b", true).add("w", "b", "c", true).add("w", "a", "c", false);   // cannot be
  builder.add("w", "a", "d", false).add("w", "b", "d", false).add("v", "b", "d", true);  // b, d undecided
  builder.add("w", "x", "y", true).add_item("z");
  const SimilarityDescription d = describe(builder.build());
  EXPECT_EQ(d.items, 7U);
  EXPECT_EQ(d.bare_items, 1U);
  EXPECT_EQ(d.item_components, 2U);
  EXPECT_EQ(d.triangles, 1U);
  EXPECT_EQ(d.contradicting_triangles, 1U);
  ASSERT_EQ(d.examples.size(), 1U);
  EXPECT_EQ(d.examples[0].a, 0U);  // a = b, b = c, a ≠ c
  EXPECT_EQ(d.examples[0].b, 1U);
  EXPECT_EQ(d.examples[0].c, 2U);
  EXPECT_NEAR(d.coverage, 6.0 / 21, 1e-12);
  EXPECT_EQ(d.agreement, 0);
  EXPECT_EQ(d.warnings.at(0).code, "items_not_connected");
}

TEST(DescribeSimilarities, ManyTrianglesAreDrawn) {
  SimilarityAnswersBuilder builder;
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < i; ++j) builder.add("w", fmt::format("{}", i), fmt::format("{}", j), i % 2 == j % 2);
  }
  const SimilarityDescription clean = describe(builder.build());
  EXPECT_TRUE(clean.triangles_sampled);
  EXPECT_EQ(clean.contradicting_triangles, 0U);
  EXPECT_GT(clean.triangles, 1'000'000U);
}

}  // namespace
}  // namespace wisecrowd
