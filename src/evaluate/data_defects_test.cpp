#include "wisecrowd/data_defects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

std::vector<std::string> class_list(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back("c" + std::to_string(k));
  return names;
}

/// Workers of different skill on tasks of different difficulty: right with logistic(skill − difficulty), wrong answers
/// on any other class.
struct HardCrowd {
  CategoryData data;
  std::vector<ClassId> truth;
};

HardCrowd hard_crowd(std::uint64_t seed, std::size_t tasks, std::size_t classes, std::size_t answers,
                     double mean_skill = 1.5) {
  constexpr std::size_t kWorkers = 40;
  Rng rng(seed);
  std::vector<double> skill(kWorkers);
  for (double& x : skill) x = mean_skill + rng.normal();
  CategoryAnswersBuilder builder(class_list(classes));
  HardCrowd crowd;
  for (std::size_t t = 0; t < tasks; ++t) {
    const double difficulty = rng.normal();
    const std::size_t truth = rng.below(classes);
    crowd.truth.push_back(ClassId{static_cast<std::uint16_t>(truth)});
    std::set<std::size_t> who;
    while (who.size() < answers) who.insert(rng.below(kWorkers));
    for (const std::size_t worker : who) {
      std::size_t said = truth;
      if (rng.uniform() > 1 / (1 + std::exp(difficulty - skill[worker]))) {
        said = (truth + 1 + rng.below(classes - 1)) % classes;
      }
      builder.add("t" + std::to_string(t), "w" + std::to_string(worker), "c" + std::to_string(said));
    }
  }
  crowd.data.answers = builder.build();
  crowd.data.gold = crowd.truth;
  return crowd;
}

/// Makes a share of the gold wrong; says which.
std::vector<bool> plant(HardCrowd& crowd, double share, std::uint64_t seed) {
  Rng rng(seed);
  const std::size_t classes = crowd.data.answers.class_count();
  std::vector<bool> planted(crowd.truth.size(), false);
  for (std::size_t t = 0; t < planted.size(); ++t) {
    if (rng.uniform() >= share) continue;
    planted[t] = true;
    const std::size_t other = (index(crowd.truth[t]) + 1 + rng.below(classes - 1)) % classes;
    crowd.data.gold[t] = ClassId{static_cast<std::uint16_t>(other)};
  }
  return planted;
}

class GoldCheckOf : public ::testing::TestWithParam<std::size_t> {};  // classes

TEST_P(GoldCheckOf, PlantedWrongGoldIsFound) {
  double hits = 0, flagged = 0, planted_in_all = 0, expected = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    HardCrowd crowd = hard_crowd(seed, 400, GetParam(), 10, 2.5);
    const std::vector<bool> planted = plant(crowd, 0.05, 100 + seed);
    const GoldCheck found = check_gold(crowd.data, RunContext());
    EXPECT_EQ(found.tasks, 400U);
    expected += found.expected_wrong;
    planted_in_all += static_cast<double>(std::count(planted.begin(), planted.end(), true));
    flagged += static_cast<double>(found.suspects.size());
    for (const SuspectGold& one : found.suspects) {
      hits += planted[index(one.task)] ? 1 : 0;
      EXPECT_NE(one.crowd, one.gold);
      EXPECT_EQ(one.gold, crowd.data.gold[index(one.task)]);
      EXPECT_GE(one.for_crowd, 3U);
    }
  }
  EXPECT_GE(hits / planted_in_all, 0.6);
  EXPECT_GE(hits / flagged, 0.85);
  EXPECT_GE(expected, 0.7 * planted_in_all);
  EXPECT_LE(expected, 1.4 * planted_in_all);
}

TEST_P(GoldCheckOf, RightGoldRaisesFewAlarms) {
  std::size_t alarms = 0;
  double expected = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const HardCrowd crowd = hard_crowd(50 + seed, 400, GetParam(), 8);
    const GoldCheck found = check_gold(crowd.data, RunContext());
    alarms += found.suspects.size();
    expected += found.expected_wrong;
  }
  EXPECT_LE(alarms, 10U);  // of 2,000
  EXPECT_LE(expected, 30);
}

INSTANTIATE_TEST_SUITE_P(Classes, GoldCheckOf, ::testing::Values(2, 4));

TEST(GoldCheck, NeedsGoldAndAnswers) {
  const HardCrowd crowd = hard_crowd(1, 30, 3, 4);
  CategoryData none = crowd.data;
  none.gold.clear();
  EXPECT_EQ(check_gold(none, RunContext()).tasks, 0U);
  none.gold.assign(30, kNoClass);
  const GoldCheck found = check_gold(none, RunContext());
  EXPECT_EQ(found.tasks, 0U);
  EXPECT_EQ(found.expected_wrong, 0);
}

