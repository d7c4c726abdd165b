#include <gtest/gtest.h>

#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

SetData read_set_text(const std::string& text, const std::string& gold = {}, const ReadOptions& options = {},
                      DataReport* report = nullptr) {
  std::optional<ingest::Input> truth;
  if (!gold.empty()) truth = ingest::Input{"gold.csv", gold};
  return ingest::read_sets({"answers.csv", text}, truth, options, {}, RunContext(), report);
}

std::string set_refusal(const std::string& text, const std::string& gold = {}, const ReadOptions& options = {}) {
  try {
    (void)read_set_text(text, gold, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// "a|b" for each answer, in task order.
std::vector<std::string> said(const SetData& data) {
  std::vector<std::string> sets;
  for (AnswerIndex a = 0; a < data.answers.answer_count(); ++a) {
    std::string& text = sets.emplace_back();
    for (const ClassId label : data.answers.set(a)) {
      text += (text.empty() ? "" : "|") + std::string(data.answers.class_names()[index(label)]);
    }
  }
  return sets;
}

using Said = std::vector<std::string>;

TEST(ReadSets, ListsInCells) {
  const SetData data = read_set_text("task,worker,label\nt1,a,cat|dog\nt1,b, dog | cat \nt2,a,[]\nt2,b,fox\n",
                                     "task,truth\nt2,fox\nt1,[]\nt9,cat\n");
  EXPECT_EQ(said(data), (Said{"cat|dog", "cat|dog", "", "fox"}));
  ASSERT_TRUE(data.has_gold(TaskId{0}));
  EXPECT_TRUE(data.gold_of(TaskId{0}).empty());
  EXPECT_EQ(data.gold_of(TaskId{1}), std::vector{ClassId{2}});
}

TEST(ReadSets, ListsAsJsonOrPythonWritesThem) {
  const SetData data = read_set_text(
      "task,worker,label\nt,a,\"[\"\"cat\"\", \"\"d,og\"\"]\"\nt,b,\"['cat', \"\"fox\"\"]\"\nt,c,\"{\"\"choices\"\": "
      "[\"\"cat\"\"]}\"\nt,d,\"[1, true]\"\n");
  EXPECT_EQ(said(data), (Said{"cat|d,og", "cat|fox", "cat", "1|true"}));
}

TEST(ReadSets, JsonLinesHaveListsOrTexts) {
  ReadOptions options;
  options.format = TableFormat::jsonl;
  const SetData data = read_set_text(R"({"task":"t","worker":"a","labels":["x","y"]})"
                                     "\n"
                                     R"({"task":"t","worker":"b","labels":[]})"
                                     "\n"
                                     R"({"task":"t","worker":"c","labels":"x|z"})"
                                     "\n",
                                     {}, options);
  EXPECT_EQ(said(data), (Said{"x|y", "", "x|z"}));
}

TEST(ReadSets, OtherSeparatorsAndEmptySets) {
  ReadOptions options;
  options.sets.separator = "; ";
  options.sets.empty = "none";
  options.sets.blank_is_empty = true;
  EXPECT_EQ(said(read_set_text("task,worker,tags\nt,a,x; y\nt,b,none\nt,c,\nt,d,x|y\n", {}, options)),
            (Said{"x|y", "", "", "x|y"}));
}

TEST(ReadSets, RowsWithOneClassAreUnited) {
  const std::string rows = "task,worker,label\nt,a,x\nu,a,x\nt,a,y\nt,b,[]\nt,a,x\n";
  EXPECT_EQ(said(read_set_text(rows, "task,label\nt,y\nt,x\n")), (Said{"x|y", "", "x"}));
  EXPECT_EQ(read_set_text(rows, "task,label\nt,y\nt,x\n").gold_of(TaskId{0}).size(), 2U);
  ReadOptions options;
  options.sets.rows = SetRowRule::whole;
  DataReport report;
  EXPECT_EQ(said(read_set_text(rows, {}, options, &report)), (Said{"x", "", "x"}));
  EXPECT_EQ(report.duplicates_dropped, 2U);
}

TEST(ReadSets, RowsWithListsAreWholeAnswers) {
  const std::string rows = "task,worker,label\nt,a,x|y\nt,a,z\nt,b,y\n";
  EXPECT_EQ(said(read_set_text(rows)), (Said{"z", "y"}));
  ReadOptions options;
  options.sets.rows = SetRowRule::united;
  EXPECT_EQ(said(read_set_text(rows, {}, options)), (Said{"x|y|z", "y"}));
  options.sets.rows = SetRowRule::automatic;
  options.duplicates = DuplicatePolicy::reject;
  EXPECT_NE(set_refusal(rows, {}, options).find("answers.csv:3: worker 'a' already answered task 't' in line 2"),
            std::string::npos);
}

TEST(ReadSets, WideTables) {
  ReadOptions options;
  options.layout = TableLayout::wide;
  const SetData data = read_set_text("task,a,b\nt1,x|y,\nt2,,\nt3,[],x\n", {}, options);
  EXPECT_EQ(data.answers.task_count(), 3U);
  EXPECT_EQ(said(data), (Said{"x|y", "", "x"}));
}

TEST(ReadSets, NamesOfExports) {
  EXPECT_EQ(said(read_set_text("item,annotator,tags\nt,a,x|y\n")), Said{"x|y"});
  EXPECT_EQ(said(read_set_text("HITId,WorkerId,Answer\nt,a,x|y\n")), Said{"x|y"});
}

TEST(ReadSets, ProblemsNameLineValueAndRemedy) {
  EXPECT_NE(set_refusal("task,worker,label\nt,a,x|y\nt,b,\n")
                .find("answers.csv:3: column 'label': is empty: write [] for none of the classes"),
            std::string::npos);
  EXPECT_NE(set_refusal("task,worker,label\nt,a,x||y\n")
                .find("answers.csv:2: column 'label': value 'x||y': has a class "
                      "without a name"),
            std::string::npos)
      << set_refusal("task,worker,label\nt,a,x||y\n");
  EXPECT_NE(set_refusal("task,worker,label\nt,a,\"[x, y]\"\n").find("is no list of classes: write a list"),
            std::string::npos);
  EXPECT_NE(set_refusal("task,worker,label\nt,a,\"[[1], 2]\"\n").find("something else than names"), std::string::npos);
  EXPECT_NE(set_refusal("task,worker,label\nt,a,x|[]\n").find("none of the classes, beside others"), std::string::npos);
  ReadOptions options;
  options.classes = {"x", "y"};
  EXPECT_NE(set_refusal("task,worker,label\nt,a,x|z\n", {}, options).find("value 'z': is not one of the classes x, y"),
            std::string::npos)
      << set_refusal("task,worker,label\nt,a,x|z\n", {}, options);
  EXPECT_NE(set_refusal("task,worker,label\nt,a,x|y\n", "task,label\nt,x|y\nt,x\n").find("contradicts line 2"),
            std::string::npos);
  options = {};
  options.lenient = true;
  DataReport report;
  EXPECT_EQ(said(read_set_text("task,worker,label\nt,a,x||y\nt,b,x|y\n", {}, options, &report)), Said{"x|y"});
  EXPECT_EQ(report.rows_dropped, 1U);
}

TEST(ReadSets, WarnsOfAnotherSeparator) {
  DataReport report;
  (void)read_set_text("task,worker,label\nt,a,x;y\nt,b,x\n", {}, {}, &report);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].code, "set_separator");
  EXPECT_NE(report.warnings[0].remedy.find("`set_separator=';'`"), std::string::npos);
}

TEST(ReadSets, ManyRowsInSmallPiecesAreTheSame) {
  std::string text = "task,worker,label\n";
  for (int i = 0; i < 3000; ++i) {
    text += "t" + std::to_string(i % 700) + ",w" + std::to_string(i / 700) + ",c" + std::to_string(i % 13) + "|c" +
            std::to_string(i % 7) + (i % 5 == 0 ? "|extra" : "") + "\n";
  }
  ingest::Tuning small;
  small.window_bytes = 4096;
  small.chunk_bytes = 512;
  const SetData one = read_set_text(text);
  const SetData other = ingest::read_sets({"answers.csv", text}, std::nullopt, {}, small, RunContext({.threads = 3}));
  EXPECT_EQ(one.answers.content_hash(), other.answers.content_hash());
}

TEST(ReadSets, ExcludedWorkersTakeTheirSetsWithThem) {
  ReadOptions options;
  options.exclude_workers = {"b"};
  const SetData data = read_set_text("task,worker,label\nt,a,x\nt,b,x|y\nu,b,[]\nu,c,y|x\n", {}, options);
  EXPECT_EQ(said(data), (Said{"x", "x|y"}));
}

}  // namespace
}  // namespace wisecrowd
