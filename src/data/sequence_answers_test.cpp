#include "wisecrowd/sequence_answers.hpp"

#include <gtest/gtest.h>

#include "wisecrowd/error.hpp"
#include "wisecrowd/sequence_data.hpp"

namespace wisecrowd {
namespace {

TEST(SequenceAnswers, TagsOfTheScheme) {
  const std::vector<std::string> names = {"LOC", "PER"};
  const NameTable types(names);
  EXPECT_EQ(tag_name(begin_tag(1), types), "B-PER");
  EXPECT_EQ(tag_name(inside_tag(0), types), "I-LOC");
  EXPECT_EQ(tag_name(kOutside, types), "O");
  EXPECT_TRUE(may_follow(begin_tag(0), inside_tag(0)));
  EXPECT_TRUE(may_follow(inside_tag(0), inside_tag(0)));
  EXPECT_FALSE(may_follow(kOutside, inside_tag(0)));
  EXPECT_FALSE(may_follow(begin_tag(1), inside_tag(0)));
  EXPECT_TRUE(may_follow(inside_tag(1), begin_tag(0)));
  ParsedTag tag;
  EXPECT_TRUE(parse_tag("B-a-b", tag));
  EXPECT_EQ(tag.type, "a-b");
  for (const char* text : {"", "B", "B-", "BI", "o", "E-x", "B_x"}) EXPECT_FALSE(parse_tag(text, tag)) << text;
}

TEST(SequenceAnswers, AreSortedByDocumentAndWorker) {
  SequenceAnswersBuilder builder;
  const std::vector<std::string> one = {"O", "B-z"}, two = {"B-a"}, skip = {"", "O", "", "B-z", ""};
  builder.add("d10", "w2", one).add("d2", "w1", two).add("d10", "w1", skip);
  const SequenceAnswers answers = builder.build();
  EXPECT_EQ(answers.task_names()[0], "d2");
  EXPECT_EQ(answers.type_names()[0], "a");
  EXPECT_EQ(answers.length(TaskId{1}), 5U);  // skipped tokens are there
  ASSERT_EQ(answers.answer_count(), 3U);
  EXPECT_EQ(answers.first(1), 1U);
  EXPECT_EQ(std::vector<TagId>(answers.tags(1).begin(), answers.tags(1).end()),
            (std::vector<TagId>{kOutside, kNoTag, begin_tag(1)}));
  EXPECT_EQ(answers.tag_answer_count(), 5U);
}

TEST(SequenceAnswers, FingerprintFollowsWhatWasSaid) {
  const auto hash = [](const std::vector<std::string>& tags, const char* worker) {
    SequenceAnswersBuilder builder;
    builder.add("d", worker, tags).add_type("x");
    return builder.build().content_hash();
  };
  EXPECT_EQ(hash({"O", "B-x"}, "a"), hash({"O", "B-x"}, "a"));
  EXPECT_NE(hash({"O", "B-x"}, "a"), hash({"O", "O"}, "a"));
  EXPECT_NE(hash({"O", "B-x"}, "a"), hash({"O", "B-x"}, "b"));
}

TEST(SequenceAnswers, RefusesWhatCannotBe) {
  SequenceAnswersBuilder builder;
  const std::vector<std::string> bad = {"PER"}, good = {"O"};
  EXPECT_THROW(builder.add("d", "w", bad), Error);
  builder.add("d", "w", good).add("d", "w", good);
  EXPECT_THROW((void)builder.build(), Error);
  const auto names = [] { return NameTable("", std::vector<std::uint64_t>(2, 0)); };
  const std::vector<TagId> tags = {begin_tag(1)};
  const SequenceAnswer answer{TaskId{0}, WorkerId{0}, 0, tags};
  EXPECT_THROW((void)make_sequence_answers(std::span(&answer, 1), {names(), names(), names()}), Error);  // one type
  const std::vector<std::uint32_t> lengths = {0};
  const std::vector<TagId> outside = {kOutside};
  const SequenceAnswer beyond{TaskId{0}, WorkerId{0}, 0, outside};
  EXPECT_THROW((void)make_sequence_answers(std::span(&beyond, 1), {names(), names(), names()}, lengths), Error);
}

TEST(SequenceData, GoldMustFit) {
  SequenceAnswersBuilder builder;
  const std::vector<std::string> tags = {"O", "B-x"};
  builder.add("d", "w", tags);
  SequenceData data{builder.build(), {kOutside}, {}, 0};
  EXPECT_THROW(validate(data), Error);
  data.gold = {kOutside, begin_tag(3)};
  EXPECT_THROW(validate(data), Error);
  data.gold = {kNoTag, begin_tag(0)};
  EXPECT_NO_THROW(validate(data));
}

}  // namespace
}  // namespace wisecrowd
