// Tables as spreadsheets and exporters write them, and workers who are left out or have several names.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd {
namespace {

using ingest::Input;
using ingest::Tuning;

CategoryData read(const std::string& text, const ReadOptions& options = {}, DataReport* report = nullptr,
                  const std::string& name = "a.csv", const Tuning& tuning = {}) {
  return ingest::read_dataset({name, text}, std::nullopt, options, tuning, RunContext({.threads = 2}), report);
}

std::string listed(const CategoryAnswers& answers) {
  std::string out;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t i = 0; i < workers.size(); ++i) {
      out += fmt::format("{}|{}|{}\n", answers.task_names()[t], answers.worker_names()[index(workers[i])],
                         answers.class_names()[index(labels[i])]);
    }
  }
  return out;
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

constexpr auto kThree = "t1|w1|a\nt1|w2|b\nt2|w1|a\n";

TEST(OddTables, SemicolonsDivideFields) {
  EXPECT_EQ(listed(read("task;worker;label\nt1;w1;a\nt1;w2;b\nt2;w1;a\n").answers), kThree);
  EXPECT_EQ(listed(read("task;worker;label\nt1;w1;\"a;1\"\nt2;w1;b,2\n").answers), "t1|w1|a;1\nt2|w1|b,2\n")
      << "commas are characters like others then";
  EXPECT_EQ(listed(read("task,worker,label\nt1,w1,a;b\n").answers), "t1|w1|a;b\n");
  EXPECT_EQ(listed(read("t;w1;w2\nt1;a;b\nt2;a;\n", {.layout = TableLayout::wide}).answers), kThree);
  EXPECT_NE(refusal([] { (void)read("task;worker;label\nt1;w1;a;b\n"); }).find("contain a semicolon in quotes"),
            std::string::npos);
  const LabelTable gold = ingest::read_label_table({"gold.csv", "task;label\nt1;a\n"}, {}, {}, RunContext());
  EXPECT_EQ(gold.tasks[0], "t1");
}

TEST(OddTables, BlankRowsAreNoRows) {
  DataReport report;
  const std::string text = ",,\n  ,  ,\ntask,worker,label\nt1,w1,a\n,,\n \nt1,w2,b\n\"\",\" \",\"\"\nt2,w1,a\n,,\n";
  EXPECT_EQ(listed(read(text, {}, &report).answers), kThree);
  EXPECT_EQ(report.rows, 3U);
  EXPECT_EQ(report.problem_count, 0U);
  EXPECT_NE(refusal([] { (void)read("task,worker,label\nt1,w1,a\n,w2,b\n"); }).find("a.csv:3: column 'task': is empty"),
            std::string::npos)
      << "a row that says something must say all";
  EXPECT_EQ(listed(read("task,worker,label\n\"\"\"\",\"\"\"\",\"\"\"\"\n").answers), "\"|\"|\"\n")
      << "a quote is a name";
  EXPECT_EQ(listed(read("task;worker;label\n;;\nt1;w1;a\n").answers), "t1|w1|a\n");
  EXPECT_NE(refusal([] { (void)read("task,worker,label\n,,\n"); }).find("there is no row after the header"),
            std::string::npos);
}

TEST(OddTables, JsonArrayIsReadAsJsonLinesAre) {
  const std::string objects[] = {R"({"task": "t1", "worker": "w1", "label": "a"})",
                                 R"({"task": "t1", "worker": "w2", "label": "b", "more": [{"x": "],["}]})",
                                 R"({"task": "t2", "worker": "w1", "label": "a"})"};
  const std::string compact = fmt::format("[{},{},{}]", objects[0], objects[1], objects[2]);
  const std::string spread =
      fmt::format("\xEF\xBB\xBF[\n  {},\r\n  {}\n,\n{}\n]\n", objects[0], objects[1], objects[2]);
  const std::string broken_up =
      "[\n  {\n    \"task\": \"t1\",\n    \"worker\": \"w1\",\n    \"label\": \"a\"\n  }\n]\n";
  for (const std::size_t window : {std::size_t{7}, std::size_t{64}, std::size_t{1} << 20}) {
    const Tuning tuning{.window_bytes = window};
    EXPECT_EQ(listed(read(compact, {}, nullptr, "a.json", tuning).answers), kThree);
    EXPECT_EQ(listed(read(spread, {}, nullptr, "a.jsonl", tuning).answers), kThree);
    EXPECT_EQ(listed(read(compact, {}, nullptr, "answers", tuning).answers), kThree) << "without an ending";
    EXPECT_EQ(listed(read(broken_up, {}, nullptr, "a.json", tuning).answers), "t1|w1|a\n");
  }
  EXPECT_EQ(listed(read("[task],worker,label\nt1,w1,a\n", {.task_column = "[task]"}).answers), "t1|w1|a\n")
      << "a bracket in CSV is a character";
}

