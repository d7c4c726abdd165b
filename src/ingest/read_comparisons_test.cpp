#include "ingest/read_comparisons.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

ComparisonData read(std::string_view text, const std::optional<std::string_view>& gold = std::nullopt,
                    const ReadOptions& options = ComparisonReadOptions(), DataReport* report = nullptr) {
  std::optional<Input> known;
  if (gold) known = Input{"gold.csv", *gold};
  return read_comparisons({"a.csv", text}, known, options, Tuning{}, RunContext({.threads = 1}), report);
}

std::string refusal(std::string_view text, const ReadOptions& options = ComparisonReadOptions()) {
  try {
    (void)read(text, std::nullopt, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ReadComparisons, WinnersNamesAndWordsMeanTheSame) {
  const ComparisonData names = read("worker,left,right,label\nu,a,b,a\nu,b,c,c\nv,a,b,tie\n");
  const ComparisonData words = read("judge,model_a,model_b,winner\nu,a,b,model_a\nu,b,c,B\nv,a,b,tie (bothbad)\n");
  EXPECT_EQ(names.answers.content_hash(), words.answers.content_hash());
  EXPECT_EQ(names.answers.item_count(), 3U);
  EXPECT_EQ(names.answers.task_count(), 2U);
  EXPECT_EQ(names.answers.answer_count(), 3U);
  const ComparisonAnswer second = names.answers.answer(TaskId{1}, 2);
  EXPECT_EQ(second.left, ItemId{1});
  EXPECT_EQ(second.outcome, Outcome::right);
}

TEST(ReadComparisons, SidesAreKept) {
  const ComparisonData data = read("worker,left,right,label\nu,b,a,left\nv,a,b,left\n");
  ASSERT_EQ(data.answers.task_count(), 1U);
  const ComparisonAnswer first = data.answers.answer(TaskId{0}, 0), second = data.answers.answer(TaskId{0}, 1);
  EXPECT_EQ(first.left, ItemId{1});
  EXPECT_EQ(first.outcome, Outcome::left);
  EXPECT_EQ(second.left, ItemId{0});
  EXPECT_EQ(ComparisonAnswers::outcome_of(data.answers.codes()[0]), Outcome::right);  // b, the second item
  EXPECT_TRUE(ComparisonAnswers::swapped(data.answers.codes()[0]));
}

TEST(ReadComparisons, RowsMayComeInAnyOrder) {
  const auto one = read("worker,left,right,label\nu,i10,i9,i9\nv,i2,i10,tie\nu,i9,i2,i2\n");
  const auto two = read("worker,left,right,label\nu,i9,i2,i2\nu,i10,i9,i9\nv,i2,i10,tie\n");
  EXPECT_EQ(one.answers.content_hash(), two.answers.content_hash());
  EXPECT_EQ(one.answers.item_names()[0], "i2");
  EXPECT_EQ(one.answers.item_names()[2], "i10");
}

TEST(ReadComparisons, RepeatsCountUnlessAskedOtherwise) {
  const std::string_view text = "worker,left,right,label\nu,a,b,a\nu,b,a,b\nu,a,b,a\n";
  EXPECT_EQ(read(text).answers.answer_count(), 3U);
  ReadOptions last;
  DataReport report;
  EXPECT_EQ(read(text, std::nullopt, last, &report).answers.answer_count(), 1U);
  EXPECT_EQ(report.duplicates_contradicting, 2U);
  last.duplicates = DuplicatePolicy::reject;
  const std::string said = refusal(text, last);
  EXPECT_NE(said.find("a.csv:3"), std::string::npos) << said;
  EXPECT_NE(said.find("already compared 'a' and 'b' in line 2"), std::string::npos) << said;
}

TEST(ReadComparisons, ProblemsNameLineValueAndRemedy) {
  const std::string same = refusal("worker,left,right,label\nu,a,b,a\nu,b,b,b\n");
  EXPECT_NE(same.find("a.csv:3"), std::string::npos) << same;
  EXPECT_NE(same.find("'right'"), std::string::npos) << same;
  EXPECT_NE(same.find("compared with itself"), std::string::npos) << same;
  const std::string neither = refusal("worker,left,right,label\nu,a,b,c\n");
  EXPECT_NE(neither.find("a.csv:2"), std::string::npos) << neither;
  EXPECT_NE(neither.find("was said of 'a' and 'b', but must be the name of one of them"), std::string::npos) << neither;
  EXPECT_NE(refusal("worker,left,right,label\nu,,b,b\n").find("a.csv:2"), std::string::npos);
  EXPECT_NE(refusal("worker,left,label\nu,a,a\n").find("names no column for the left item"), std::string::npos);
  EXPECT_NE(refusal("worker,left,right,label\n").find("no row"), std::string::npos);
  ReadOptions lenient = ComparisonReadOptions();
  lenient.lenient = true;
  DataReport report;
  EXPECT_EQ(read("worker,left,right,label\nu,a,b,a\nu,b,b,b\nu,a,b,x\n", std::nullopt, lenient, &report)
                .answers.answer_count(),
            1U);
  EXPECT_EQ(report.rows_dropped, 2U);
}

TEST(ReadComparisons, ChosenAndRejectedHaveNoSides) {
  DataReport report;
  ReadOptions options = ComparisonReadOptions();
  options.format = TableFormat::jsonl;
  const ComparisonData data = read(
      "{\"prompt\": \"p\", \"chosen\": \"x\", \"rejected\": \"y\"}\n{\"prompt\": \"p\", \"chosen\": \"z\", "
      "\"rejected\": \"x\"}\n",
      std::nullopt, options, &report);
  EXPECT_FALSE(data.answers.sides_known());
  EXPECT_EQ(data.answers.worker_count(), 1U);
  EXPECT_EQ(report.warnings.at(0).code, "no_worker_column");
  EXPECT_EQ(data.answers.answer(TaskId{0}, 0).outcome, Outcome::left);
}

TEST(ReadComparisons, GoldIsOfPairsOrOfItems) {
  const std::string_view text = "worker,left,right,label\nu,a,b,a\nu,b,c,c\n";
  DataReport report;
  const ComparisonData pairs =
      read(text, "left,right,label\nb,a,a\nc,b,tie\na,c,a\n", ComparisonReadOptions(), &report);
  ASSERT_EQ(pairs.gold.size(), 2U);
  EXPECT_EQ(pairs.gold[0], Outcome::left);
  EXPECT_EQ(pairs.gold[1], Outcome::tie);
  EXPECT_EQ(report.warnings.at(0).code, "gold_without_answers");
  const ComparisonData items = read(text, "item,score\na,3\nb,1.5\n");
  ASSERT_EQ(items.gold_scores.size(), 3U);
  EXPECT_EQ(items.gold_scores[1], 1.5);
  EXPECT_TRUE(std::isnan(items.gold_scores[2]));
  try {
    (void)read(text, "left,right,label\nb,a,a\na,b,b\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("gold.csv:3"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("contradicts line 2"), std::string::npos) << error.what();
  }
}

TEST(ReadComparisons, ColumnsByNameAndPosition) {
  ReadOptions options = ComparisonReadOptions();
  options.worker_column = "who";
  options.value_columns = {"one", "other"};
  options.label_column = "best";
  EXPECT_EQ(read("best,who,one,other\na,u,a,b\n", std::nullopt, options).answers.answer_count(), 1U);
  options.worker_column = "1";
  options.value_columns = {"2", "3"};
  options.label_column = "4";
  EXPECT_EQ(read("u,a,b,a\nv,a,b,right\n", std::nullopt, options).answers.answer_count(), 2U);
  options.value_columns = {"2", "2"};
  EXPECT_NE(refusal("u,a,b,a\n", options).find("different columns"), std::string::npos);
}

TEST(ReadComparisons, WorkersMayBeExcludedAndMerged) {
  ReadOptions options = ComparisonReadOptions();
  options.exclude_workers = {"v"};
  options.merge_workers = {{"u2", "u"}};
  const ComparisonData data =
      read("worker,left,right,label\nv,a,b,a\nu,a,b,b\nv,c,b,b\nu2,c,a,a\n", std::nullopt, options);
  EXPECT_EQ(data.answers.worker_count(), 1U);
  ASSERT_EQ(data.answers.answer_count(), 2U);
  EXPECT_EQ(data.answers.answer(TaskId{0}, 0).outcome, Outcome::right);
  EXPECT_EQ(data.answers.answer(TaskId{1}, 1).left, ItemId{2});
}

}  // namespace
}  // namespace wisecrowd::ingest
