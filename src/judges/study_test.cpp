#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/judges.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/judge_files.hpp"
#include "wisecrowd/judge_groups.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {
namespace {

using testing::mixed_crowd;
using testing::MixedCrowdPlan;

TEST(Judges, KnownTruthsGiveTheCountedRate) {
  MixedCrowdPlan plan;
  plan.tasks = 500;
  plan.people_share = 0;
  auto crowd = mixed_crowd(plan);
  crowd.data.gold = crowd.truth;
  const MixedCrowdFit fit = fit_mixed_crowd(crowd.data, {}, RunContext());
  const auto judge = WorkerId(plan.people);
  const AgainstPeople found = judge_against_people(crowd.data, fit, judge, 400, RunContext());
  double right = 0;
  for (const JudgeAnswer& answer : crowd.data.answers) {
    if (answer.worker == judge && answer.said == crowd.truth[index(answer.task)]) right += 1;
  }
  double mean = 0;
  for (const double a : found.accuracy) mean += a / static_cast<double>(found.accuracy.size());
  EXPECT_EQ(found.tasks, 500U);
  EXPECT_NEAR(mean, right / 500, 0.01);
}

TEST(Judges, WidthsFallWithTheRootOfTasks) {
  EXPECT_EQ(tasks_until(0.1, 100, 0.05), 300U);
  EXPECT_EQ(tasks_until(0.05, 100, 0.05), 0U);
  EXPECT_EQ(tasks_until(0.01, 100, 0.05), 0U);
}

TEST(Judges, AlphaIsThatOfTheAnswers) {
  const auto crowd = mixed_crowd({.tasks = 200});
  const AgreementSummary found = agreement_of(crowd.data);
  const auto people = testing::plain_answers(crowd.data, [&](WorkerId w) { return !crowd.data.is_machine(w); });
  const auto all = testing::plain_answers(crowd.data, [](WorkerId) { return true; });
  EXPECT_NEAR(found.people, describe(people.answers).krippendorff_alpha, 1e-12);
  EXPECT_NEAR(found.everybody, describe(all.answers).krippendorff_alpha, 1e-12);
  EXPECT_NEAR(found.people_agree, describe(people.answers).pairwise_agreement, 1e-12);
}

/// Two people and a machine; classes 0 and 1.
JudgeData by_hand(const std::vector<std::vector<int>>& rows) {
  JudgeData data;
  std::vector<std::string> tasks;
  for (std::size_t t = 0; t < rows.size(); ++t) tasks.push_back("t" + std::to_string(100 + t));
  data.tasks = NameTable(tasks);
  data.workers = NameTable(std::vector<std::string>{"a", "b", "m"});
  data.classes = NameTable(std::vector<std::string>{"0", "1"});
  data.judges = {{}, {}, {WorkerKind::machine}};
  for (std::size_t t = 0; t < rows.size(); ++t) {
    for (std::size_t w = 0; w < 3; ++w) {
      if (rows[t][w] >= 0) data.answers.push_back({TaskId(t), WorkerId(w), ClassId(rows[t][w])});
    }
  }
  return data;
}

TEST(Judges, KappaAndAgreementByHand) {
  // Against the first person: agree 3 of 4; the machine says 1 in 2 of 4, people in 3 of 4.
  const JudgeData data = by_hand({{1, -1, 1}, {1, -1, 1}, {0, -1, 0}, {1, -1, 0}, {-1, -1, 1}});
  const JudgeStudy study = study_judges(data, {}, RunContext());
  const JudgeReliability& judge = study.reliability[2];
  EXPECT_DOUBLE_EQ(judge.agreement.value, 0.75);
  EXPECT_DOUBLE_EQ(judge.base_rate, 0.75);
  const double by_chance = 0.5 * 0.75 + 0.5 * 0.25;
  EXPECT_NEAR(judge.kappa.value, (0.75 - by_chance) / (1 - by_chance), 1e-12);
  EXPECT_LE(judge.kappa.low, judge.kappa.value);
  EXPECT_EQ(judge.people_tasks, 4U);
  EXPECT_EQ(judge.tasks, 5U);
  EXPECT_FALSE(judge.needs_known);
}

TEST(Judges, RepeatsAreCountedAndCompared) {
  JudgeData data = by_hand({{1, 1, 1}, {0, 0, 0}});
  data.answers.push_back(data.answers.back());
  data.answers.back().said = ClassId{1};
  const JudgeStudy study = study_judges(data, {}, RunContext());
  EXPECT_EQ(study.reliability[2].answers, 3U);
  EXPECT_EQ(study.reliability[2].tasks, 2U);
  EXPECT_EQ(study.reliability[2].repeated_tasks, 1U);
  EXPECT_EQ(study.reliability[2].consistency.value, 0);
}

TEST(Judges, MachinesAreNeeded) {
  JudgeData data = by_hand({{1, 1, 1}, {0, 0, 0}});
  data.judges[2].kind = WorkerKind::human;
  EXPECT_THROW((void)study_judges(data, {}, RunContext()), Error);
  data.judges[2].kind = WorkerKind::machine;
  JudgeStudyOptions options;
  options.target_width = 0.7;
  EXPECT_THROW((void)study_judges(data, options, RunContext()), Error);
}

TEST(Judges, WithoutPeopleTheStudySaysSo) {
  MixedCrowdPlan plan;
  plan.tasks = 100;
  plan.people = 0;
  const auto crowd = mixed_crowd(plan);
  const JudgeStudy study = study_judges(crowd.data, {}, RunContext());
  ASSERT_FALSE(study.warnings.empty());
  EXPECT_EQ(study.warnings.front().code, "no_people");
  EXPECT_TRUE(std::isnan(study.reliability[0].against_people.value));
}

TEST(Judges, FamiliesThatErrTogetherAreSeen) {
  MixedCrowdPlan plan;
  plan.tasks = 1500;
  auto crowd = mixed_crowd(plan);
  const MixedCrowdFit fit = fit_mixed_crowd(crowd.data, {}, RunContext());
  const auto families = judge_families(crowd.data, fit);
  ASSERT_EQ(families.size(), 2U);
  for (const FamilySummary& family : families) {
    EXPECT_NEAR(family.error_correlation.value, 0.6, 0.12) << family.name;
    EXPECT_LT(family.effective_voices, 1.8);
  }
  for (JudgeInfo& info : crowd.data.judges) info.family.clear();
  EXPECT_EQ(find_judge_families(crowd.data, RunContext()), 2U);
  EXPECT_EQ(crowd.data.judges[3].family, crowd.data.judges[5].family);
  EXPECT_NE(crowd.data.judges[3].family, crowd.data.judges[6].family);
  EXPECT_EQ(crowd.data.judges[0].family, "");
}

TEST(Judges, AVersionThatGotWorseIsSeen) {
  MixedCrowdPlan plan;
  plan.tasks = 1000;
  plan.families = 1;
  plan.members = 2;
  plan.people_share = 0.5;
  auto crowd = mixed_crowd(plan);
  crowd.data.judges[3].version = "2024-01";
  crowd.data.judges[4].version = "2024-06";
  std::size_t i = 0;
  for (JudgeAnswer& answer : crowd.data.answers) {  // the later one guesses in every third task
    if (index(answer.worker) == 4 && i++ % 3 == 0) answer.said = ClassId(i % plan.classes);
  }
  const auto changes = version_changes(crowd.data);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].earlier, WorkerId{3});
  EXPECT_LT(changes[0].difference.high, 0);
}

