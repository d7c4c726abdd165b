#include <gtest/gtest.h>

#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

TEST(ReadingOptions, AreReadBackAsTheyWereWritten) {
  ReadOptions options;
  options.task_column = "q";
  options.worker_column = "who";
  options.value_columns = {"x", "a \"b\", c"};
  options.gold_task_column = "item";
  options.gold_value_columns = {"true x", "true y"};
  options.format = TableFormat::jsonl;
  options.layout = TableLayout::wide;
  options.duplicates = DuplicatePolicy::repeat;
  options.lenient = options.safe_names = true;
  options.no_answer = "unsure";
  options.exclude_workers = {"w1"};
  options.merge_workers = {{"w2", "w3"}};
  const auto record = reading_record(options);
  const ReadOptions again = read_options(record);
  EXPECT_EQ(again.value_columns, options.value_columns);
  EXPECT_EQ(again.gold_value_columns, options.gold_value_columns);
  EXPECT_EQ(again.format, TableFormat::jsonl);
  EXPECT_EQ(reading_record(again), record);
  EXPECT_TRUE(reading_record({}).empty());
}

}  // namespace
}  // namespace wisecrowd
