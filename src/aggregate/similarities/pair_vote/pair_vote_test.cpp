#include "aggregate/similarities/pair_vote/pair_vote.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace wisecrowd {
namespace {

SimilarityData triangle(bool third) {
  SimilarityAnswersBuilder builder;
  builder.add("w1", "a", "b", true).add("w2", "a", "b", true).add("w1", "b", "c", true).add("w1", "a", "c", third);
  builder.add("w1", "c", "d", false).add("w2", "a", "d", false);
  return {.answers = builder.build(), .gold = {}, .gold_clusters = {}, .gold_pairs = {}};
}

TEST(PairVote, MostVotesDecide) {
  SimilarityAnswersBuilder builder;
  builder.add("w1", "a", "b", true).add("w2", "a", "b", true).add("w3", "a", "b", false);
  builder.add("w1", "b", "c", false).add("w2", "c", "b", false).add("w3", "b", "c", true);
  const SimilarityFit fit = pair_vote::PairVote().fit(
      {.answers = builder.build(), .gold = {}, .gold_clusters = {}, .gold_pairs = {}}, RunContext());
  EXPECT_EQ(fit.cluster, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(fit.cluster_names, (std::vector<std::string>{"1", "2"}));
  EXPECT_GT(fit.false_different[2], fit.false_different[0]);  // the third contradicts both clusters
  EXPECT_GT(fit.false_same[2], fit.false_same[0]);
}

TEST(PairVote, ComponentsHangTogetherByOneVoteAndCorrelationWeighsThem) {
  SimilarityAnswersBuilder builder;  // two groups of three that all call different but for one pair
  for (const char* pair : {"ab", "bc", "ac", "de", "ef", "df", "cd"}) {
    builder.add("w", std::string_view(pair, 1), std::string_view(pair + 1, 1), true);
  }
  for (const char* pair : {"ad", "ae", "af", "bd", "be", "bf", "ce", "cf"}) {
    builder.add("w", std::string_view(pair, 1), std::string_view(pair + 1, 1), false);
  }
  const SimilarityData data{.answers = builder.build(), .gold = {}, .gold_clusters = {}, .gold_pairs = {}};
  EXPECT_EQ(pair_vote::PairVote({pair_vote::Grouping::components}).fit(data, RunContext()).cluster_count(), 1U);
  const SimilarityFit fit = pair_vote::PairVote().fit(data, RunContext());
  EXPECT_EQ(fit.cluster, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1}));
}

TEST(PairVote, GoldPinsClustersAndPairs) {
  SimilarityData data = triangle(true);
  const std::vector<std::string> names{"x", "y"};
  data.gold_clusters = NameTable(names);
  data.gold = {0, kNoCluster, 1, kNoCluster};
  const SimilarityFit fit = pair_vote::PairVote().fit(data, RunContext());
  EXPECT_EQ(fit.cluster_names[fit.cluster[0]], "x");
  EXPECT_EQ(fit.cluster_names[fit.cluster[1]], "x");  // two votes against one
  EXPECT_EQ(fit.cluster_names[fit.cluster[2]], "y");
  SimilarityData pairs = triangle(true);
  pairs.gold_pairs = {{{0, 1}, false}, {{0, 3}, true}};
  const SimilarityFit by_pairs = pair_vote::PairVote().fit(pairs, RunContext());
  EXPECT_NE(by_pairs.cluster[0], by_pairs.cluster[1]);
  EXPECT_EQ(by_pairs.cluster[0], by_pairs.cluster[3]);
}

TEST(PairVote, AnItemThatAllCallDifferentIsAlone) {
  const SimilarityFit fit = pair_vote::PairVote().fit(triangle(true), RunContext());
  EXPECT_EQ(fit.cluster, (std::vector<std::uint32_t>{0, 0, 0, 1}));
}

}  // namespace
}  // namespace wisecrowd
