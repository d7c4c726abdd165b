// Features from files, brought together with answers: what is read, and every way in which it can be wrong.
#include "wisecrowd/read_features.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/crowds.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

class FeatureFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("wisecrowd_features_{}", getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  /// rows × columns with 1, 2, 3, …
  std::string array(const std::string& name, std::size_t rows, std::size_t columns,
                    const std::vector<std::pair<std::size_t, float>>& changes = {}) const {
    std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}\n", rows, columns);
    std::vector<float> values(rows * columns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
    for (const auto& [at, value] : changes) values[at] = value;
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(text.size());
    bytes += '\0';
    bytes += text;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return write(name, bytes);
  }
  FeatureTable read(const std::string& features, const std::optional<std::string>& tasks = {},
                    const FeatureOptions& options = {}) {
    return read_features(features, tasks, options, context_, &report_);
  }
  LearningInput learn(const std::string& features, const std::optional<std::string>& tasks = {},
                      const std::optional<std::string>& gold = {}, bool from_gold = false) {
    return read_learning_data({write("labels.csv", answers_), gold, features, tasks, from_gold}, {}, context_,
                              &report_);
  }
  template <class Read>
  void expect_refused(const Read& reading, const std::string& expected, ErrorCode code = ErrorCode::bad_input) {
    try {
      reading();
      ADD_FAILURE() << "was accepted; wanted: " << expected;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), code) << error.what();
    }
  }
  [[nodiscard]] bool warned(const std::string& code) const {
    return std::any_of(report_.warnings.begin(), report_.warnings.end(),
                       [&](const Warning& w) { return w.code == code; });
  }

  std::string answers_ = "task,worker,label\nt1,w,a\nt2,w,b\nt2,v,b\n";
  std::filesystem::path folder_;
  RunContext context_{{.threads = 2}};
  DataReport report_;
};