TEST(OddTables, JsonArrayKeepsLinesAndRefusesWhatIsNone) {
  const std::string good = R"({"task": "t1", "worker": "w1", "label": "a"})";
  const auto message = [](const std::string& text) {
    return refusal([&] { (void)read(text, {}, nullptr, "a.json"); });
  };
  const auto holds = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(message(text).find(part), std::string::npos) << text << "\n" << message(text);
  };
  holds(fmt::format("[\n{},\n\n{{\n \"task\": \"t2\",\n \"worker\": 1\n}},\n{{\"task\": 3}}\n]", good),
        "a.json:4: column 'label': is missing");
  holds(fmt::format("[\n{},\n\n{{\n \"task\": \"t2\",\n \"worker\": 1\n}},\n{{\"task\": 3}}\n]", good),
        "a.json:8: column 'worker': is missing");
  holds(fmt::format("[{}, 5]", good), "a.json:2: value '5'");
  holds(fmt::format("[{},,{}]", good, good), "a.json:2: value ','");
  holds(fmt::format("[{},]", good), "a.json:2: value ','");
  holds(fmt::format("[{} {}]", good, good), "not valid JSON");
  holds(fmt::format("[{}", good), "the JSON array is never closed");
  holds(fmt::format("[{}] x", good), "a.json:2: value 'x'");
  holds("[]", "the file is empty");
  holds("[[1, 2]]", "is not a JSON object");
  holds("[{\"task\": \"a\nb\", \"worker\": 1, \"label\": 2}]", "not valid JSON");
}

TEST(WorkerChanges, ExcludedAndMerged) {
  const std::string text = "task,worker,label\nt1,w1,a\nt1,w2,b\nt1,w3,c\nt2,w3,c\nt2,w1,a\n";
  DataReport report;
  const CategoryData without = read(text, {.exclude_workers = {"w3", "nobody"}}, &report);
  EXPECT_EQ(listed(without.answers), "t1|w1|a\nt1|w2|b\nt2|w1|a\n");
  EXPECT_EQ(without.answers.worker_count(), 2U);
  EXPECT_EQ(without.answers.class_count(), 3U) << "classes stay";
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_EQ(report.warnings.front().code, "workers_not_found");
  EXPECT_NE(report.warnings.front().message.find("'nobody'"), std::string::npos);

  const CategoryData merged = read(text, {.merge_workers = {{"w3", "w2"}}}, &report);
  EXPECT_EQ(listed(merged.answers), "t1|w1|a\nt1|w2|c\nt2|w1|a\nt2|w2|c\n") << "the last of two answers counts";
  EXPECT_EQ(report.duplicates_dropped, 1U);
  EXPECT_EQ(read(text, {.duplicates = DuplicatePolicy::repeat, .merge_workers = {{"w3", "w2"}}}).answers.answer_count(),
            5U);
  EXPECT_NE(refusal([&] {
              (void)read(
                  text,
                  {.duplicates = DuplicatePolicy::reject, .exclude_workers = {"w1"}, .merge_workers = {{"w3", "w2"}}});
            }).find("a.csv:4: worker 'w2' already answered task 't1' in line 3"),
            std::string::npos);
  EXPECT_EQ(listed(read(text, {.merge_workers = {{"w1", "x"}, {"x", "y"}, {"w2", "y"}, {"w3", "y"}}}).answers),
            "t1|y|c\nt2|y|a\n")
      << "chains are followed";
  EXPECT_EQ(listed(read(text, {.exclude_workers = {"w1", "y"}, .merge_workers = {{"w3", "y"}}}).answers), "t1|w2|b\n");
  EXPECT_EQ(read(text, {.exclude_workers = {"w1", "w3"}}).answers.task_count(), 2U) << "tasks stay";
  EXPECT_NE(refusal([&] {
              (void)read(text, {.merge_workers = {{"w1", "w2"}, {"w2", "w1"}}});
            }).find("itself again"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              (void)read(text, {.merge_workers = {{"w1", "w2"}, {"w1", "w3"}}});
            }).find("cannot become both"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              (void)read(text, {.exclude_workers = {"w1", "w2", "w3"}});
            }).find("all 3 workers are excluded"),
            std::string::npos);
}

class WorkerFiles : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    path_ = std::filesystem::temp_directory_path() / fmt::format("wisecrowd-workers-{}", ::getpid());
    std::ofstream(path_, std::ios::binary) << text;
    return path_.string();
  }
  ~WorkerFiles() override {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  std::filesystem::path path_;
};

TEST_F(WorkerFiles, ListsAndMerges) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(read_worker_list(write("w1\r\n\n\"a,b\"\nw3")), (Names{"w1", "a,b", "w3"}));
  EXPECT_EQ(read_worker_list(write("\xEF\xBB\xBFworker,advice\nw1,stop\nw2,stop\n")), (Names{"w1", "w2"}));
  EXPECT_NE(refusal([&] { (void)read_worker_list(write("w1\nw2,w3\n")); }).find(":2: the line has 2 fields"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)read_worker_list(write("\n")); }).find("there is no name in it"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)read_worker_list(write(std::string("a\0b\n", 4))); }).find("holds a NUL"),
            std::string::npos);
  const auto pairs = [](const std::vector<WorkerMerge>& merges) {
    std::string out;
    for (const auto& [name, into] : merges) out += name + ">" + into + " ";
    return out;
  };
  EXPECT_EQ(pairs(read_worker_merges(write("old,new\nb,a\nc,a\n"))), "b>a c>a ");
  EXPECT_EQ(pairs(read_worker_merges(write("a,b,c\nd,e,\n"))), "b>a c>a e>d ");
  EXPECT_NE(refusal([&] { (void)read_worker_merges(write("a\n")); }).find(":1: the line has 1 name"),
            std::string::npos);
}

