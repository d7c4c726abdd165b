#include <gtest/gtest.h>

#include <cmath>

#include "support/crowds.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd {
namespace {

Simulation biased_crowd(std::uint64_t seed, std::size_t classes, const char* bias, std::size_t groups = 2) {
  Parameters parameters(simulation_kind("group_bias").parameters);
  parameters.set("bias", bias);
  parameters.set("groups", std::to_string(groups));
  return simulate("group_bias", {2000, 20, classes, 6}, parameters, RunContext({.seed = seed}));
}

struct Found {
  std::size_t hits = 0, planted = 0, false_alarms = 0, honest = 0;
};

Found look_for_biased(const Simulation& made, const CategoryData& data) {
  const RunContext context;
  const GroupFit fit = fit_group_tables(data, made.groups, {}, context);
  WorkerBiasOptions options;
  options.positive = {ClassId(data.answers.class_count() - 1)};
  options.reference = GroupId{0};
  Found found;
  for (const WorkerBias& bias : worker_biases(fit, data.answers, made.groups, options, context)) {
    if (index(bias.group) + 1 != made.groups.count()) continue;
    const bool planted = made.worker_kind[index(bias.worker)] == "biased";
    (planted ? found.planted : found.honest) += 1;
    if (bias.biased) (planted ? found.hits : found.false_alarms) += 1;
    EXPECT_LE(bias.false_positive_rate.low, bias.false_positive_rate.value);
    EXPECT_GE(bias.false_positive_rate.high, bias.false_positive_rate.value);
  }
  return found;
}

TEST(WorkerBias, PlantedWorkersAreFoundWithAndWithoutGold) {
  for (const std::size_t classes : {2, 4}) {
    Found with_gold, without;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Simulation made = biased_crowd(seed, classes, "0.5");
      CategoryData blind = made.data;
      blind.gold.clear();
      for (const auto& [data, sum] : {std::pair(&made.data, &with_gold), {&blind, &without}}) {
        const Found found = look_for_biased(made, *data);
        sum->hits += found.hits;
        sum->planted += found.planted;
        sum->false_alarms += found.false_alarms;
        sum->honest += found.honest;
      }
    }
    EXPECT_EQ(with_gold.planted, 18U);
    EXPECT_EQ(with_gold.hits, with_gold.planted) << classes;
    EXPECT_LE(with_gold.false_alarms, 4U) << classes;  // one in twenty of those who are named
    EXPECT_GE(without.hits, without.planted - 2) << classes;
    EXPECT_LE(without.false_alarms, without.honest / 4) << classes;
  }
}

TEST(WorkerBias, NobodyIsBiasedWhereNothingIsPlanted) {
  const Found found = look_for_biased(biased_crowd(5, 2, "0"), [] { return biased_crowd(5, 2, "0").data; }());
  EXPECT_EQ(found.hits + found.false_alarms, 0U);
}

TEST(WorkerBias, IntervalsCoverTheTrueGap) {
  // With gold and kappa 0 the rates are those of the counts, so that intervals have no pull.
  const RunContext context;
  Parameters parameters(simulation_kind("group_bias").parameters);
  parameters.set("biased", "1");
  parameters.set("bias", "0.4");
  const Simulation made = simulate("group_bias", {3000, 60, 2, 6}, parameters, context);
  GroupTableOptions tables;
  tables.kappa = 0;
  const GroupFit fit = fit_group_tables(made.data, made.groups, tables, context);
  WorkerBiasOptions options;
  options.reference = GroupId{0};
  // The mean table mixes both groups: th = fair + 0.4 · share · (1 − fair), so fair can be had back from it.
  std::size_t covered = 0;
  const auto biases = worker_biases(fit, made.data.answers, made.groups, options, context);
  ASSERT_EQ(biases.size(), 60U);
  for (const WorkerBias& bias : biases) {
    const double mixed = made.confusion[index(bias.worker) * 4 + 1];
    const double fair = (mixed - 0.4 * 0.4) / (1 - 0.4 * 0.4);
    const double gap = 0.4 * (1 - fair);
    covered += bias.false_positive_rate.low <= gap && gap <= bias.false_positive_rate.high ? 1 : 0;
  }
  EXPECT_GE(covered, 52U);  // 57 expected of 60
}

TEST(WorkerBias, TheReferenceIsTheLargestGroupAndSwappingItTurnsTheSign) {
  const RunContext context;
  const Simulation made = biased_crowd(1, 2, "0.5");
  EXPECT_EQ(largest_group(made.groups), GroupId{0});
  const GroupFit fit = fit_group_tables(made.data, made.groups, {}, context);
  WorkerBiasOptions options;
  const auto one = worker_biases(fit, made.data.answers, made.groups, options, context);
  options.reference = GroupId{1};
  const auto other = worker_biases(fit, made.data.answers, made.groups, options, context);
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_DOUBLE_EQ(one[i].false_positive_rate.value, -other[i].false_positive_rate.value);
    EXPECT_DOUBLE_EQ(one[i].true_positive_rate.low, -other[i].true_positive_rate.high);
    EXPECT_EQ(one[i].biased, other[i].biased);
  }
}

TEST(WorkerBias, SaysNothingWhereAGroupWasNotAnswered) {
  CategoryAnswersBuilder builder({"no", "yes"});
  builder.add("t1", "both", "yes").add("t2", "both", "no").add("t1", "one", "yes");
  const CategoryData data{.answers = builder.build()};
  const TaskGroups groups{NameTable(std::vector<std::string>{"a", "b"}), {GroupId{0}, GroupId{1}}};
  const RunContext context;
  const GroupFit fit = fit_group_tables(data, groups, {}, context);
  const auto biases = worker_biases(fit, data.answers, groups, {}, context);
  ASSERT_EQ(biases.size(), 2U);
  EXPECT_FALSE(std::isnan(biases[0].false_positive_rate.value));
  EXPECT_LT(biases[0].false_positive_rate.low, 0);
  EXPECT_GT(biases[0].false_positive_rate.high, 0);
  EXPECT_TRUE(std::isnan(biases[1].false_positive_rate.value));
  EXPECT_FALSE(biases[1].biased);
  EXPECT_EQ(biases[1].answers, 0U);
}

}  // namespace
}  // namespace wisecrowd
