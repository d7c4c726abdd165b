#include "wisecrowd/evaluate_sequences.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr TagId O = kOutside, U = kNoTag;
const TagId Bx = begin_tag(0), Ix = inside_tag(0), By = begin_tag(1), Iy = inside_tag(1);

std::vector<Span> spans_of(const std::vector<TagId>& tags) {
  std::vector<Span> spans;
  append_spans(TaskId{0}, tags, spans);
  return spans;
}

TEST(Spans, BeginWhereTheSchemeSaysSo) {
  EXPECT_EQ(spans_of({Bx, Ix, O, Bx, Bx}),
            (std::vector<Span>{{TaskId{0}, 0, 2, 0}, {TaskId{0}, 3, 4, 0}, {TaskId{0}, 4, 5, 0}}));
  // An I after O, or after another type, begins a span of its own.
  EXPECT_EQ(spans_of({O, Ix, Ix, Iy}), (std::vector<Span>{{TaskId{0}, 1, 3, 0}, {TaskId{0}, 3, 4, 1}}));
  EXPECT_EQ(spans_of({Bx, U, Ix}), (std::vector<Span>{{TaskId{0}, 0, 1, 0}, {TaskId{0}, 2, 3, 0}}));
  EXPECT_TRUE(spans_of({O, U, O}).empty());
}

TEST(Spans, StrictAndRelaxed) {
  const std::vector<TagId> found = {Bx, Ix, O, By, O, Bx}, truth = {Bx, O, O, By, O, By};
  const SpanCounts counts = compare_spans(found, truth);
  EXPECT_EQ(counts.found, 3U);
  EXPECT_EQ(counts.truth, 3U);
  EXPECT_EQ(counts.right, 1U);          // the y alone has both ends right
  EXPECT_EQ(counts.found_touched, 2U);  // the first x is too long; the last has another type
  EXPECT_EQ(counts.truth_touched, 2U);
  EXPECT_NEAR(counts.strict_f1(), 1.0 / 3, 1e-12);
}

TEST(Spans, UnknownTokensCountOnNeitherSide) {
  const std::vector<TagId> found = {Bx, Ix, Bx}, truth = {U, U, Bx};
  const SpanCounts counts = compare_spans(found, truth);
  EXPECT_EQ(counts.found, 1U);
  EXPECT_EQ(counts.right, 1U);
  EXPECT_TRUE(std::isnan(compare_spans({}, {}).strict_f1()));
}

TEST(EvaluateSequences, ByHand) {
  const std::vector<std::uint64_t> offsets = {0, 3, 5, 6};
  const std::vector<TagId> tags = {Bx, Ix, O, By, O, O}, gold = {Bx, Ix, O, Bx, O, U};
  const SequenceEvaluation score = evaluate_sequences(offsets, tags, gold, 2);
  EXPECT_EQ(score.documents, 2U);
  EXPECT_EQ(score.tokens, 5U);
  EXPECT_DOUBLE_EQ(score.token_accuracy.value, 0.8);
  EXPECT_DOUBLE_EQ(score.strict.precision.value, 0.5);
  EXPECT_DOUBLE_EQ(score.strict.f1.value, 0.5);
  EXPECT_DOUBLE_EQ(score.types[0].strict.precision.value, 1);
  EXPECT_DOUBLE_EQ(score.types[0].strict.recall.value, 0.5);
  EXPECT_DOUBLE_EQ(score.types[1].strict.precision.value, 0);
  EXPECT_TRUE(std::isnan(score.types[1].strict.recall.value));  // gold has no y
  EXPECT_LE(score.strict.f1.low, 0.5);
  EXPECT_GE(score.strict.f1.high, 0.5);
  EXPECT_THROW((void)evaluate_sequences(offsets, tags, std::vector<TagId>(6, U), 2), Error);
}

TEST(DescribeSequences, ByHand) {
  SequenceAnswersBuilder builder;
  const std::vector<std::string> a = {"B-x", "I-x", "O"}, b = {"B-x", "O", "O"}, c = {"", "I-x", "O"};
  builder.add("d", "a", a).add("d", "b", b).add("e", "c", c).add_document("f", 2);
  const SequenceDescription description = describe(builder.build());
  EXPECT_EQ(description.tokens, 8U);
  EXPECT_EQ(description.tags, 8U);
  EXPECT_EQ(description.untagged_tokens, 3U);
  EXPECT_EQ(description.partial_answers, 1U);
  EXPECT_EQ(description.misplaced_tags, 0U);  // after a skipped token nobody knows
  EXPECT_EQ(description.spans_of_type[0], 3U);
  EXPECT_EQ(description.pairwise_f1, 0);
  EXPECT_EQ(description.pairwise_relaxed_f1, 1);
  // Three tokens with two tags each: B B, I O, O O. Disagreeing pairs 2 of 6; by chance 2·(2·4 + 1·5 + 3·3) / 2 /
  // (6·5).
  EXPECT_NEAR(description.token_alpha, 1 - (2.0 / 6) / ((2 * 4 + 1 * 5 + 3 * 3) / (6.0 * 5)), 1e-12);
}

}  // namespace
}  // namespace wisecrowd