std::string gold_warning(const std::string& answers, const std::string& gold) {
  DataReport report;
  (void)ingest::read_dataset({"a.csv", answers}, Input{"gold.csv", gold}, {}, {}, RunContext(), &report);
  for (const Warning& warning : report.warnings) {
    if (warning.code == "gold_without_answers") return full_text(warning);
  }
  return "";
}

TEST(GoldMismatch, TheLikelyReasonIsSaid) {
  const std::string answers = "task,worker,label\nitem_01,ann,cat\nitem_02,ann,dog\nitem_03,bob,cat\n";
  const auto says = [&](const std::string& gold, const std::string& part) {
    const std::string warning = gold_warning(answers, gold);
    EXPECT_NE(warning.find(part), std::string::npos) << gold << "\n" << warning;
  };
  says("task,label\ncat,item_01\ndog,item_02\n", "columns seem to be swapped");
  says("task,label\nann,cat\nbob,dog\n", "holds names of workers");
  says("task,label\nItem_01 ,cat\nITEM_02,dog\n", "differ by case or blanks alone ('Item_01 ' here, 'item_01' there)");
  says("task,label\n01,cat\n02,dog\n", "differ by how they begin or end ('01' here, 'item_01' there)");
  says("task,label\ndata/item_01.png,cat\ndata/item_02.png,dog\n", "differ by how they begin or end");
  says("task,name,label\nx,item_01,cat\ny,item_02,dog\n", "it also has 'name'");
  says("task,label\nx,cat\ny,dog\n", "are these files of the same tasks");
  says("task,label\nx,cat\nitem_01,dog\n", "1 of 2 gold tasks, for example 'x', have no answers");
  EXPECT_EQ(gold_warning(answers, "task,label\nitem_01,cat\n"), "");
  EXPECT_NE(gold_warning("task,worker,label\n1,a,x\n2,a,y\n", "task,label\n001,x\n2.0,y\n").find("zeros alone"),
            std::string::npos);
}

TEST(GoldMismatch, SwappedColumnsOfNumbersAreNoticedByContradictions) {
  const std::string message = refusal([] {
    (void)gold_warning("task,worker,label\n0,a,1\n1,a,0\n2,a,1\n3,a,0\n", "task,label\n1,0\n0,1\n1,2\n0,3\n");
  });
  EXPECT_NE(message.find("are the two columns swapped?"), std::string::npos) << message;
}

/// "unsure" is counted and never a class; its task stays, and a worker who never answers is none.
TEST(NoAnswer, IsCountedAndNeverAClass) {
  ReadOptions options;
  options.no_answer = "unsure";
  DataReport report;
  const CategoryData data =
      read("task,worker,label\nt1,w1,a\nt1,w2,unsure\nt2,w3,unsure\nt3,w2,b\nt3,w1,Unsure\n", options, &report);
  EXPECT_EQ(listed(data.answers), "t1|w1|a\nt3|w1|Unsure\nt3|w2|b\n");
  EXPECT_EQ(data.answers.task_count(), 3U);
  EXPECT_EQ(data.answers.worker_count(), 2U);
  EXPECT_EQ(report.no_answers, 2U);
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_NE(report.warnings[0].message.find("2 of 5 rows say 'unsure'"), std::string::npos)
      << report.warnings[0].message;

  options.layout = TableLayout::wide;
  const CategoryData wide = read("task,w1,w2,w3\nt1,a,unsure,\nt2,unsure,unsure,\nt3,b,a,unsure\n", options, &report);
  EXPECT_EQ(listed(wide.answers), "t1|w1|a\nt3|w1|b\nt3|w2|a\n");
  EXPECT_EQ(wide.answers.task_count(), 3U);
  EXPECT_EQ(report.no_answers, 4U);

  options.layout = TableLayout::automatic;
  EXPECT_EQ(read("task,worker,label\nt1,w1,unsure\n", options, &report).answers.answer_count(), 0U);
}

TEST(NoAnswer, LeavesTheTimesOfTheOthersInPlace) {
  ReadOptions options;
  options.no_answer = "skip";
  options.time_column = "time";
  const TimedCategoryData timed =
      ingest::read_timed_dataset({"a.csv", "task,worker,label,time\nt1,w1,a,10\nt1,w2,skip,20\nt2,w1,b,30\n"},
                                 std::nullopt, options, Tuning{}, RunContext({.threads = 1}));
  EXPECT_EQ(timed.times.times, (std::vector<double>{10, 30}));
}

}  // namespace
}  // namespace wisecrowd
