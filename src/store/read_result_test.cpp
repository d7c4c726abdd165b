#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/csv_rows.hpp"
#include "base/csv_text.hpp"
#include "evaluate/components.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/report.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

CategoryResult categories(const StoredRun& run) { return std::get<CategoryResult>(run.result); }

/// A folder of its own for each test.
class ReadResult : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("wisecrowd-read-result-" + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }

  /// Answers of a small crowd as a file, with a name that needs quotes.
  void write_answers(std::uint64_t seed, const std::string& header = "task,worker,label") const {
    const auto crowd = testing::small_crowd(seed, 120, 10, 3, 4);
    const CategoryAnswers& answers = crowd.data.answers;
    std::string text = header + "\n", gold = "task,label\n";
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      const std::string task = csv_field(std::string(answers.task_names()[t]) + ",\"x\"\ny");
      const auto workers = answers.workers_of(TaskId(t));
      for (std::size_t a = 0; a < workers.size(); ++a) {
        text += task + "," + std::string(answers.worker_names()[index(workers[a])]) + "," +
                std::string(answers.class_names()[index(answers.labels_of(TaskId(t))[a])]) + "\n";
      }
      gold += task + "," + std::string(answers.class_names()[index(crowd.truth[t])]) + "\n";
    }
    write("labels.csv", text);
    write("gold.csv", gold);
  }

  /// What aggregate does with them.
  [[nodiscard]] CategoryResult run(const std::string& method, const ReadOptions& reading, double abstain_below) const {
    RunRecord record;
    record.method = method;
    record.version = "test";
    record.command = "wisecrowd aggregate";
    record.seed = 7;
    record.inputs = {{"answers", at("labels.csv")}, {"gold", at("gold.csv")}};
    record.reading = reading_record(reading);
    record.abstain_below = abstain_below;
    CategoryData data = read_dataset(at("labels.csv"), at("gold.csv"), reading, context_);
    record.gold_tasks = data.gold.size();
    record.gold_use = "evaluation";
    CategoryData seen = data;
    seen.gold.clear();
    const Parameters parameters(aggregation_method(method).parameters);
    for (const auto& [name, value] : parameters.all()) record.parameters.emplace_back(name, value);
    CategoryFit fit = aggregate(seen, method, parameters, context_);
    record.evaluation = evaluate(delivered_labels(fit, abstain_below), fit.posterior, data.gold, fit.class_count,
                                 {.tie_rule = fit.tie_rule}, context_);
    record.timings = {{"fit", 0.25}};
    return make_result(std::move(data), std::move(fit), std::move(record), context_);
  }

  fs::path folder_;
  RunContext context_{RunOptions{.seed = 7, .threads = 2}};
};

TEST_F(ReadResult, GivesBackWhatWasWritten) {
  for (const std::string method : {"dawid_skene", "majority_vote", "wawa"}) {
    write_answers(4);
    const CategoryResult result = run(method, {}, 0.6);
    ASSERT_EQ(write_result(result, at("out"), context_), Status::converged);
    const StoredRun stored = read_result(at("out"), {}, context_);
    const CategoryResult written = rounded_for_files(result, context_);
    EXPECT_FALSE(stored.learned);
    EXPECT_EQ(categories(stored).aggregation.posterior, written.aggregation.posterior) << method;
    EXPECT_EQ(categories(stored).worker_confusion, written.worker_confusion);
    EXPECT_EQ(categories(stored).aggregation.class_prior, written.aggregation.class_prior);
    EXPECT_EQ(categories(stored).aggregation.trace, written.aggregation.trace);
    EXPECT_EQ(delivered_labels(categories(stored).aggregation, 0.6), delivered_labels(result.aggregation, 0.6));
    EXPECT_EQ(categories(stored).data.gold, result.data.gold);
    // The same report, to the last byte.
    EXPECT_EQ(report_json(stored.result, {}, context_), report_json(result, {}, context_)) << method;
  }
}

TEST_F(ReadResult, ReadsTheAnswersAsThen) {
  write_answers(4, "question,who,said");
  ReadOptions reading;
  reading.task_column = "question";
  reading.worker_column = "who";
  reading.label_column = "said";
  reading.gold_task_column = "task";
  reading.gold_label_column = "label";
  reading.duplicates = DuplicatePolicy::repeat;
  (void)write_result(run("dawid_skene", reading, 0), at("out"), context_);
  const StoredRun stored = read_result(at("out"), {}, context_);
  EXPECT_EQ(categories(stored).record.reading, reading_record(reading));
}

