#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/read_similarities.hpp"
#include "wisecrowd/report.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

/// A run on a small crowd whose files have unusual names, and its folder.
class ReadSimilarityResult : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("wisecrowd-read-similarities-" + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    write("answers.csv",
          "worker,left,right,label\nu,\"a,1\",b,same\nv,b,\"a,1\",same\nw,\"a,1\",b,different\nu,c,d,same\n"
          "v,c,d,same\nu,b,c,different\nv,d,\"a,1\",different\nw,\"a,1\",d,different\n");
    write("gold.csv", "item,cluster\n\"a,1\",x\nb,x\nc,y\nd,y\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }
  /// What aggregate does.
  [[nodiscard]] SimilarityResult run(const char* method, bool with_gold) const {
    const ReadOptions reading;
    RunRecord record;
    record.method = method;
    record.version = "test";
    record.command = "wisecrowd aggregate";
    record.inputs = {{"answers", at("answers.csv")}};
    record.reading = reading_record(reading);
    std::optional<std::string> gold;
    if (with_gold) record.inputs.emplace_back("gold", *(gold = at("gold.csv")));
    SimilarityData data = read_similarities(at("answers.csv"), gold, reading, context_);
    SimilarityData seen{.answers = data.answers};
    SimilarityFit fit = aggregate(seen, method, Parameters(method_of<Similarities>(method).parameters), context_);
    std::optional<SimilarityEvaluation> score;
    if (with_gold) {
      record.gold_use = "evaluation";
      record.gold_tasks = gold_count(data);
      score = evaluate_similarities(fit.cluster, data);
    }
    SimilarityResult result = make_result(std::move(data), std::move(fit), std::move(record));
    result.evaluation = std::move(score);
    return result;
  }

  fs::path folder_;
  RunContext context_{RunOptions{.threads = 1}};
};

TEST_F(ReadSimilarityResult, ComesBackAsItWas) {
  for (const MethodInfo& method : methods_of<Similarities>()) {
    for (const bool with_gold : {false, true}) {
      const SimilarityResult result = run(method.name.c_str(), with_gold);
      ASSERT_EQ(write_result(Result(result), at("out"), context_), Status::converged);
      const StoredRun stored = read_result(at("out"), {}, context_);
      const SimilarityResult& read = std::get<SimilarityResult>(stored.result);
      const SimilarityResult written = rounded_for_files(result);
      EXPECT_EQ(read.fit.cluster, written.fit.cluster);
      EXPECT_EQ(read.fit.cluster_names, written.fit.cluster_names);
      EXPECT_EQ(read.fit.probability, written.fit.probability);
      EXPECT_EQ(read.fit.same, written.fit.same);
      EXPECT_EQ(read.fit.false_different, written.fit.false_different);
      EXPECT_EQ(read.fit.false_same, written.fit.false_same);
      EXPECT_EQ(read.evaluation.has_value(), with_gold);
      // The same report, to the last byte.
      EXPECT_EQ(report_json(stored.result, {}, context_), report_json(result, {}, context_));
    }
  }
  // Gold that is known only now is for evaluation.
  ASSERT_EQ(write_result(run("pair_vote", false), at("out"), context_), Status::converged);
  const StoredRun scored = read_result(at("out"), {.gold = at("gold.csv")}, context_);
  EXPECT_EQ(std::get<SimilarityResult>(scored.result).evaluation->items, 4U);
}

TEST_F(ReadSimilarityResult, RefusesOtherFiles) {
  const SimilarityResult result = run("pair_vote", false);
  const auto refuses = [&](const std::string& name, const std::string& text) {
    (void)write_result(result, at("out"), context_);
    write("out/" + name, text);
    EXPECT_THROW((void)read_result(at("out"), {}, context_), Error) << text;
    fs::remove_all(at("out"));
  };
  refuses("clusters.csv", "");
  refuses("clusters.csv", "item,cluster,probability\nb,1,1\n");
  refuses("clusters.csv", "item,cluster,probability\n\"a,1\",1,2\nb,1,1\nc,1,1\nd,1,1\n");
  refuses("clusters.csv", "item,cluster,probability\n\"a,1\",1,1\nb,1,1\nc,1,1\nd,1,1\ne,1,1\n");
  refuses("workers.csv", "worker,false_different\nu,0.1\n");
  refuses("workers.csv", "worker,false_different,false_same\nu,0.1,0.1\nv,0.1,much\nw,0.1,0.1\n");
  refuses("pairs.csv", "left,right,probability\nb,c,0.5\n");
  refuses("run.json", "{}");
  (void)write_result(result, at("out"), context_);
  write("answers.csv", "worker,left,right,label\nu,b,c,same\n");
  EXPECT_THROW((void)read_result(at("out"), {}, context_), Error) << "other answers";
}

}  // namespace
}  // namespace wisecrowd
