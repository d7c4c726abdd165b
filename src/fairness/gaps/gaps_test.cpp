#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "fairness/shared/draws.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd {
namespace {

const std::vector<std::string> kTwo = {"a", "b"};

/// Labels by group: `yes` of `all` positive.
struct Made {
  std::vector<ClassId> labels, gold;
  TaskGroups groups;
  void add(std::size_t group, int truth, int label, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      labels.push_back(ClassId(label));
      gold.push_back(truth < 0 ? kNoClass : ClassId(truth));
      groups.of_task.push_back(GroupId(group));
    }
  }
};

Made example() {
  Made made;
  made.groups.names = NameTable(kTwo);
  made.add(0, 1, 1, 30);  // a: TPR 3/4, FPR 1/6, 35 of 100 positive … by hand
  made.add(0, 1, 0, 10);
  made.add(0, 0, 1, 10);
  made.add(0, 0, 0, 50);
  made.add(1, 1, 1, 40);  // b: TPR 4/5, FPR 1/2
  made.add(1, 1, 0, 10);
  made.add(1, 0, 1, 25);
  made.add(1, 0, 0, 25);
  return made;
}

TEST(Gaps, ByHand) {
  const Made made = example();
  const auto gaps = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, RunContext());
  ASSERT_EQ(gaps.size(), 5U);
  EXPECT_NEAR(gaps[0].gap.value, .65 - .40, 1e-12);
  EXPECT_NEAR(gaps[1].gap.value, .80 - .75, 1e-12);
  EXPECT_NEAR(gaps[2].gap.value, 1.0 / 2 - 1.0 / 6, 1e-12);
  EXPECT_NEAR(gaps[3].gap.value, 1.0 / 3, 1e-12);
  EXPECT_EQ(gaps[3].highest, GroupId{1});
  EXPECT_NEAR(gaps[4].gap.value, .80 - .65, 1e-12);
  EXPECT_EQ(gaps[4].highest, GroupId{0});
  EXPECT_FALSE(gaps[0].by_gold);
  EXPECT_TRUE(gaps[1].by_gold);
  EXPECT_EQ(gaps[1].tasks, (std::vector<std::uint64_t>{40, 50}));
  for (const Gap& gap : gaps) {
    EXPECT_LE(gap.gap.low, gap.gap.value);
    EXPECT_GE(gap.gap.high, gap.gap.value);
  }
  EXPECT_GT(gaps[2].gap.low, .1);   // 60 and 50 tasks tell
  EXPECT_EQ(gaps[1].gap.low, 0.0);  // five points do not
}

TEST(Gaps, IntervalIsThatOfJeffreysPosterior) {
  // 40 of 100 against 65 of 100: the normal approximation of the difference of two Betas.
  const Made made = example();
  const auto gap = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, RunContext(), 20000)[0].gap;
  const double deviation = std::sqrt(.4 * .6 / 101 + .65 * .35 / 101);
  EXPECT_NEAR(gap.low, .25 - 1.96 * deviation, .012);
  EXPECT_NEAR(gap.high, .25 + 1.96 * deviation, .012);
}

TEST(Gaps, WithoutGoldThePosteriorIsTheTruth) {
  Made made = example();
  std::vector<double> posterior;
  for (const ClassId truth : made.gold) {
    posterior.push_back(truth == ClassId{1} ? 0 : 1);
    posterior.push_back(truth == ClassId{1} ? 1 : 0);
  }
  const RunContext context;
  const auto by_gold = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, context);
  const auto by_posterior = measure_gaps({made.labels, posterior, {}, 2}, made.groups, ClassId{1}, context);
  for (std::size_t m = 0; m < by_gold.size(); ++m) {
    EXPECT_NEAR(by_gold[m].gap.value, by_posterior[m].gap.value, 1e-12);
    EXPECT_NEAR(by_gold[m].gap.high, by_posterior[m].gap.high, .03);
    EXPECT_FALSE(by_posterior[m].by_gold);
  }
  // A truth that is not sure makes wider intervals.
  for (double& q : posterior) q = .15 + .7 * q;
  const auto unsure = measure_gaps({made.labels, posterior, {}, 2}, made.groups, ClassId{1}, context);
  EXPECT_GT(unsure[2].rates[0].high - unsure[2].rates[0].low, by_gold[2].rates[0].high - by_gold[2].rates[0].low);
  // Gold in one group alone compares nothing: the posterior is taken for both.
  for (std::size_t t = 0; t < made.gold.size(); ++t) {
    if (made.groups.of_task[t] == GroupId{1}) made.gold[t] = kNoClass;
  }
  EXPECT_FALSE(measure_gaps({made.labels, posterior, made.gold, 2}, made.groups, ClassId{1}, context)[1].by_gold);
}

TEST(Gaps, SwappingGroupsSwapsThem) {
  const Made made = example();
  TaskGroups swapped = made.groups;
  for (GroupId& group : swapped.of_task) group = GroupId(1 - index(group));
  const RunContext context;
  const auto a = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, context);
  const auto b = measure_gaps({made.labels, {}, made.gold, 2}, swapped, ClassId{1}, context);
  for (std::size_t m = 0; m < a.size(); ++m) {
    EXPECT_DOUBLE_EQ(a[m].gap.value, b[m].gap.value);
    EXPECT_EQ(index(a[m].highest), 1 - index(b[m].highest));
  }
}

