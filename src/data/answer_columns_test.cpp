#include "wisecrowd/answer_columns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

struct Crowd {
  std::vector<std::uint32_t> tasks, workers, labels;
  CategoryAnswerNames names;
  [[nodiscard]] AnswerColumns columns() const { return {tasks, workers, labels}; }
};

NameTable numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return NameTable(names);
}

/// More rows than one piece holds, with repeated pairs.
Crowd many_answers() {
  constexpr std::uint32_t kTasks = 70000, kWorkers = 91, kClasses = 3;
  Crowd crowd{.names = {numbered(kTasks), numbered(kWorkers), numbered(kClasses)}};
  std::uint64_t state = 1;
  for (int i = 0; i < 300000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    crowd.tasks.push_back(static_cast<std::uint32_t>((state >> 33) % kTasks));
    crowd.workers.push_back(static_cast<std::uint32_t>((state >> 20) % kWorkers));
    crowd.labels.push_back(static_cast<std::uint32_t>((state >> 50) % kClasses));
  }
  return crowd;
}

TEST(AnswerColumns, AreTheSameAsAListOfAnswers) {
  const Crowd crowd = many_answers();
  std::vector<CategoryAnswer> list;
  for (std::size_t i = 0; i < crowd.tasks.size(); ++i) {
    list.push_back({TaskId(crowd.tasks[i]), WorkerId(crowd.workers[i]), ClassId(crowd.labels[i])});
  }
  for (const auto policy : {DuplicatePolicy::keep_last, DuplicatePolicy::repeat}) {
    BuildReport expected_report, report;
    const auto expected = make_category_answers(list, crowd.names, policy, &expected_report);
    const auto built = make_category_answers(crowd.columns(), crowd.names, policy, RunContext({.threads = 3}), &report);
    EXPECT_EQ(built.content_hash(), expected.content_hash());
    EXPECT_EQ(report.duplicates_dropped, expected_report.duplicates_dropped);
    EXPECT_EQ(report.repeats, expected_report.repeats);
    EXPECT_GT(report.duplicates_dropped + report.repeats, 0U);
  }
}

TEST(AnswerColumns, RefuseIndicesWithoutAName) {
  Crowd crowd = many_answers();
  crowd.workers[200000] = 91;
  try {
    (void)make_category_answers(crowd.columns(), crowd.names, DuplicatePolicy::keep_last, RunContext());
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find("answer 200000: worker index 91"), std::string::npos) << error.what();
  }
}

TEST(AnswerColumns, RefuseColumnsOfDifferentLength) {
  Crowd crowd = many_answers();
  crowd.labels.pop_back();
  EXPECT_THROW((void)make_category_answers(crowd.columns(), crowd.names, DuplicatePolicy::keep_last, RunContext()),
               Error);
}

TEST(AnswerColumns, MayBeEmpty) {
  EXPECT_EQ(make_category_answers(AnswerColumns{}, {}, DuplicatePolicy::keep_last, RunContext()).answer_count(), 0U);
}

}  // namespace
}  // namespace wisecrowd
