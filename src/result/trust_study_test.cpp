#include "wisecrowd/trust_study.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/trust_files.hpp"

namespace wisecrowd {
namespace {

/// 24 honest workers of accuracy .85, one who swaps the first two of five classes, one who is right in 8 % without any
/// pattern, one who guesses; all answer 400 tasks but for every third.
struct OddCrowd {
  CategoryData data;
  std::uint32_t swaps = 24, wrong = 25, guesses = 26;
};

OddCrowd odd_crowd() {
  OddCrowd crowd;
  Rng rng(3);
  CategoryAnswersBuilder builder({"cat", "dog", "bird", "fish", "cow"});
  const char* names[] = {"cat", "dog", "bird", "fish", "cow"};
  const auto other = [&](std::uint64_t truth) { return (truth + 1 + rng.below(4)) % 5; };
  for (int t = 0; t < 400; ++t) {
    const std::uint64_t truth = static_cast<std::uint64_t>(t) % 5;
    for (int w = 0; w < 27; ++w) {
      if ((t + w) % 3 == 0) continue;
      std::uint64_t said = rng.bernoulli(0.85) ? truth : other(truth);
      if (w == 24) said = said < 2 ? 1 - said : said;
      if (w == 25) said = rng.bernoulli(0.08) ? truth : other(truth);
      if (w == 26) said = rng.below(5);
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), names[said]);
    }
  }
  crowd.data.answers = builder.build();
  return crowd;
}

TrustStudy study_of(const CategoryData& data, const AnswerTimes& times = {}) {
  const RunContext context;
  const CategoryFit fit =
      aggregate(data, "dawid_skene", Parameters(aggregation_method("dawid_skene").parameters), context);
  return study_trust(data, fit, find_dependence(data, {.list_attacked_tasks = true}, context), times, context);
}

TEST(TrustStudy, AdviceThatALeadWouldSign) {
  const OddCrowd crowd = odd_crowd();
  const TrustStudy study = study_of(crowd.data);
  for (std::uint32_t w = 0; w < 24; ++w) EXPECT_EQ(to_string(study.workers[w].advice), "keep") << w;
  const NameTable& classes = crowd.data.answers.class_names();
  const WorkerAssessment& swaps = study.workers[crowd.swaps];
  EXPECT_EQ(to_string(swaps.advice), "recode") << reason_of(swaps, classes);
  EXPECT_NE(reason_of(swaps, classes).find("read its cat as dog, dog as cat"), std::string::npos);
  EXPECT_NE(effect_of(swaps, 400).find("by plain votes"), std::string::npos);
  const WorkerAssessment& wrong = study.workers[crowd.wrong];
  EXPECT_EQ(to_string(wrong.advice), "retrain") << reason_of(wrong, classes);
  EXPECT_NEAR(wrong.chance, 0.2, 0.01);
  EXPECT_EQ(to_string(study.workers[crowd.guesses].advice), "stop");
  EXPECT_EQ(effect_of(study.workers[crowd.guesses], 400), "without it none of 400 labels would change");
}

// Below guessing is never "keep", however rare the classes that the worker says.
TEST(TrustStudy, BelowGuessingIsNeverKept) {
  std::vector<double> counts;
  std::vector<std::uint32_t> answers;
  const auto add = [&](double right, std::size_t said) {
    for (std::size_t k = 0; k < 5; ++k) {
      for (std::size_t l = 0; l < 5; ++l) {
        const double truths = k == 0 ? 400 : 20;
        counts.push_back(k == l ? truths * right : l == said ? truths * (1 - right) : 0);
      }
    }
    answers.push_back(480);
  };
  for (int n = 0; n < 10; ++n) add(0.9, 0);
  add(0.08, 4);  // says the last, rare class nearly always, and is a little better than by chance
  const std::vector<double> shares = {0.8, 0.05, 0.05, 0.05, 0.05};
  const auto judged = judge_workers(counts, shares, answers, {}, RunContext());
  EXPECT_LT(judged.back().accuracy.value, 0.2);
  EXPECT_NE(judged.back().advice, WorkerAdvice::keep);
}