TEST_F(FeatureFiles, ArrayWithTasks) {
  const auto table = read(array("x.npy", 3, 2), write("tasks.csv", "task,row,split\nc,2,test\na,0,train\nb,1,valid\n"));
  EXPECT_EQ(table.features.dense, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(table.names.size(), 3U);
  EXPECT_EQ(table.names[0], "a");
  EXPECT_EQ(table.names[2], "c");
  EXPECT_EQ(table.split, (std::vector<Split>{Split::train, Split::valid, Split::test}));
  EXPECT_FALSE(table.names_are_numbers);
}

TEST_F(FeatureFiles, TasksInOrderWithoutRowsOrSplits) {
  const auto table = read(array("x.npy", 2, 1), write("tasks.tsv", "task\tnote\nb\tx\na\ty\n"));
  EXPECT_EQ(table.names[0], "b");
  EXPECT_EQ(table.split, (std::vector<Split>{Split::train, Split::train}));
}

TEST_F(FeatureFiles, RowsThatNobodyNames) {
  const auto table = read(array("x.npy", 4, 2), write("tasks.csv", "task,row\nd,3\nb,1\n"));
  EXPECT_EQ(table.features.rows, 2U);
  EXPECT_EQ(table.features.dense, (std::vector<float>{3, 4, 7, 8}));
  EXPECT_EQ(table.names[0], "b");
  EXPECT_TRUE(warned("rows_without_task"));
}

TEST_F(FeatureFiles, TableOfNumbers) {
  const auto table =
      read(write("x.csv", "x,item,split,long name\n1.5,t1,train,-2e3\n+3, t2 ,TEST, 4 \n1e-60,t3,dev,0\n"));
  EXPECT_EQ(table.features.shape, std::vector<std::size_t>{2});
  EXPECT_EQ(table.features.dense, (std::vector<float>{1.5F, -2000, 3, 4, 0, 0}));
  EXPECT_EQ(table.recipe.columns, (std::vector<std::string>{"x", "long name"}));
  EXPECT_EQ(table.split, (std::vector<Split>{Split::train, Split::test, Split::valid}));
  // New rows find their columns by name, in another order and among others.
  FeatureOptions options;
  options.recipe = &table.recipe;
  const auto again = read(write("new.csv", "long name,other,task,x\n7,words,n,8\n"), {}, options);
  EXPECT_EQ(again.features.dense, (std::vector<float>{8, 7}));
}

TEST_F(FeatureFiles, PackedFiles) {
  const std::string text = "task,x\na,1\nb,2\n";
  gzFile file = gzopen(path("x.csv.gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  EXPECT_EQ(read(path("x.csv.gz")).features.dense, (std::vector<float>{1, 2}));
  array("y.npy", 2, 2);
  std::ifstream plain(path("y.npy"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(plain), {}};
  file = gzopen(path("y.npy.gz").c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  EXPECT_EQ(read(path("y.npy.gz")).features.dense, (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(FeatureFiles, TextKnowsItsTrainRows) {
  const std::string text =
      "task,split,text\na,train,\"good, good\"\nb,train,good bad\nc,test,unheard words\nd,train,bad\n";
  const auto table = read(write("x.csv", text));
  EXPECT_EQ(table.recipe.kind, FeatureRecipe::Kind::text);
  EXPECT_EQ(table.recipe.words.size(), 2U);
  EXPECT_EQ(table.features.offsets, (std::vector<std::uint64_t>{0, 1, 3, 3, 4}));
  // The splits of a list come in time to decide which words count.
  const auto listed = read(write("y.csv", "task,text\na,good x\nb,good x\nc,bad y\nd,bad y\n"),
                           write("tasks.csv", "task,split\nc,test\nd,test\n"));
  EXPECT_EQ(listed.recipe.words.size(), 3U) << "good, x, and both together";
  FeatureOptions options;
  options.recipe = &listed.recipe;
  const auto again = read(write("z.csv", "task,text\nn,bad good\n"), {}, options);
  EXPECT_EQ(again.features.columns(), 3U);
  EXPECT_EQ(again.features.indices.size(), 1U);
}

TEST_F(FeatureFiles, ThreadsAndWindowsDoNotMatter) {
  std::string text = "task,split,text\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("t{},train,\"word{} and word{}\n more\"\n", i, i % 70, i % 31);
  const std::string file = write("x.csv", text);
  const auto two = read(file);
  const RunContext one({.threads = 1});
  const auto single = read_features(file, {}, {}, one);
  EXPECT_EQ(two.features.indices, single.features.indices);
  EXPECT_EQ(two.features.values, single.features.values);
  EXPECT_EQ(two.recipe.words, single.recipe.words);
}

TEST_F(FeatureFiles, BadTables) {
  const auto refused = [&](const std::string& text, const std::string& expected) {
    expect_refused([&] { (void)read(write("x.csv", text)); }, expected);
  };
  refused("", "x.csv: the file is empty");
  refused("task,x\n", "x.csv: there is no row after the header");
  refused("x,y\n1,2\n", "x.csv: the header names no column for the task. Found: 'x', 'y'");
  refused("task\na\n", "x.csv: there is no column of features beside 'task': add numeric columns");
  refused("task,x,x\na,1,2\n", "x.csv: two columns are named 'x': rename one");
  refused("task,x\na,1\nb,red\n", "x.csv:3: column 'x': value 'red': is no number");
  refused("task,x\na,1\nb,nan\n", "x.csv:3: column 'x': value 'nan': is not a finite number");
  refused("task,x\na,-inf\n", "x.csv:2: column 'x': value '-inf': is not a finite number");
  refused("task,x\na,1e99\n", "x.csv:2: column 'x': value '1e99': is not a finite number");
  refused("task,x\na,\n", "x.csv:2: column 'x': is empty");
  refused("task,x\na,1,2\n", "x.csv:2: the row has 3 fields, the header has 2");
  refused("task,x\na,1\nb,1\na,2\n", "x.csv:4: value 'a': this task is in line 2 already");
  refused("task,x,split\na,1,trian\n", "x.csv:2: column 'split': value 'trian': is none of train, valid and test");
  refused("task,text\na,caf\xE9\n", "x.csv:2: value");
  expect_refused([&] { (void)read(write("x.jsonl", "{\"task\": 1}\n")); }, "JSON is not read here");
  EXPECT_NO_THROW((void)read(write("x.csv", "task,x\na,1\nb,red\n"), {}, {.lenient = true}));
  EXPECT_TRUE(warned("rows_dropped"));
}

TEST_F(FeatureFiles, BadArraysAndLists) {
  const auto refused = [&](const std::string& features, const std::string& tasks, const std::string& expected) {
    expect_refused([&] { (void)read(features, write("tasks.csv", tasks)); }, expected);
  };
  const std::string x = array("x.npy", 3, 2);
  refused(x, "task\na\nb\n", "tasks.csv: it names 2 tasks, but " + x + " has 3 rows");
  refused(x, "task,row\na,0\nb,3\n",
          "tasks.csv:3: column 'row': value '3': there is no such row: " + x + " has rows 0 to 2");
  refused(x, "task,row\na,0\nb,0\n", "tasks.csv:3: column 'row': value '0': line 2 gives this row to another task");
  refused(x, "task,row\na,0\na,1\n", "tasks.csv:3: value 'a': this task is in line 2 already");
  refused(x, "task,row\na,-1\n", "tasks.csv:2: column 'row': value '-1': is no number of a row");
  refused(x, "task,row,split\na,0,exam\n", "tasks.csv:2: column 'split': value 'exam'");
  refused(x, "row,split\n0,train\n", "tasks.csv: the header names no column for the task");
  refused(array("nan.npy", 3, 2, {{3, std::nanf("")}}), "task\na\nb\nc\n", "row 1 (task 'b'), column 1: value nan");
  expect_refused([&] { (void)read(write("a.csv", "\x93NUMPY...")); }, "this is an .npy array where a table is wanted");
  expect_refused([&] { (void)read(path("none.npy")); }, "none.npy: cannot be opened", ErrorCode::io);
  FeatureRecipe recipe;
  recipe.kind = FeatureRecipe::Kind::columns;
  recipe.columns = {"x", "gone"};
  FeatureOptions options;
  options.recipe = &recipe;
  expect_refused([&] { (void)read(x, {}, options); }, "the model was trained on a table of numbers");
  expect_refused([&] { (void)read(write("y.csv", "task,x\na,1\n"), {}, options); },
                 "there is no column 'gone', which the model was trained with. Found: 'task', 'x'");
  expect_refused([&] { (void)read(write("z.csv", "task,text\na,b\n"), {}, options); },
                 "but the model was trained on numbers");
}

TEST_F(FeatureFiles, AnswersMeetFeatures) {
  const std::string features = write("x.csv", "task,split,x\nt2,train,2\nnew,test,3\nt1,train,1\n");
  const std::string gold = write("gold.csv", "task,label\nt1,a\nnew,c\nelsewhere,a\n");
  const LearningInput input = learn(features, {}, gold);
  validate(input.data);
  EXPECT_EQ(input.data.row_of_task, (std::vector<std::uint32_t>{2, 0}));
  EXPECT_EQ(input.data.crowd.answers.class_count(), 3U) << "a class that only test gold knows is a class";
  EXPECT_FALSE(input.data.crowd.has_gold()) << "gold for evaluation is out of the learner's sight";
  EXPECT_EQ(input.task_gold, (std::vector<ClassId>{ClassId{0}, kNoClass}));
  EXPECT_EQ(input.row_gold, (std::vector<ClassId>{kNoClass, ClassId{2}, ClassId{0}}));
  EXPECT_TRUE(warned("gold_without_task"));
}

TEST_F(FeatureFiles, GoldToLearnFromMakesTasks) {
  const std::string features = write("x.csv", "task,split,x\nt2,test,2\nnew,test,3\nt1,train,1\nknown,train,5\n");
  const std::string gold = write("gold.csv", "task,label\nt1,a\nt2,a\nnew,b\nknown,b\n");
  const LearningInput input = learn(features, {}, gold, true);
  validate(input.data);
  const CategoryAnswers& answers = input.data.crowd.answers;
  ASSERT_EQ(answers.task_count(), 3U);
  EXPECT_EQ(answers.task_names()[2], "known");
  EXPECT_EQ(answers.answer_count(), 3U);
  EXPECT_EQ(answers.labels_of(TaskId{1}).size(), 2U);
  EXPECT_EQ(input.data.row_of_task, (std::vector<std::uint32_t>{2, 0, 3}));
  EXPECT_EQ(input.data.crowd.gold, (std::vector<ClassId>{ClassId{0}, kNoClass, ClassId{1}}))
      << "test truth stays hidden";
  EXPECT_TRUE(warned("answers_outside_train"));
}

TEST_F(FeatureFiles, TasksNamedByRowNumbers) {
  answers_ = "task,worker,label\n2,w,a\n0,w,b\n";
  const LearningInput input = learn(array("x.npy", 3, 1));
  EXPECT_EQ(input.data.row_of_task, (std::vector<std::uint32_t>{0, 2}));
  answers_ = "task,worker,label\n2,w,a\nt9,w,b\n";
  expect_refused([&] { (void)learn(path("x.npy")); }, "task 't9' is not the number of a row of");
}

TEST_F(FeatureFiles, TasksWithoutFeatures) {
  const LearningInput input = learn(write("x.csv", "task,x\nt1,1\n"));
  EXPECT_EQ(input.data.row_of_task, (std::vector<std::uint32_t>{0, kNoRow}));
  EXPECT_TRUE(warned("tasks_without_features"));
  expect_refused([&] { (void)learn(write("x.csv", "task,x\nu1,1\n")); },
                 "none of its 2 tasks, for example 't1', has a row in");
  expect_refused([&] { (void)learn("-", "-"); }, "only one of answers, features, tasks and gold",
                 ErrorCode::bad_parameter);
}

TEST(RealFeatures, SentimentAndLabelMe) {
  const auto folder = testing::real_data_folder();
  if (!folder) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const RunContext context;
  const std::string text = *folder + "/learn/sentiment/";
  const LearningInput films =
      read_learning_data({text + "labels.csv", text + "gold.csv", text + "text.csv", {}}, {}, context);
  validate(films.data);
  EXPECT_EQ(films.data.features.rows, 8998U);
  EXPECT_EQ(films.data.crowd.answers.task_count(), 4999U);
  EXPECT_EQ(std::count(films.row_gold.begin(), films.row_gold.end(), kNoClass), 0);
  EXPECT_GT(films.data.features.columns(), 10000U);
  const std::string scenes = *folder + "/learn/labelme/";
  const LearningInput images = read_learning_data(
      {scenes + "labels.csv", scenes + "gold.csv", scenes + "features.npy", scenes + "tasks.csv"}, {}, context);
  validate(images.data);
  EXPECT_EQ(images.data.features.columns(), 512U);
  EXPECT_EQ(std::count(images.data.split.begin(), images.data.split.end(), Split::test), 1188);
}

}  // namespace
}  // namespace wisecrowd
