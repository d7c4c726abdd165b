#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/read_sequences.hpp"
#include "wisecrowd/report.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

/// A run on a small crowd whose files have unusual columns, and its folder.
class ReadSequenceResult : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("wisecrowd-read-sequences-" + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    write("answers.csv",
          "text,n,who,tag\n\"a,1\",1,u,B-x\n\"a,1\",2,u,I-x\n\"a,1\",1,v,B-x\n\"a,1\",2,v,O\nb,1,u,O\nb,1,v,B-y\n"
          "b,1,w,O\n");
    write("gold.csv", "doc,position,tag\n\"a,1\",1,B-x\n\"a,1\",2,O\nb,1,O\n");
    write("tokens.csv", "doc,position,token\n\"a,1\",1,\"<b>\"\n\"a,1\",2,\"x,\"\"y\"\nb,1,c\nb,2,d\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }
  /// What aggregate does.
  [[nodiscard]] SequenceResult run(bool with_gold) const {
    SequenceFiles files;
    files.answers = at("answers.csv");
    files.tokens = at("tokens.csv");
    if (with_gold) files.gold = at("gold.csv");
    files.position_column = "n";
    ReadOptions reading;
    reading.task_column = "text";
    reading.worker_column = "who";
    RunRecord record;
    record.method = "bsc";
    record.version = "test";
    record.command = "wisecrowd aggregate";
    record.inputs = {{"answers", files.answers}, {"tokens", *files.tokens}};
    if (with_gold) record.inputs.emplace_back("gold", *files.gold);
    record.reading = reading_record(reading);
    record.reading.emplace_back("position_column", "n");
    SequenceData data = read_sequences(files, reading, context_);
    SequenceData seen = data;
    seen.gold.clear();
    SequenceFit fit = aggregate(seen, "bsc");
    std::optional<SequenceEvaluation> score;
    if (with_gold) {
      record.gold_use = "evaluation";
      record.gold_tasks = 3;
      score = evaluate_sequences(data.answers.token_offsets(), fit.tags, data.gold, 2);
    }
    SequenceResult result = make_result(std::move(data), std::move(fit), std::move(record));
    result.evaluation = std::move(score);
    return result;
  }

  fs::path folder_;
  RunContext context_{RunOptions{.threads = 1}};
};

TEST_F(ReadSequenceResult, ComesBackAsItWas) {
  for (const bool with_gold : {false, true}) {
    const SequenceResult result = run(with_gold);
    ASSERT_EQ(write_result(Result(result), at("out"), context_), Status::converged);
    const StoredRun stored = read_result(at("out"), {}, context_);
    const SequenceResult& read = std::get<SequenceResult>(stored.result);
    const SequenceResult written = rounded_for_files(result);
    EXPECT_EQ(read.fit.tags, written.fit.tags);
    EXPECT_EQ(read.fit.probability, written.fit.probability);
    EXPECT_EQ(read.fit.spans, written.fit.spans);
    EXPECT_EQ(read.fit.span_probability, written.fit.span_probability);
    EXPECT_EQ(read.fit.accuracy, written.fit.accuracy);
    EXPECT_EQ(read.data.first_position, 1U);
    EXPECT_EQ(read.evaluation.has_value(), with_gold);
    // The same report, to the last byte.
    EXPECT_EQ(report_json(stored.result, {}, context_), report_json(result, {}, context_));
  }
  // Gold that is known only now is for evaluation.
  ASSERT_EQ(write_result(run(false), at("out"), context_), Status::converged);
  const StoredRun scored = read_result(at("out"), {.gold = at("gold.csv")}, context_);
  EXPECT_EQ(std::get<SequenceResult>(scored.result).evaluation->tokens, 3U);
}

TEST_F(ReadSequenceResult, RefusesOtherFiles) {
  const SequenceResult result = run(false);
  const auto refuses = [&](const std::string& name, const std::string& text) {
    (void)write_result(result, at("out"), context_);
    write("out/" + name, text);
    EXPECT_THROW((void)read_result(at("out"), {}, context_), Error) << text;
    fs::remove_all(at("out"));
  };
  refuses("tags.csv", "");
  refuses("tags.csv", "doc,position,tag,probability\nb,1,O,1\n");
  refuses("tags.csv", "doc,position,tag,probability\n\"a,1\",1,B-z,1\n\"a,1\",2,O,1\nb,1,O,1\nb,2,O,1\n");
  refuses("tags.csv", "doc,position,tag,probability\n\"a,1\",1,O,2\n\"a,1\",2,O,1\nb,1,O,1\nb,2,O,1\n");
  refuses("spans.csv", "doc,first,last,type,probability\n");
  refuses("workers.csv", "worker,accuracy\nx,1\n");
  (void)write_result(result, at("out"), context_);
  write("answers.csv", "text,n,who,tag\nb,1,u,O\n");
  EXPECT_THROW((void)read_result(at("out"), {}, context_), Error);
}

TEST_F(ReadSequenceResult, PageShowsWhatTheFilesHave) {
  const SequenceResult result = run(true);
  const auto page = nlohmann::ordered_json::parse(report_json(result, {}, context_));
  EXPECT_EQ(page.at("answers_kind"), "sequences");
  const auto& documents = page.at("documents");
  EXPECT_EQ(documents.at("shown"), 2);
  for (const auto& [name, column] : documents.items()) {
    if (column.is_array()) EXPECT_EQ(column.size(), 2U) << name;
  }
  const std::size_t first = documents.at("name").at(0) == "a,1" ? 0 : 1;
  EXPECT_EQ(documents.at("tokens").at(first).at(0), "<b>");
  EXPECT_EQ(documents.at("said").at(first).at(0).at(0), "u");
  EXPECT_EQ(documents.at("gold").at(first), nlohmann::ordered_json::parse("[[0, 1, 0]]"));
  EXPECT_EQ(page.at("types").at(0).at("name"), "x");
  EXPECT_EQ(page.at("gold").at("tokens"), 3);
  EXPECT_EQ(page.at("workers").at("shown"), 3);
  // Names and texts never reach the page unescaped.
  EXPECT_EQ(report_html(result, {}, context_).find("\"<b>\""), std::string::npos);
}

}  // namespace
}  // namespace wisecrowd
