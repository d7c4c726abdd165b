#include "wisecrowd/set_answers.hpp"

#include <gtest/gtest.h>

#include "wisecrowd/error.hpp"
#include "wisecrowd/set_data.hpp"

namespace wisecrowd {
namespace {

std::vector<std::string> names_of(const SetAnswers& answers, AnswerIndex answer) {
  std::vector<std::string> names;
  for (const ClassId label : answers.set(answer)) names.emplace_back(answers.class_names()[index(label)]);
  return names;
}

TEST(SetAnswers, KeepsSetsInTheOrderOfNames) {
  SetAnswersBuilder builder;
  builder.add("t10", "w", {"b", "a", "b"}).add("t2", "w", {}).add("t10", "a", {"c"});
  const SetAnswers answers = builder.build();
  ASSERT_EQ(answers.answer_count(), 3U);
  EXPECT_EQ(answers.task_names()[0], "t2");
  EXPECT_TRUE(answers.set(0).empty());
  EXPECT_EQ(names_of(answers, 1), std::vector<std::string>{"c"});
  EXPECT_EQ(names_of(answers, 2), (std::vector<std::string>{"a", "b"}));
}

TEST(SetAnswers, TheLastOfRepeatedAnswersCounts) {
  SetAnswersBuilder builder;
  builder.add("t", "w", {"a"}).add("t", "w", {"b"}).add("t", "w", {"b"});
  BuildReport report;
  const SetAnswers answers = builder.build(DuplicatePolicy::keep_last, &report);
  EXPECT_EQ(names_of(answers, 0), std::vector<std::string>{"b"});
  EXPECT_EQ(report.duplicates_dropped, 2U);
  EXPECT_EQ(report.duplicates_contradicting, 1U);
  EXPECT_THROW((void)builder.build(DuplicatePolicy::reject), Error);
  EXPECT_EQ(builder.build(DuplicatePolicy::repeat).answer_count(), 3U);
}

TEST(SetAnswers, TheFingerprintKnowsWhatWasSaidAndNotTheOrderOfRows) {
  SetAnswersBuilder one, other, empty, divided;
  one.add("t", "v", {"a"}).add("t", "w", {"a", "b"});
  other.add("t", "w", {"b", "a"}).add("t", "v", {"a"});
  empty.add("t", "v", {}).add("t", "w", {"a", "b"});
  divided.add("t", "v", {"a", "b"}).add("t", "w", {"a"});
  EXPECT_EQ(one.build().content_hash(), other.build().content_hash());
  EXPECT_NE(one.build().content_hash(), empty.build().content_hash());
  EXPECT_NE(one.build().content_hash(), divided.build().content_hash());
}

TEST(SetAnswers, RefusesWhatDoesNotFit) {
  EXPECT_THROW(SetAnswersBuilder({"a"}).add("t", "w", {"b"}), Error);
  EXPECT_THROW(SetAnswersBuilder({"a", "a"}), Error);
  const std::vector<std::string> names{"x", "y"};
  const ClassId twice[] = {ClassId{0}, ClassId{0}}, unknown[] = {ClassId{2}};
  for (const std::span<const ClassId> set : {std::span<const ClassId>(twice), std::span<const ClassId>(unknown)}) {
    const SetAnswer answer{TaskId{0}, WorkerId{0}, set};
    EXPECT_THROW((void)make_set_answers(std::span(&answer, 1), {NameTable(names), NameTable(names), NameTable(names)}),
                 Error);
  }
  SetAnswersBuilder builder({"a", "b"});
  builder.add("t", "w", {"a"});
  EXPECT_THROW(validate(SetData{builder.build(), {{}, {}}}), Error);
  EXPECT_THROW(validate(SetData{builder.build(), {std::vector{ClassId{1}, ClassId{0}}}}), Error);
  EXPECT_THROW(validate(SetData{builder.build(), {std::vector{ClassId{2}}}}), Error);
  EXPECT_NO_THROW(validate(SetData{builder.build(), {std::vector<ClassId>{}}}));
}

}  // namespace
}  // namespace wisecrowd