TEST_F(ReadResult, RefusesAnswersThatChanged) {
  write_answers(4);
  (void)write_result(run("majority_vote", {}, 0), at("out"), context_);
  const auto message = [&](const ReadResultOptions& options = {}) -> std::string {
    try {
      (void)read_result(at("out"), options, context_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(), "");
  fs::rename(at("labels.csv"), at("moved.csv"));
  EXPECT_NE(message().find("`answers=FILE`"), std::string::npos) << message();
  EXPECT_EQ(message({.answers = at("moved.csv")}), "");
  write_answers(5);
  EXPECT_NE(message().find("not those"), std::string::npos) << message();
  fs::remove(at("gold.csv"));
  fs::rename(at("moved.csv"), at("labels.csv"));
  EXPECT_NE(message().find("`gold=FILE`"), std::string::npos) << message();
}

TEST_F(ReadResult, RefusesDamagedFolders) {
  write_answers(4);
  EXPECT_THROW((void)read_result(at("nowhere"), {}, context_), Error);
  EXPECT_THROW((void)read_result(at(""), {}, context_), Error);
  const auto damaged = [&](const std::string& name, const std::string& text) {
    (void)write_result(run("majority_vote", {}, 0), at("out"), context_);
    write("out/" + name, text);
    EXPECT_THROW((void)read_result(at("out"), {}, context_), Error) << name << ": " << text;
    fs::remove_all(at("out"));
  };
  damaged("run.json", "");
  damaged("run.json", "{}");
  damaged("run.json", "[1, 2");
  damaged("labels.csv", "");
  damaged("labels.csv", "task,label,probability,p_0,p_1,p_2\nt,0,1,1,0,0\n");
  damaged("confusion.csv", "worker,truth,label,probability\nw,0,0,1\n");
  damaged("confusion.csv", "worker,truth,label,probability\nw,0,0,much\n");
}

TEST_F(ReadResult, FindsAnswersBesideTheFolder) {
  write_answers(4);
  CategoryResult result = run("majority_vote", {}, 0);
  result.record.inputs = {{"answers", "labels.csv"}, {"gold", "gold.csv"}};
  (void)write_result(result, at("out"), context_);
  EXPECT_EQ(categories(read_result(at("out"), {}, context_)).data.answers.content_hash(), result.record.data_hash);
  EXPECT_EQ(categories(read_result(at("out/"), {}, context_)).data.answers.content_hash(), result.record.data_hash);
}

/// What aggregate does with points, in columns that have to be named.
NumberResult run_on_points(const std::string& answers, const std::string& gold, const RunContext& context) {
  ReadOptions reading;
  reading.task_column = "task";
  reading.worker_column = "worker";
  reading.value_columns = {"left x", "y"};
  RunRecord record;
  record.method = "mean";
  record.version = "test";
  record.command = "wisecrowd aggregate";
  record.inputs = {{"answers", answers}, {"gold", gold}};
  record.reading = reading_record(reading);
  NumberData data = read_numbers(answers, gold, reading, context);
  record.gold_use = "evaluation";
  record.gold_tasks = 2;
  NumberData seen = data;
  seen.gold.clear();
  NumberFit fit = aggregate(seen, "mean", Parameters(method_of<Numbers>("mean").parameters), context);
  std::optional<NumberEvaluation> score = evaluate_numbers(fit.estimate, fit.low, fit.high, data.gold, 2);
  NumberResult result = make_result(std::move(data), std::move(fit), std::move(record));
  result.evaluation = std::move(score);
  return result;
}

TEST_F(ReadResult, NumbersComeBackToo) {
  write("points.csv",
        "task,worker,left x,y\n\"a,1\",u,1.23456789,-2\n\"a,1\",v,3,4e5\nb,u,0.1,7\nb,v,0.25,8\nb,w,-1e-9,1e6\n"
        "c,w,12345678,0\n");
  write("truth.csv", "task,left x,y\nb,0.2,7\n\"a,1\",2,3\n");
  const NumberResult result = run_on_points(at("points.csv"), at("truth.csv"), context_);
  ASSERT_EQ(write_result(Result(result), at("out"), context_), Status::converged);
  const StoredRun stored = read_result(at("out"), {}, context_);
  const NumberResult& read = std::get<NumberResult>(stored.result);
  const NumberResult written = rounded_for_files(result);
  EXPECT_EQ(read.fit.estimate, written.fit.estimate);
  EXPECT_EQ(read.fit.scale.size(), written.fit.scale.size());
  EXPECT_EQ(read.record.gold_use, "evaluation");
  EXPECT_EQ(run_json(stored.result).find("\"answers_kind\": \"numbers\"") == std::string::npos, false);
  // The same report, to the last byte.
  EXPECT_EQ(report_json(stored.result, {}, context_), report_json(result, {}, context_));

  const auto refuses = [&](const std::string& name, const std::string& text) {
    (void)write_result(result, at("out"), context_);
    write("out/" + name, text);
    EXPECT_THROW((void)read_result(at("out"), {}, context_), Error) << text;
    fs::remove_all(at("out"));
  };
  refuses("estimates.csv", "");
  refuses("estimates.csv", "task,estimate\nb,1\n");
  const std::string header =
      "task,estimate_left x,estimate_y,deviation_left x,deviation_y,low_left x,low_y,high_left x,high_y\n";
  refuses("estimates.csv", header + "b,1,1,1,1,1,1,1,1\n");
  refuses("estimates.csv", header + "\"a,1\",much,1,1,1,1,1,1,1\nb,1,1,1,1,1,1,1,1\nc,1,1,1,1,1,1,1,1\n");
  refuses("workers.csv", "worker,answers,bias_left x,bias_y,scale_left x,scale_y\nu,2,1,1,1,1\n");
  refuses("run.json", "{}");
  (void)write_result(result, at("out"), context_);
  write("points.csv", "task,worker,left x,y\na,u,1,2\n");
  EXPECT_THROW((void)read_result(at("out"), {}, context_), Error) << "other answers";
}

TEST_F(ReadResult, WorkersWhoErrTogetherComeBack) {
  write("points.csv", "task,worker,left x,y\na,u,1,2\na,\"v,1\",3,4\nb,u,0,7\nb,\"v,1\",0.25,8\n");
  write("truth.csv", "task,left x,y\na,2,3\n");
  NumberResult result = run_on_points(at("points.csv"), at("truth.csv"), context_);
  result.fit.correlated = {{WorkerId{0}, WorkerId{1}, 1, 0.912345678, 2}, {WorkerId{1}, WorkerId{0}, 0, -0.75, 2}};
  ASSERT_EQ(write_result(Result(result), at("out"), context_), Status::converged);
  const StoredRun stored = read_result(at("out"), {}, context_);
  EXPECT_EQ(std::get<NumberResult>(stored.result).fit.correlated, rounded_for_files(result).fit.correlated);
  for (const char* const row : {"u,w,y,0.5,2", "u,\"v,1\",z,0.5,2", "u,\"v,1\",y,1.5,2", "u,\"v,1\",y,0.5,much", "u"}) {
    write("out/correlated_workers.csv", std::string("worker_a,worker_b,dimension,correlation,tasks\n") + row + "\n");
    EXPECT_THROW((void)read_result(at("out"), {}, context_), Error) << row;
  }
  result.fit.correlated.clear();
  ASSERT_EQ(write_result(Result(result), at("out"), context_), Status::converged);
  EXPECT_FALSE(fs::exists(at("out/correlated_workers.csv")));
}

TEST_F(ReadResult, SavingsOfAReplay) {
  fs::create_directories(at("replay"));
  write("replay/summary.json", R"({"accuracy_of_all_answers": 0.9, "policies": []})");
  write(
      "replay/curves.csv",
      "policy,answers,cost,accuracy,low,high\nrandom,10,10,0.5,0.4,0.6\nrandom,20,20,0.9,,\n\"a,b\",10,10,0.9,0.8,1\n");
  write("replay/savings.csv",
        "policy,slack,reached,answers,answers_low,answers_high,saved,saved_low,saved_high\nrandom,0,1,20,20,20,0,0,0\n"
        "\"a,b\",0,1,10,9,11,0.5,0.4,0.6\n");
  const Savings savings = read_savings(at("replay"));
  ASSERT_EQ(savings.curves.size(), 2U);
  EXPECT_EQ(savings.curves[1].policy, "a,b");
  EXPECT_TRUE(std::isnan(savings.curves[0].low[1]));
  EXPECT_EQ(savings.words,
            "With a,b the same accuracy would have been reached with 50.0 % fewer answers than with "
            "random (95 % interval 40.0 to 60.0 %).");
  write("replay/savings.csv", "nothing\n");
  EXPECT_THROW((void)read_savings(at("replay")), Error);
  EXPECT_THROW((void)read_savings(at("nowhere")), Error);
}

TEST(CsvRows, ReadsWhatWeWrite) {
  const std::string text = "a,b\n" + csv_field("x,\"y\"\nz") + "," + csv_field(" blank ") + "\n,\nlast,1.5";
  CsvRows rows(text);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.column("b"), 1U);
  EXPECT_EQ(rows.column("c"), 2U);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.fields(), (std::vector<std::string>{"x,\"y\"\nz", " blank "}));
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.fields(), (std::vector<std::string>{"", ""}));
  EXPECT_TRUE(std::isnan(rows.number(0)));
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.number(1), 1.5);
  EXPECT_TRUE(std::isnan(rows.number(0)));
  EXPECT_FALSE(rows.next());
}

TEST(WrittenProbability, IsWhatAReaderGets) {
  for (double x : {0.0, 1.0, 0.5, 1.0 / 3, 2.0 / 3, 0.9999996, 0.99999949, 1e-7 / 3, 1e-17 / 3, 0.1234565}) {
    char text[kNumberRoom + 1] = {};
    *write_probability(text, x) = '\0';
    EXPECT_EQ(written_probability(x), std::strtod(text, nullptr)) << x;
  }
}

TEST(ComponentSizes, LargestFirst) {
  CategoryAnswersBuilder builder({"a"});
  builder.add("1", "u", "a").add("2", "v", "a").add("3", "v", "a").add("3", "w", "a").add_task("4").add_worker("x");
  const auto sizes = component_sizes(builder.build(), 5);
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].tasks, 2U);
  EXPECT_EQ(sizes[0].workers, 2U);
  EXPECT_EQ(sizes[0].answers, 3U);
  EXPECT_EQ(sizes[1].tasks, 1U);
  EXPECT_EQ(component_sizes(builder.build(), 1).size(), 1U);
}

}  // namespace
}  // namespace wisecrowd
