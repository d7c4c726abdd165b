#include "wisecrowd/similarity_answers.hpp"

#include <gtest/gtest.h>

#include "wisecrowd/error.hpp"
#include "wisecrowd/similarity_fit.hpp"

namespace wisecrowd {
namespace {

TEST(SimilarityAnswers, OrderOfRowsAndSidesMeanNothing) {
  SimilarityAnswersBuilder one, other;
  one.add("w", "a", "b", true).add("v", "b", "c", false).add("v", "a", "b", false);
  other.add("v", "b", "a", false).add("v", "c", "b", false).add("w", "b", "a", true);
  EXPECT_EQ(one.build().content_hash(), other.build().content_hash());
  other.add("w", "a", "c", true);
  EXPECT_NE(one.build().content_hash(), other.build().content_hash());
}

TEST(SimilarityAnswers, AnItemComparedWithItselfIsRefused) {
  SimilarityAnswersBuilder builder;
  EXPECT_THROW(builder.add("w", "a", "a", true), Error);
}

TEST(SimilarityAnswers, OtherAnswersToTheSamePairs) {
  SimilarityAnswersBuilder builder;
  builder.add("w", "a", "b", true).add("v", "b", "c", false).add("v", "a", "b", false);
  const SimilarityAnswers all = builder.build();
  const SimilarityAnswer kept[] = {{TaskId{1}, WorkerId{0}, true}};
  const SimilarityAnswers fewer = with_answers(all, kept);
  EXPECT_EQ(fewer.task_count(), 2U);
  EXPECT_EQ(fewer.item_count(), 3U);
  EXPECT_EQ(fewer.answer_count(), 1U);
  EXPECT_TRUE(fewer.workers_of(TaskId{0}).empty());
  const SimilarityAnswer wrong[] = {{TaskId{2}, WorkerId{0}, true}};
  EXPECT_THROW((void)with_answers(all, wrong), Error);
}

TEST(SimilarityAnswers, ClustersAreListedBySizeThenByFirstItem) {
  const std::uint32_t cluster[] = {5, 2, 2, 0, 5, 7};
  const auto places = cluster_places(cluster);
  EXPECT_EQ(places[5], 0U);
  EXPECT_EQ(places[2], 1U);
  EXPECT_EQ(places[0], 2U);
  EXPECT_EQ(places[7], 3U);
  EXPECT_EQ(places[1], kNoCluster);
}

TEST(SimilarityData, GoldMustFit) {
  SimilarityData data;
  data.answers = SimilarityAnswersBuilder().add("w", "a", "b", true).build();
  data.gold = {0};
  EXPECT_THROW(validate(data), Error);
  data.gold = {0, 1};
  EXPECT_THROW(validate(data), Error);  // there are no such clusters
  data.gold.clear();
  data.gold_pairs = {{{1, 0}, true}};
  EXPECT_THROW(validate(data), Error);
  data.gold_pairs = {{{0, 1}, true}};
  EXPECT_NO_THROW(validate(data));
}

}  // namespace
}  // namespace wisecrowd