TEST(TrustStudy, TheEffectIsThatOfAnEStepWithoutTheWorker) {
  CategoryAnswersBuilder builder({"a", "b"});
  for (int t = 0; t < 20; ++t) {
    const std::string task = "t" + std::to_string(t);
    builder.add(task, "good", t % 2 == 0 ? "a" : "b").add(task, "poor", "a");
  }
  const CategoryAnswers answers = builder.build();
  const std::vector<double> tables = {0.9, 0.1, 0.1, 0.9, 0.6, 0.4, 0.4, 0.6};
  const std::vector<double> shares = {0.5, 0.5};
  const auto judged = judge_workers({answers, tables, shares}, {}, RunContext());
  EXPECT_EQ(judged[0].labels_without, 10U);  // the poor one always says a
  EXPECT_EQ(judged[1].labels_without, 0U);
}

TEST(TrustStudy, ColludersAreStoppedAndNamedFirst) {
  const RunContext context;
  const Simulation crowd =
      simulate("colluders", {600, 30, 3, 12}, Parameters(simulation_kind("colluders").parameters), context);
  const TrustStudy study = study_of({crowd.data.answers, {}, {}});
  ASSERT_FALSE(study.dependence.groups.empty());
  EXPECT_EQ(kind_of_group(study.dependence, study.dependence.groups[0]), "colluders");
  for (const WorkerId worker : study.dependence.groups[0].workers) {
    EXPECT_EQ(study.workers[index(worker)].reason, AdviceReason::colludes);
    EXPECT_EQ(study.workers[index(worker)].advice, WorkerAdvice::stop);
  }
  const auto order = workers_to_look_at(study);
  ASSERT_GE(order.size(), study.dependence.groups[0].workers.size());
  EXPECT_EQ(study.group[order[0]], 0U);
  EXPECT_FALSE(study.dependence.attacked.empty());
}

TEST(TrustStudy, FilesAreReadBack) {
  const OddCrowd crowd = odd_crowd();
  AnswerTimes times{AnswerOrder::rows, std::vector<double>(crowd.data.answers.answer_count())};
  for (std::size_t a = 0; a < times.times.size(); ++a) times.times[a] = static_cast<double>(a);
  TrustRun run;
  run.data = crowd.data;
  run.record.method = "dawid_skene";
  run.study = study_of(crowd.data, times);
  const std::string folder = ::testing::TempDir() + "trust_files";
  std::filesystem::remove_all(folder);
  write_trust(run, folder, RunContext());
  const auto written = trust_tables(run.data.answers, run.study);
  const auto read = read_trust_tables(folder);
  ASSERT_EQ(read.size(), written.size());
  std::set<std::string> files{"run.json"};
  for (std::size_t t = 0; t < read.size(); ++t) {
    files.insert(read[t].name + ".csv");
    ASSERT_EQ(read[t].rows(), written[t].rows()) << read[t].name;
    for (std::size_t c = 0; c < read[t].columns.size(); ++c) {
      const auto& first = written[t].columns[c].values;
      const auto& second = read[t].columns[c].values;
      ASSERT_EQ(first.index(), second.index());
      if (const auto* texts = std::get_if<std::vector<std::string>>(&first)) {
        EXPECT_EQ(*texts, std::get<std::vector<std::string>>(second)) << read[t].columns[c].name;
      } else if (const auto* counts = std::get_if<std::vector<std::uint64_t>>(&first)) {
        EXPECT_EQ(*counts, std::get<std::vector<std::uint64_t>>(second)) << read[t].columns[c].name;
      }
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(files.contains(entry.path().filename().string())) << entry.path();
  }
  std::filesystem::remove(folder + "/pairs.csv");
  EXPECT_THROW(static_cast<void>(read_trust_tables(folder)), Error);
  std::filesystem::remove_all(folder);
}

TEST(TrustStudy, TimesAreShownAsTheyWereGiven) {
  EXPECT_EQ(time_in_words(1709208000, AnswerOrder::dates), "2024-02-29 12:00:00");
  EXPECT_EQ(time_in_words(86400, AnswerOrder::dates), "1970-01-02");
  EXPECT_EQ(time_in_words(-1, AnswerOrder::dates), "1969-12-31 23:59:59");
  EXPECT_EQ(time_in_words(17.5, AnswerOrder::numbers), "17.5");
  EXPECT_EQ(time_in_words(17, AnswerOrder::rows), "");
}

}  // namespace
}  // namespace wisecrowd