TEST(Judges, ALeaningNeedsSides) {
  JudgeData data = testing::leaning_judge({.questions = 200});
  const auto has_position = [&] {
    const MixedCrowdFit fit = fit_mixed_crowd(data, {}, RunContext());
    const auto biases = judge_biases(data, fit, WorkerId{3}, kNoClass);
    return std::any_of(biases.begin(), biases.end(), [](const auto& b) { return b.bias == JudgeBias::position; });
  };
  EXPECT_TRUE(has_position());
  data.sides_known = false;
  EXPECT_FALSE(has_position());
}

TEST(Judges, ScoresOfOrderedClassesShiftByPoints) {
  JudgeData data;
  std::vector<std::string> tasks;
  for (std::size_t t = 0; t < 60; ++t) tasks.push_back("t" + std::to_string(100 + t));
  data.kind = JudgedKind::ordered;
  data.tasks = NameTable(tasks);
  data.workers = NameTable(std::vector<std::string>{"a", "m"});
  data.classes = NameTable(std::vector<std::string>{"1", "2", "3", "4", "5"});
  data.judges = {{}, {WorkerKind::machine, "x"}};
  for (std::size_t t = 0; t < 60; ++t) {
    const bool own = t % 3 == 0;
    data.item_family.emplace_back(own ? "x" : "y");
    data.answers.push_back({TaskId(t), WorkerId{0}, ClassId(t % 3)});
    data.answers.push_back({TaskId(t), WorkerId{1}, ClassId(t % 3 + (own ? 2 : t % 2))});
  }
  const MixedCrowdFit fit = fit_mixed_crowd(data, {}, RunContext());
  const auto biases = judge_biases(data, fit, WorkerId{1}, kNoClass);
  ASSERT_EQ(biases.size(), 2U);
  EXPECT_NEAR(biases[0].effect.value, 0.5, 1e-9);  // half a point above, and two where it is its own family's
  EXPECT_EQ(biases[1].bias, JudgeBias::self_preference);
  EXPECT_NEAR(biases[1].effect.value, 1.5, 1e-9);
  EXPECT_TRUE(biases[1].clear);
}

