#include <gtest/gtest.h>

#include <cmath>

#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

NumberData read(const std::string& text, const std::string& gold = {}, const ReadOptions& options = {},
                DataReport* report = nullptr) {
  std::optional<ingest::Input> truth;
  if (!gold.empty()) truth = ingest::Input{"gold.csv", gold};
  return ingest::read_numbers({"answers.csv", text}, truth, options, {}, RunContext(), report);
}

std::string refusal(const std::string& text, const std::string& gold = {}, const ReadOptions& options = {}) {
  try {
    (void)read(text, gold, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ReadNumbers, LongTable) {
  const NumberData data = read("task,worker,value\nt2,b,3.5\nt1,a,-2e1\nt2,a, 4 \n", "task,truth\nt2,3.75\nt9,1\n");
  ASSERT_EQ(data.answers.answer_count(), 3U);
  EXPECT_EQ(std::vector<double>(data.answers.values().begin(), data.answers.values().end()),
            (std::vector<double>{-20, 4, 3.5}));
  EXPECT_TRUE(std::isnan(data.gold[0]));
  EXPECT_EQ(data.gold[1], 3.75);
}

TEST(ReadNumbers, SeveralDimensions) {
  ReadOptions options;
  options.value_columns = {"x", "y"};
  const NumberData data = read("task,worker,y,x\nt,a,1,2\nt,b,3,4\n", "task,x,y\nt,5,6\n", options);
  EXPECT_EQ(data.answers.dimensions(), 2U);
  EXPECT_EQ(data.answers.value(1)[0], 4);
  EXPECT_EQ(data.gold, (std::vector<double>{5, 6}));
}

TEST(ReadNumbers, WideTable) {
  ReadOptions options;
  options.layout = TableLayout::wide;
  const NumberData data = read("task,a,b\nt1,1,\nt2,,\nt3,2,3\n", {}, options);
  EXPECT_EQ(data.answers.task_count(), 3U);
  EXPECT_EQ(data.answers.answer_count(), 3U);
  EXPECT_EQ(data.answers.values()[2], 3);
}

TEST(ReadNumbers, JsonLines) {
  ReadOptions options;
  options.format = TableFormat::jsonl;
  const NumberData data = read(
      "{\"task\":\"t\",\"worker\":\"a\",\"value\":1.5}\n{\"task\":\"t\",\"worker\":\"b\",\"value\":2}\n", {}, options);
  EXPECT_EQ(data.answers.values()[0], 1.5);
}

TEST(ReadNumbers, WhatIsNoNumberIsRefusedWithItsLine) {
  const std::string head = "task,worker,value\nt,a,1\n";
  for (const char* bad : {"high", "3,5x", "1e5 m", "0x10", "--1"}) {
    const std::string said = refusal(head + "t,b,\"" + bad + "\"\n");
    EXPECT_NE(said.find("answers.csv:3"), std::string::npos) << said;
    EXPECT_NE(said.find("is not a number"), std::string::npos) << said;
  }
  for (const char* bad : {"nan", "inf", "-inf"}) {
    EXPECT_NE(refusal(head + "t,b," + bad + "\n").find("is not a finite number"), std::string::npos) << bad;
  }
  for (const char* bad : {"1e309", "-1e999", "1e200", "-1.0000001e100"}) {
    const std::string said = refusal(head + "t,b," + bad + "\n");
    EXPECT_NE(said.find(std::string("answers.csv:3: column 'value': value '") + bad + "': is beyond ±1e+100"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("choose another unit"), std::string::npos) << said;
    EXPECT_NE(refusal(head, std::string("task,truth\nt,") + bad + "\n").find("gold.csv:2"), std::string::npos);
  }
  EXPECT_EQ(refusal(head + "t,b,1e100\n"), "");
  EXPECT_NE(refusal(head + "t,b,\n").find("is empty"), std::string::npos);
  EXPECT_NE(refusal(head, "task,truth\nt,tall\n").find("gold.csv:2"), std::string::npos);
  EXPECT_NE(refusal(head, "task,truth\nt,1\nt,2\n").find("contradicts line 2"), std::string::npos);
}

TEST(ReadNumbers, LenientDropsWhatIsNoNumber) {
  ReadOptions options;
  options.lenient = true;
  DataReport report;
  const NumberData data = read("task,worker,value\nt,a,1\nt,b,high\nt,c,3\n", {}, options, &report);
  EXPECT_EQ(data.answers.answer_count(), 2U);
  EXPECT_EQ(report.rows_dropped, 1U);
  EXPECT_EQ(data.answers.values()[1], 3);
}

TEST(ReadNumbers, RepeatsAndExcludedWorkers) {
  const std::string text = "task,worker,value\nt,a,1\nt,b,9\nt,a,2\ns,b,5\n";
  EXPECT_EQ(read(text).answers.values()[1], 2);  // the last one counts
  ReadOptions options;
  options.duplicates = DuplicatePolicy::repeat;
  EXPECT_EQ(read(text, {}, options).answers.answer_count(), 4U);
  options.duplicates = DuplicatePolicy::reject;
  const std::string said = refusal(text, {}, options);
  EXPECT_NE(said.find("already answered task 't' in line 2"), std::string::npos) << said;
  EXPECT_NE(said.find("the duplicate policy keep-last or repeat"), std::string::npos) << said;
  ReadOptions without;
  without.exclude_workers = {"a"};
  const NumberData left = read(text, {}, without);
  EXPECT_EQ(std::vector<double>(left.answers.values().begin(), left.answers.values().end()),
            (std::vector<double>{5, 9}));
}

TEST(ReadNumbers, TheOrderOfRowsDoesNotMatter) {
  const NumberData one = read("task,worker,value\nt10,a,1\nt9,b,2\nt9,a,3\n");
  const NumberData two = read("task,worker,value\nt9,a,3\nt10,a,1\nt9,b,2\n");
  EXPECT_EQ(one.answers.content_hash(), two.answers.content_hash());
  EXPECT_EQ(one.answers.task_names()[0], "t9");
}

TEST(ReadNumbers, ABadRowLeavesNoNumberBehind) {
  ReadOptions options;
  options.lenient = true;
  options.value_columns = {"x", "y"};
  DataReport report;
  const NumberData points = read("task,worker,x,y\nt,a,1,2\nt,b,3,far\nt,c,5,6\n", {}, options, &report);
  EXPECT_EQ(std::vector<double>(points.answers.values().begin(), points.answers.values().end()),
            (std::vector<double>{1, 2, 5, 6}));
  EXPECT_EQ(report.rows_dropped, 1U);
  options = {};
  options.lenient = true;
  options.layout = TableLayout::wide;
  const NumberData wide = read("task,a,b\nt1,1,2\nt2,3,far\nt3,,6\n", {}, options, &report);
  EXPECT_EQ(std::vector<double>(wide.answers.values().begin(), wide.answers.values().end()),
            (std::vector<double>{1, 2, 6}));
  EXPECT_EQ(report.rows_dropped, 1U);
}

TEST(ReadNumbers, GoldColumns) {
  const std::string answers = "task,worker,x,y\nt,a,1,2\n";
  ReadOptions options;
  options.value_columns = {"x", "y"};
  options.gold_task_column = "item";
  options.gold_value_columns = {"up", "right"};
  EXPECT_EQ(read(answers, "right,up,item\n6,5,t\n", options).gold, (std::vector<double>{5, 6}));
  options.gold_value_columns = {"up"};
  EXPECT_NE(refusal(answers, "right,up,item\n6,5,t\n", options)
                .find("answers have 2 dimensions, but 1 column is named for gold"),
            std::string::npos);
  options = {};
  options.task_column = "1";
  options.worker_column = "2";
  options.label_column = "3";
  EXPECT_EQ(read("t,a,1.5\n", "t,7\n", options).gold, (std::vector<double>{7}));  // no header here, none there
  options = {};
  options.value_columns = {"x", "x"};
  EXPECT_NE(refusal(answers, {}, options).find("'x' is named twice"), std::string::npos);
  options.value_columns = {"x", "task"};
  EXPECT_NE(refusal(answers, {}, options).find("'task' is named twice"), std::string::npos);
}

NumberTable read_table(const std::string& text, const ReadOptions& options = {}, const ChooseColumns& choose = {}) {
  return ingest::read_number_table({"table.csv", text}, options, choose, {}, RunContext());
}

TEST(ReadNumberTable, ColumnsAreChosenByTheHeader) {
  const std::string text = "task,estimate,low,high\nt1,1,0,2\nt2,,,\n";
  ReadOptions options;
  options.blank_labels = true;
  std::vector<std::string> seen;
  const NumberTable table = read_table(text, options, [&](const std::vector<std::string>& header) {
    seen = header;
    return std::vector<std::string>{"high", "estimate"};
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"task", "estimate", "low", "high"}));
  EXPECT_EQ(table.columns, (std::vector<std::string>{"high", "estimate"}));
  EXPECT_EQ(table.values[0], 2);
  EXPECT_EQ(table.values[1], 1);
  EXPECT_TRUE(std::isnan(table.values[2]) && std::isnan(table.values[3]));
}

TEST(ReadNumberTable, WithoutAChoiceTheTruthIsFound) {
  EXPECT_EQ(read_table("item,note,ground truth\nt,5,7\n").values, (std::vector<double>{7}));
  ReadOptions options;
  options.value_columns = {"note"};
  EXPECT_EQ(read_table("item,note,truth\nt,5,7\n", options).values, (std::vector<double>{5}));
  options.task_column = "1";
  options.value_columns = {"3"};
  EXPECT_EQ(read_table("t,5,7\n", options).values, (std::vector<double>{7}));
}

TEST(ReadNumberTable, RepeatsAndProblems) {
  const std::string twice = "task,truth\nt,1\ns,2\nt,1\n";
  EXPECT_EQ(read_table(twice).values, (std::vector<double>{1, 2}));
  for (const char* bad : {"t,3\n", "u,\n", "u,high\n"}) {
    EXPECT_THROW((void)read_table(twice + bad), Error) << bad;
    ReadOptions lenient;
    lenient.lenient = true;
    EXPECT_EQ(read_table(twice + bad, lenient).values, (std::vector<double>{1, 2})) << bad;
  }
  ReadOptions safe;
  safe.safe_names = true;
  EXPECT_EQ(read_table("task,truth\n=t,1\n", safe).tasks[0], "'=t");
}

}  // namespace
}  // namespace wisecrowd
