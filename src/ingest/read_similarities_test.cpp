#include "ingest/read_similarities.hpp"

#include <gtest/gtest.h>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

SimilarityData read_same(const std::string& text, const std::string& gold = {}, const ReadOptions& options = {},
                         DataReport* report = nullptr) {
  std::optional<ingest::Input> truth;
  if (!gold.empty()) truth = ingest::Input{"gold.csv", gold};
  return ingest::read_similarities({"answers.csv", text}, truth, options, {}, RunContext(), report);
}

std::string refused(const std::string& text, const std::string& gold = {}, const ReadOptions& options = {}) {
  try {
    (void)read_same(text, gold, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_all(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

TEST(ReadSimilarities, LongTableWithItemsInOrderAndPairsWithoutDirection) {
  const SimilarityData data =
      read_same("worker,left,right,label\nw2,i10,i2,same\nw1,i2,i10,different\nw1,i1,i2,same\n");
  const SimilarityAnswers& answers = data.answers;
  ASSERT_EQ(answers.item_count(), 3U);
  EXPECT_EQ(answers.item_names()[2], "i10");
  ASSERT_EQ(answers.task_count(), 2U);
  EXPECT_EQ(answers.pairs()[0], (SimilarPair{0, 1}));
  EXPECT_EQ(answers.pairs()[1], (SimilarPair{1, 2}));
  EXPECT_EQ(std::vector<int>(answers.same().begin(), answers.same().end()), (std::vector<int>{1, 0, 1}));
}

TEST(ReadSimilarities, WordsForSameAndDifferent) {
  for (const char* word : {"same", "Yes", "1", "TRUE", "match", "duplicate", "must-link"}) {
    EXPECT_EQ(read_same("worker,left,right,label\nw,a,b," + std::string(word) + "\n").answers.same()[0], 1) << word;
  }
  for (const char* word : {"different", "no", "0", "False", "no match", "non-match", "mismatch", "cannot-link"}) {
    EXPECT_EQ(read_same("worker,left,right,label\nw,a,b," + std::string(word) + "\n").answers.same()[0], 0) << word;
  }
}

TEST(ReadSimilarities, OtherNamesOfColumnsAndJson) {
  EXPECT_EQ(read_same("annotator,item_a,item_b,answer\nw,a,b,yes\n").answers.answer_count(), 1U);
  ReadOptions options;
  options.value_columns = {"x", "y"};
  EXPECT_EQ(read_same("x,y,worker,label\na,b,w,no\n", {}, options).answers.same()[0], 0);
  ReadOptions lines;
  lines.format = TableFormat::jsonl;
  const std::string text = R"({"worker":"w","left":"a","right":"b","label":true})"
                           "\n"
                           R"({"worker":"w","left":"c","right":"b","label":0})"
                           "\n";
  EXPECT_EQ(read_same(text, {}, lines).answers.answer_count(), 2U);
}

TEST(ReadSimilarities, BadRowsAreNamedByFileLineValueAndRemedy) {
  expect_all(refused("worker,left,right,label\nw,a,b,same\nw,a,a,same\n"),
             {"answers.csv:3", "'a'", "is compared with itself", "remove the row"});
  expect_all(refused("worker,left,right,label\nw,a,b,maybe\n"),
             {"answers.csv:2", "'label'", "'maybe'", "same or different"});
  expect_all(refused("worker,left,right,label\nw,,b,same\n"), {"answers.csv:2", "'left'", "is empty"});
  expect_all(refused("worker,item,label\nw,a,same\n"), {"answers.csv", "left"});
  expect_all(refused("left,right,label\na,b,same\n"), {"answers.csv", "worker", "columns=WORKER,LEFT,RIGHT,LABEL"});
  ReadOptions classes;
  classes.classes = {"x"};
  expect_all(refused("worker,left,right,label\nw,a,b,same\n", {}, classes), {"no classes"});
  ReadOptions lenient;
  lenient.lenient = true;
  DataReport report;
  EXPECT_EQ(read_same("worker,left,right,label\nw,a,b,same\nw,a,a,same\n", {}, lenient, &report).answers.answer_count(),
            1U);
  EXPECT_EQ(report.rows_dropped, 1U);
}

TEST(ReadSimilarities, TheSamePairTwice) {
  const std::string twice = "worker,left,right,label\nw,a,b,same\nw,b,a,different\n";
  DataReport report;
  EXPECT_EQ(read_same(twice, {}, {}, &report).answers.same()[0], 0);  // the last one counts
  EXPECT_EQ(report.duplicates_contradicting, 1U);
  ReadOptions reject;
  reject.duplicates = DuplicatePolicy::reject;
  expect_all(refused(twice, {}, reject), {"answers.csv:3", "'w'", "'a' and 'b'", "line 2"});
  ReadOptions repeat;
  repeat.duplicates = DuplicatePolicy::repeat;
  EXPECT_EQ(read_same(twice, {}, repeat).answers.answer_count(), 2U);
}

TEST(ReadSimilarities, WorkersLeftOut) {
  ReadOptions options;
  options.exclude_workers = {"v"};
  const SimilarityData data =
      read_same("worker,left,right,label\nv,a,b,same\nw,b,c,different\nv,c,d,same\nw,a,d,same\n", {}, options);
  ASSERT_EQ(data.answers.answer_count(), 2U);
  EXPECT_EQ(data.answers.pairs()[0], (SimilarPair{0, 3}));
  EXPECT_EQ(data.answers.same()[0], 1);
}

TEST(ReadSimilarities, GoldOfClustersOrOfPairs) {
  const std::string answers = "worker,left,right,label\nw,a,b,same\nw,b,c,different\n";
  const SimilarityData clusters = read_same(answers, "item,cluster\nc,y\na,x\nz,x\n");
  EXPECT_EQ(clusters.gold, (std::vector<std::uint32_t>{0, kNoCluster, 1}));
  EXPECT_EQ(clusters.gold_clusters[0], "x");
  EXPECT_EQ(gold_count(clusters), 2U);
  EXPECT_EQ(known_same(clusters, {0, 2}), 0);
  EXPECT_EQ(known_same(clusters, {0, 1}), -1);
  const SimilarityData pairs = read_same(answers, "left,right,label\nc,a,no\nb,a,yes\n");
  ASSERT_EQ(pairs.gold_pairs.size(), 2U);
  EXPECT_EQ(known_same(pairs, {0, 1}), 1);
  EXPECT_EQ(known_same(pairs, {0, 2}), 0);
  EXPECT_EQ(known_same(pairs, {1, 2}), -1);
  expect_all(refused(answers, "left,right,label\nc,a,no\na,c,yes\n"), {"gold.csv:3", "contradicts line 2"});
  expect_all(refused(answers, "item,cluster\na,x\na,y\n"), {"gold.csv:3", "contradicts line 2"});
  DataReport report;
  (void)read_same(answers, "item,cluster\nq,x\n", {}, &report);
  EXPECT_EQ(report.warnings.at(0).code, "gold_without_answers");
}

}  // namespace
}  // namespace wisecrowd