TEST(GoldCheck, OneOrTwoVoicesAreNoEvidence) {
  HardCrowd crowd = hard_crowd(2, 300, 3, 2);
  (void)plant(crowd, 0.3, 5);
  EXPECT_TRUE(check_gold(crowd.data, RunContext()).suspects.empty());
}

TEST(GoldCheck, RealGoldWithPlantedMistakes) {
  const auto folder = testing::real_data_folder();
  if (!folder) GTEST_SKIP() << "real data are not at hand";
  CategoryData data =
      read_dataset(*folder + "/aggregate/rte/labels.csv", *folder + "/aggregate/rte/gold.csv", {}, RunContext());
  const std::size_t before = check_gold(data, RunContext()).suspects.size();
  EXPECT_LE(before, 25U);  // of 800
  Rng rng(7);
  std::set<std::size_t> planted;
  while (planted.size() < 40) planted.insert(rng.below(data.gold.size()));
  for (const std::size_t t : planted) data.gold[t] = ClassId{static_cast<std::uint16_t>(1 - index(data.gold[t]))};
  std::size_t hits = 0;
  for (const SuspectGold& one : check_gold(data, RunContext()).suspects) hits += planted.count(index(one.task));
  EXPECT_GE(hits, 24U);
}

TEST(Contradictions, NamesThoseWhoAnsweredTwiceAndNotTheSame) {
  const std::vector<CategoryAnswer> said = {{TaskId{0}, WorkerId{0}, ClassId{0}},
                                            {TaskId{0}, WorkerId{1}, ClassId{1}},
                                            {TaskId{0}, WorkerId{0}, ClassId{1}},
                                            {TaskId{1}, WorkerId{1}, ClassId{0}},
                                            {TaskId{1}, WorkerId{1}, ClassId{0}}};
  const auto names = [] {
    return CategoryAnswerNames{NameTable(std::vector<std::string>{"a", "b"}),
                               NameTable(std::vector<std::string>{"v", "w"}),
                               NameTable(std::vector<std::string>{"no", "yes"})};
  };
  const auto found = contradictions(make_category_answers(said, names(), DuplicatePolicy::repeat));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].task, TaskId{0});
  EXPECT_EQ(found[0].worker, WorkerId{0});
  EXPECT_EQ(found[0].labels, (std::vector<ClassId>{ClassId{0}, ClassId{1}}));
  EXPECT_TRUE(contradictions(make_category_answers(said, names())).empty()) << "only the last answer was kept";
}

TEST(TwinTasks, AreThoseWithEqualRows) {
  CategoryAnswersBuilder builder({"no", "yes"});
  for (const std::string task : {"a", "b", "c", "d", "e"}) builder.add(task, "w", task == "c" ? "yes" : "no");
  CategoryData data{.answers = builder.build()};
  Features features{.rows = 5, .shape = {2}, .dense = {1, 2, 3, 4, 1, 2, 0, 0, 0, 0}};
  const std::vector<std::uint32_t> rows = {0, 1, 2, 3, 4};
  auto found = twin_tasks(data, features, rows);
  ASSERT_EQ(found.size(), 1U);  // d and e have rows of zeros, which tell nothing
  EXPECT_EQ(found[0].tasks, (std::vector<TaskId>{TaskId{0}, TaskId{2}}));
  EXPECT_TRUE(found[0].contradict) << "most answers differ";
  data.gold = {ClassId{1}, kNoClass, ClassId{1}, kNoClass, kNoClass};
  EXPECT_FALSE(twin_tasks(data, features, rows)[0].contradict) << "gold decides";
  data.gold[2] = ClassId{0};
  EXPECT_TRUE(twin_tasks(data, features, rows)[0].contradict);
  EXPECT_TRUE(twin_tasks(data, features, std::vector<std::uint32_t>{0, 1, kNoRow, 3, 4}).empty());
}

TEST(TwinTasks, SparseRowsCompareColumnsToo) {
  CategoryAnswersBuilder builder({"no", "yes"});
  for (const std::string task : {"a", "b", "c"}) builder.add(task, "w", "no");
  const CategoryData data{.answers = builder.build()};
  Features features{
      .rows = 3, .shape = {9}, .dense = {}, .offsets = {0, 1, 2, 3}, .indices = {4, 5, 4}, .values = {1, 1, 1}};
  const auto found = twin_tasks(data, features, std::vector<std::uint32_t>{0, 1, 2});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tasks, (std::vector<TaskId>{TaskId{0}, TaskId{2}}));
  EXPECT_FALSE(found[0].contradict);
}

}  // namespace
}  // namespace wisecrowd
