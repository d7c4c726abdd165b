#include "store/run_record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "wisecrowd/error.hpp"

namespace wisecrowd::store {
namespace {

namespace fs = std::filesystem;

/// A record in which nothing has its default.
StoredRecord full_record() {
  StoredRecord stored;
  RunRecord& record = stored.record;
  record.version = "0.1";
  record.command = "wisecrowd learn";
  record.method = "cnmf";
  record.parameters = {{"rank", std::int64_t{3}}, {"step", 0.5}, {"fast", true}, {"ties", std::string("random")}};
  record.stages = {{"init", "wawa", "tables", {{"weight", 0.25}}}, {"finish", "em", "", {}}};
  record.seed = 7;
  record.threads = 3;
  record.data_hash = 0xFEDCBA9876543210;
  record.inputs = {{"answers", "a.csv"}};
  record.reading = {{"lenient", "yes"}};
  record.gold_tasks = 5;
  record.gold_use = "evaluation";
  record.abstain_below = 0.7;
  record.data_warnings = {{"duplicates", "Some repeat.", "Clean the file.", Severity::note}};
  record.timings = {{"read", 0.5}};
  stored.fit.objective_name = "log posterior";
  stored.fit.trace = {-3, -2};
  stored.fit.log_likelihood = -1.5;
  stored.fit.has_log_likelihood = true;
  stored.fit.iterations = 2;
  stored.fit.seconds_per_iteration = 0.125;
  stored.fit.status = Status::iteration_limit;
  stored.fit.warnings = {{"not_converged", "It stopped.", "Go on.", Severity::serious}};
  stored.fit.explanation = "because";
  stored.fit.learned = {{"sharpness", 2.5}};
  stored.tie_rule = TieRule::fractional;
  stored.class_prior = {0.25, 0.75};
  stored.tasks = 10;
  stored.workers = 4;
  stored.answers = 30;
  stored.classes = {"no", "yes"};
  stored.abstained_tasks = 1;
  return stored;
}

LearnSummary full_summary() {
  LearnSummary learned;
  learned.network = {"mlp", 32, 2, 0.25};
  learned.rows = 9;
  learned.train_rows = 6;
  learned.valid_rows = 2;
  learned.test_rows = 1;
  learned.row_shape = {3, 4};
  learned.curve = {{0.5, -0.5}, {0.25, -0.75}};
  learned.epochs = 2;
  learned.chosen_epoch = 1;
  Evaluation score;
  score.tasks = 3;
  score.accuracy = {0.5, 0.25, 0.75};
  score.macro_f1 = {0.5, 0.25, 0.75};
  score.brier = Estimate{0.1, 0.05, 0.2};
  learned.scores = {{"test_rows", score, score}};
  return learned;
}

class RunRecordFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("wisecrowd-run-record-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] StoredRecord read(const nlohmann::ordered_json& json) const {
    std::ofstream(folder_ / kRunRecord) << json.dump();
    return read_record(folder_.string());
  }
  fs::path folder_;
};

TEST_F(RunRecordFile, EveryFieldComesBack) {
  StoredRecord stored = full_record();
  Evaluation score;
  score.tasks = 5;
  score.log_loss = Estimate{0.4, 0.3, 0.5};
  stored.record.evaluation = score;
  const auto json = record_json(stored);
  StoredRecord again = read(json);
  EXPECT_EQ(record_json(again), json);
  EXPECT_EQ(again.tie_rule, TieRule::fractional);
  EXPECT_EQ(again.record.data_hash, stored.record.data_hash);
  ASSERT_EQ(again.record.data_warnings.size(), 2U);  // those of the fit, too
  EXPECT_EQ(again.record.data_warnings[1].remedy, "Go on.");
  EXPECT_EQ(again.record.data_warnings[1].severity, Severity::serious);
  EXPECT_EQ(again.fit.seconds_per_iteration, 0.125);
  EXPECT_FALSE(again.learned);
}

TEST_F(RunRecordFile, EveryFieldOfLearningComesBack) {
  StoredRecord stored = full_record();
  stored.learned = full_summary();
  const auto json = record_json(stored);
  EXPECT_FALSE(json.contains("trace"));
  const StoredRecord again = read(json);
  ASSERT_TRUE(again.learned);
  EXPECT_EQ(again.learned->network.hidden, 32U);
  EXPECT_EQ(again.learned->scores.at(0).part, "test_rows");
  EXPECT_EQ(record_json(again), json);
}

TEST_F(RunRecordFile, OfOlderVersionsIsUnderstood) {
  StoredRecord stored = full_record();
  stored.record.stages[1].parameters = {{"ties", std::string("highest")}};
  auto json = record_json(stored);
  json.erase("tie_rule");
  for (auto& warning : json["warnings"]) {
    warning.erase("remedy");
    warning.erase("severity");
  }
  const StoredRecord again = read(json);
  EXPECT_EQ(again.tie_rule, TieRule::highest);  // of the method that had the last word
  EXPECT_EQ(again.record.data_warnings[0].message, "Some repeat.");
  EXPECT_EQ(again.record.data_warnings[0].remedy, "");
}

TEST_F(RunRecordFile, DamageIsNoticed) {
  const auto json = record_json(full_record());
  for (const auto& [name, value] : json.items()) {
    if (name == "init" || name == "finish" || name == "abstention" || name == "explanation" || name == "trace" ||
        name == "tie_rule" || name == "answers_kind") {  // which older versions did not write
      continue;
    }
    auto damaged = json;
    damaged.erase(name);
    EXPECT_THROW((void)read(damaged), Error) << name;
  }
  auto wrong = json;
  wrong["warnings"][0]["severity"] = "terrible";
  EXPECT_THROW((void)read(wrong), Error);
}

}  // namespace
}  // namespace wisecrowd::store
