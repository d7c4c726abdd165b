#include "aggregate/sequences/token_vote/token_vote.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wisecrowd {
namespace {

using token_vote::TagTies;
using token_vote::TokenVote;

SequenceData voted() {
  SequenceAnswersBuilder builder;
  const std::vector<std::string> a = {"B-x", "I-x", "O", "O"}, b = {"B-x", "O", "O", "O"}, c = {"O", "", "O", "B-y"};
  builder.add("d", "a", a).add("d", "b", b).add("d", "c", c);
  return {builder.build(), {}, {}, 0};
}

TEST(TokenVote, ByHand) {
  const SequenceFit fit = TokenVote().fit(voted(), RunContext());
  // At the second token O and I-x have a vote each: O is commoner among all answers.
  EXPECT_EQ(fit.tags, (std::vector<TagId>{begin_tag(0), kOutside, kOutside, kOutside}));
  EXPECT_NEAR(fit.probability[0], 2.0 / 3, 1e-12);
  EXPECT_NEAR(fit.probability[1], 0.5, 1e-12);
  ASSERT_EQ(fit.spans.size(), 1U);
  EXPECT_EQ(fit.spans[0], (Span{TaskId{0}, 0, 1, 0}));
  EXPECT_NEAR(fit.span_probability[0], 2.0 / 3 * 0.5, 1e-12);  // it might go on, by one vote of two
  EXPECT_NEAR(fit.accuracy[2], (1.0 / 3 + 1 + 1.0 / 3) / 3, 1e-12);
}

TEST(TokenVote, TiesAsAsked) {
  std::size_t marked = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SequenceFit fit = TokenVote({TagTies::random}).fit(voted(), RunContext({.seed = seed}));
    marked += fit.tags[1] == inside_tag(0) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(marked) / 200, 0.5, 0.15);
  EXPECT_EQ(TokenVote({TagTies::lowest}).fit(voted(), RunContext()).tags[1], kOutside);
}

TEST(TokenVote, PredictsByTables) {
  const SequenceData data = voted();
  const SequenceFit fit = TokenVote().fit(data, RunContext());
  const std::vector<TagId> said = {begin_tag(0), kNoTag, kOutside};
  const SequenceAnswer answer{TaskId{0}, WorkerId{1}, 0, said};
  double expected = 0;
  for (const std::size_t t : {0UL, 2UL}) {
    double p = 0;
    for (std::size_t k = 0; k < 5; ++k) p += fit.posterior[t * 5 + k] * fit.worker_tables[25 + k * 5 + index(said[t])];
    expected += std::log(p);
  }
  EXPECT_NEAR(TokenVote().log_predictive(data, std::span(&answer, 1), RunContext()).at(0), expected, 1e-12);
}

}  // namespace
}  // namespace wisecrowd