TEST(Judges, TwoItemsHaveTheLogOddsOfTheirWins) {
  JudgeData data = testing::leaning_judge({.questions = 400});
  data.answers.clear();
  data.items = NameTable(std::vector<std::string>{"a", "b"});
  data.item_family.clear();
  data.classes = NameTable(std::vector<std::string>{"left", "right"});
  data.pairs.assign(400, {ItemId{0}, ItemId{1}});
  data.asked.assign(400, "");
  for (std::size_t t = 0; t < 400; ++t) {
    data.answers.push_back({TaskId(t), WorkerId{3}, ClassId{0}});
    data.gold.push_back(ClassId(t < 300 ? 0 : 1));
  }
  const MixedCrowdFit fit = fit_mixed_crowd(data, {}, RunContext());
  const Leaderboard board = rank_items(data, fit, true);
  EXPECT_EQ(board.rows[0].item, ItemId{0});
  EXPECT_NEAR(board.rows[0].score.value - board.rows[1].score.value, std::log(3.0), 0.02);
  EXPECT_EQ(board.rows[1].rank_low, 2);
  EXPECT_EQ(board.rows[0].tasks, 400U);
}

TEST(Judges, NextTasksAreThoseThatPeopleDidNotSee) {
  const auto crowd = mixed_crowd({.tasks = 300});
  JudgeStudyOptions options;
  options.next = 40;
  const JudgeStudy study = study_judges(crowd.data, options, RunContext({.seed = 3}));
  ASSERT_EQ(study.next.size(), 40U);
  for (const NextTask& next : study.next) EXPECT_EQ(next.people, 0U);
  EXPECT_EQ(study_judges(crowd.data, options, RunContext({.seed = 3})).next[5].task, study.next[5].task);
}

TEST(Judges, TablesHaveOneColumnPerCell) {
  const JudgeData data = testing::leaning_judge({.questions = 60, .both_orders = true});
  const JudgeStudy study = study_judges(data, {}, RunContext());
  for (const ValueTable& table : judge_tables(data, study)) {
    for (const TableColumn& column : table.columns) EXPECT_EQ(column.size(), table.rows()) << table.name;
  }
  const std::string lines = judged_preferences(data, study.fit);
  EXPECT_NE(lines.find("\"margin\""), std::string::npos);
  EXPECT_GT(study.reliability[3].swapped_tasks, 50U);
}

}  // namespace
}  // namespace wisecrowd