TEST(Gaps, TinyGroupsKnowThatTheyKnowLittle) {
  Made made;
  made.groups.names = NameTable(std::vector<std::string>{"a", "b", "empty"});
  made.add(0, 0, 0, 200);
  made.add(1, 1, 1, 1);
  const auto gaps = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, RunContext());
  EXPECT_DOUBLE_EQ(gaps[0].gap.value, 1);
  EXPECT_LT(gaps[0].gap.low, .5);  // one task proves little
  EXPECT_TRUE(std::isnan(gaps[0].rates[2].value));
  EXPECT_TRUE(std::isnan(gaps[1].gap.value));  // no positive task in the first group
  EXPECT_EQ(gaps[1].highest, kNoGroup);
  // One group, or none.
  made.groups.of_task.assign(made.groups.of_task.size(), GroupId{0});
  EXPECT_TRUE(
      std::isnan(measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, RunContext())[0].gap.value));
  made.groups.of_task.assign(made.groups.of_task.size(), kNoGroup);
  EXPECT_TRUE(
      std::isnan(measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, RunContext())[0].gap.value));
}

TEST(Gaps, AGapOfOneTaskMayBeWideOnEitherSide) {
  Made made;
  made.groups.names = NameTable(kTwo);
  made.add(0, 0, 1, 2);
  made.add(0, 0, 0, 98);
  made.add(1, 0, 0, 1);  // a rate of 0, but of one task: it may be far above that of the other group
  const auto gap = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, RunContext())[0];
  EXPECT_EQ(gap.highest, GroupId{0});
  EXPECT_EQ(gap.gap.low, 0);
  EXPECT_GT(gap.gap.high, .5);
}

TEST(Gaps, IntervalsCoverTheTruth) {
  const RunContext context({.threads = 1});
  Rng rng(1);
  for (const auto& [first, second] : {std::pair(.3, .3), {.3, .5}}) {
    int covered = 0;
    constexpr int kSets = 200;
    for (int set = 0; set < kSets; ++set) {
      Made made;
      made.groups.names = NameTable(kTwo);
      for (int i = 0; i < 160; ++i) made.add(i < 100 ? 0 : 1, 0, rng.bernoulli(i < 100 ? first : second) ? 1 : 0, 1);
      const auto gap = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, context, 400)[0].gap;
      covered += gap.low <= second - first && second - first <= gap.high ? 1 : 0;
    }
    EXPECT_GE(covered, kSets * .9) << second;
  }
}

TEST(Gaps, ManyGroupsTakeTheWidestPairWithAWiderInterval) {
  Made made;
  made.groups.names = NameTable(std::vector<std::string>{"a", "b", "c"});
  made.add(0, 0, 0, 50);
  made.add(0, 0, 1, 50);
  made.add(1, 0, 0, 60);
  made.add(1, 0, 1, 40);
  made.add(2, 0, 0, 45);
  made.add(2, 0, 1, 55);
  const auto three = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, RunContext())[0];
  EXPECT_NEAR(three.gap.value, .15, 1e-12);
  EXPECT_EQ(three.highest, GroupId{2});
  EXPECT_EQ(three.lowest, GroupId{1});
  for (GroupId& group : made.groups.of_task) {
    if (group == GroupId{0}) group = kNoGroup;
  }
  const auto two = measure_gaps({made.labels, {}, made.gold, 2}, made.groups, ClassId{1}, RunContext())[0];
  EXPECT_GT(three.gap.high, two.gap.high + .01);
}

TEST(Gaps, CountsOfUnsureTasksHaveTheRightMeanAndVariance) {
  for (const auto& [tasks, p] : {std::pair(40, .3), {4000, .004}, {3000, .996}, {5000, .5}}) {
    fairness::CountOfUnsure count;
    for (int i = 0; i < tasks; ++i) count.add(p);
    Rng rng(7);
    double sum = 0, squares = 0;
    constexpr int kDraws = 4000;
    for (int d = 0; d < kDraws; ++d) {
      const double drawn = count.draw(rng);
      sum += drawn;
      squares += drawn * drawn;
    }
    const double mean = sum / kDraws;
    const double variance = squares / kDraws - mean * mean;
    const double exact = tasks * p * (1 - p);
    EXPECT_NEAR(mean, tasks * p, 4 * std::sqrt(exact / kDraws) + 1e-9) << tasks;
    EXPECT_NEAR(variance, exact, .15 * exact) << tasks;
  }
}

TEST(Gaps, OfAnswersByHand) {
  CategoryAnswersBuilder builder({"0", "1"});
  builder.add("t1", "u", "1").add("t1", "v", "0").add("t2", "u", "1").add("t2", "v", "1");
  builder.add("t3", "u", "0").add("t3", "v", "0").add("t4", "u", "1").add("t4", "v", "0");
  const CategoryAnswers answers = builder.build();
  const TaskGroups groups{NameTable(kTwo), {GroupId{0}, GroupId{0}, GroupId{1}, GroupId{1}}};
  const std::vector<ClassId> gold = {ClassId{1}, ClassId{1}, ClassId{0}, ClassId{1}};
  const auto gaps = measure_answer_gaps(answers, {{}, {}, gold, 2}, groups, ClassId{1});
  EXPECT_NEAR(gaps[0].gap.value, .75 - .25, 1e-12);
  EXPECT_NEAR(gaps[1].gap.value, .75 - .5, 1e-12);
  EXPECT_TRUE(std::isnan(gaps[2].gap.value));  // no negative task in the first group
  EXPECT_NEAR(gaps[4].gap.value, 0, 1e-12);
}

}  // namespace
}  // namespace wisecrowd
