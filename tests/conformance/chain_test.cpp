// Methods that begin where others end.

#include <gtest/gtest.h>

#include <cmath>

#include "support/crowds.hpp"
#include "support/structure.hpp"

namespace wisecrowd {
namespace {

MethodStage stage(const std::string& method, const std::vector<std::pair<std::string, std::string>>& settings = {}) {
  MethodStage made{method, Parameters(aggregation_method(method).parameters)};
  for (const auto& [name, value] : settings) made.parameters.set(name, value);
  return made;
}

TEST(Chain, VotesFirstIsTheUsualStart) {
  const auto crowd = testing::small_crowd(1, 400, 12, 3, 4);
  const RunContext context;
  const std::vector<MethodStage> chain = {stage("majority_vote"), stage("dawid_skene")};
  const auto chained = aggregate(crowd.data, chain, context);
  const auto alone = aggregate(crowd.data, "dawid_skene");
  ASSERT_EQ(chained.posterior.size(), alone.posterior.size());
  for (std::size_t e = 0; e < alone.posterior.size(); ++e) EXPECT_NEAR(chained.posterior[e], alone.posterior[e], 1e-9);
}

TEST(Chain, TwoHalvesMakeAWhole) {
  const auto crowd = testing::small_crowd(2, 400, 12, 3, 4);
  const RunContext context;
  const auto steps = [](const char* count) {
    return stage("dawid_skene", {{"max_iterations", count}, {"tolerance", "0"}});
  };
  const auto whole = aggregate(crowd.data, std::vector{steps("6")}, context);
  for (const auto handoff : {MethodStage::Handoff::posterior, MethodStage::Handoff::tables}) {
    std::vector<MethodStage> chain = {steps("4"), steps("2")};
    chain[0].handoff = handoff;
    const auto halves = aggregate(crowd.data, chain, context);
    for (std::size_t e = 0; e < whole.posterior.size(); ++e) {
      EXPECT_NEAR(halves.posterior[e], whole.posterior[e], 1e-7);
    }
  }
}

// The tables of a vote know their workers: what they imply differs from the vote itself, and is better.
TEST(Chain, TablesOfAVoteAreAStart) {
  const auto crowd = testing::small_crowd(3, 600, 9, 3, 4);
  std::vector<MethodStage> chain = {stage("majority_vote"),
                                    stage("dawid_skene", {{"max_iterations", "1"}, {"tolerance", "0"}})};
  const RunContext context;
  const auto from_votes = aggregate(crowd.data, chain, context);
  chain[0].handoff = MethodStage::Handoff::tables;
  const auto from_tables = aggregate(crowd.data, chain, context);
  EXPECT_NE(from_votes.posterior, from_tables.posterior);
  EXPECT_GT(from_tables.log_likelihood, from_votes.log_likelihood);
}

TEST(Chain, RefusesBeforeAnyWork) {
  const auto crowd = testing::small_crowd(4, 50, 5, 3, 3);
  const RunContext context;
  const std::vector<MethodStage> backwards = {stage("dawid_skene"), stage("majority_vote")};
  EXPECT_THROW(static_cast<void>(aggregate(crowd.data, backwards, context)), Error);
  EXPECT_THROW(static_cast<void>(aggregate(crowd.data, std::vector<MethodStage>{}, context)), Error);
  const std::vector<MethodStage> too_many_classes = {stage("sml"), stage("dawid_skene")};
  EXPECT_THROW(static_cast<void>(aggregate(crowd.data, too_many_classes, context)), Error);
}

TEST(Chain, EmIsShortForDawidSkene) { EXPECT_EQ(aggregation_method("em").name, "dawid_skene"); }

// Every method that takes a start can follow every other that yields a posterior.
TEST(Chain, AllStartsFit) {
  const auto crowd = testing::small_crowd(5, 120, 10, 2, 5);
  const CategoryData data = testing::with_order_and_graph(crowd.data);
  const RunContext context;
  for (const MethodInfo& first : aggregation_methods()) {
    if (first.name == "gibbs") continue;  // slow, and no different as a start
    const std::vector<MethodStage> chain = {stage(first.name), stage("dawid_skene", {{"max_iterations", "3"}})};
    const auto result = aggregate(data, chain, context);
    EXPECT_EQ(result.posterior.size(), 240U) << first.name;
    EXPECT_TRUE(std::isfinite(result.log_likelihood)) << first.name;
  }
}

}  // namespace
}  // namespace wisecrowd
