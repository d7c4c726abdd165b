#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/crowds.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd {
namespace {

TaskGroups alternating(std::size_t tasks, std::size_t groups) {
  TaskGroups made;
  std::vector<std::string> names;
  for (std::size_t g = 0; g < groups; ++g) names.push_back("g" + std::to_string(g));
  made.names = NameTable(names);
  for (std::size_t t = 0; t < tasks; ++t) made.of_task.push_back(GroupId(t % groups));
  return made;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

CategoryFit dawid_skene(const CategoryData& data, double pseudo_count, const RunContext& context) {
  Parameters parameters(aggregation_method("dawid_skene").parameters);
  parameters.set("pseudo_count", std::to_string(pseudo_count));
  parameters.set("max_iterations", "5000");
  parameters.set("tolerance", "0");
  return aggregate(data, "dawid_skene", parameters, context);
}

GroupTableOptions exact() {
  GroupTableOptions options;
  options.tolerance = 1e-11;
  options.max_iterations = 5000;
  return options;
}

TEST(GroupTables, OneGroupWithoutPseudoCountsIsDawidSkene) {
  const RunContext context;
  for (const std::size_t classes : {2, 3}) {
    const auto crowd = testing::small_crowd(classes, 200, 12, classes, 5);
    CategoryData data = crowd.data;
    data.gold.clear();
    const CategoryFit pooled = dawid_skene(data, 0, context);
    GroupTableOptions options = exact();
    options.pseudo_count = 0;
    options.prior_count = 0;
    const GroupFit fit =
        fit_group_tables(data, alternating(data.answers.task_count(), 1), options, context, {pooled.posterior});
    EXPECT_LT(largest_difference(fit.posterior, pooled.posterior), 1e-6);
    const GroupFit from_votes = fit_group_tables(data, alternating(data.answers.task_count(), 1), options, context);
    EXPECT_EQ(from_votes.labels, pooled.labels);
  }
}

TEST(GroupTables, InfiniteKappaIsPooledTablesWithGroupPriors) {
  const RunContext context;
  const auto crowd = testing::small_crowd(5, 240, 12, 3, 5);
  CategoryData data = crowd.data;
  data.gold.clear();
  const TaskGroups groups = alternating(data.answers.task_count(), 2);
  GroupTableOptions options = exact();
  options.kappa = std::numeric_limits<double>::infinity();
  const GroupFit fit = fit_group_tables(data, groups, options, context);
  // Dawid–Skene with the same priors of tasks has the same fixed point.
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) data.task_priors.push_back(fit.group_prior[index(groups.of_task[t]) * 3 + k]);
  }
  Parameters parameters(aggregation_method("dawid_skene").parameters);
  const CategoryFit pooled = aggregate(data, "dawid_skene", parameters, context, {fit.posterior});
  EXPECT_LT(largest_difference(fit.posterior, pooled.posterior), 1e-4);
  options.kappa = 1e9;
  const GroupFit nearly = fit_group_tables(data, groups, options, context);
  EXPECT_LT(largest_difference(fit.posterior, nearly.posterior), 1e-5);
}

TEST(GroupTables, GoldOfAllTasksGivesShrunkenCounts) {
  CategoryAnswersBuilder builder({"no", "yes"});
  builder.add("t1", "w", "yes").add("t2", "w", "yes").add("t3", "w", "no").add("t4", "w", "yes");
  CategoryData data{.answers = builder.build()};
  data.gold = {ClassId{1}, ClassId{0}, ClassId{0}, ClassId{0}};
  TaskGroups groups = alternating(4, 2);  // t1 and t3, t2 and t4
  GroupTableOptions options;
  options.pseudo_count = 0;
  options.kappa = 3;
  const GroupFit fit = fit_group_tables(data, groups, options, RunContext());
  // Of three negatives the worker calls two positive; in the second group two of two.
  const auto second = fit.by_group.table(fit.by_group.find(WorkerId{0}, GroupId{1}));
  EXPECT_NEAR(fit.confusion[1], 2.0 / 3, 1e-12);
  EXPECT_NEAR(second[1], (3 * 2.0 / 3 + 2) / (3 + 2), 1e-12);
  const auto first = fit.by_group.table(fit.by_group.find(WorkerId{0}, GroupId{0}));
  EXPECT_NEAR(first[1], (3 * 2.0 / 3 + 0) / (3 + 1), 1e-12);
  EXPECT_EQ(fit.posterior, (std::vector<double>{0, 1, 1, 0, 1, 0, 1, 0}));
}

TEST(GroupTables, RowsSumToOneAndTasksWithoutGroupUseTheWorkersOwnTable) {
  const RunContext context;
  const auto crowd = testing::small_crowd(7, 150, 10, 3, 4);
  CategoryData data = crowd.data;
  data.gold.clear();
  TaskGroups groups = alternating(150, 3);
  for (std::size_t t = 0; t < 150; t += 7) groups.of_task[t] = kNoGroup;
  const GroupFit fit = fit_group_tables(data, groups, {}, context);
  for (std::size_t row = 0; row * 3 < fit.by_group.tables.size(); ++row) {
    const auto* cell = fit.by_group.tables.data() + row * 3;
    EXPECT_NEAR(cell[0] + cell[1] + cell[2], 1, 1e-9);
  }
  for (std::size_t w = 0; w < 10; ++w) {
    const std::size_t block = fit.by_group.find(WorkerId(w), kNoGroup);
    if (block == fit.by_group.blocks.size()) continue;
    EXPECT_LT(largest_difference(fit.by_group.table(block), fit.confusion_of(WorkerId(w))), 1e-12);
  }
  const GroupFit again = fit_group_tables(data, groups, {}, RunContext({.threads = 3}));
  EXPECT_EQ(fit.posterior, again.posterior);
}

TEST(GroupTables, SwappingGroupNamesSwapsTables) {
  const RunContext context;
  const auto crowd = testing::small_crowd(9, 200, 10, 2, 5);
  CategoryData data = crowd.data;
  data.gold.clear();
  const TaskGroups groups = alternating(200, 2);
  TaskGroups swapped = groups;
  for (GroupId& group : swapped.of_task) group = GroupId(1 - index(group));
  const GroupFit a = fit_group_tables(data, groups, {}, context);
  const GroupFit b = fit_group_tables(data, swapped, {}, context);
  for (std::size_t w = 0; w < 10; ++w) {
    for (std::size_t g = 0; g < 2; ++g) {
      EXPECT_LT(largest_difference(a.by_group.table(a.by_group.find(WorkerId(w), GroupId(g))),
                                   b.by_group.table(b.by_group.find(WorkerId(w), GroupId(1 - g)))),
                1e-9);
    }
  }
  EXPECT_NEAR(a.group_prior[1], b.group_prior[3], 1e-9);
}

TEST(GroupTables, SharedPriorIsOneForAllGroups) {
  const RunContext context;
  const auto crowd = testing::small_crowd(3, 200, 10, 2, 5);
  CategoryData data = crowd.data;
  data.gold.clear();
  GroupTableOptions options;
  options.shared_prior = true;
  const GroupFit fit = fit_group_tables(data, alternating(200, 2), options, context);
  EXPECT_EQ(fit.group_prior[0], fit.group_prior[2]);
  options.shared_prior = false;
  EXPECT_NE(fit_group_tables(data, alternating(200, 2), options, context).group_prior[0], fit.group_prior[0]);
}

TEST(GroupTables, KappaIsChosenByHiddenAnswers) {
  const RunContext context;
  GroupTableOptions options;
  options.choose_kappa = true;
  const auto kappa_at = [&](const char* bias) {
    Parameters parameters(simulation_kind("group_bias").parameters);
    parameters.set("bias", bias);
    parameters.set("biased", "0.5");
    Simulation made = simulate("group_bias", {1500, 20, 2, 5}, parameters, context);
    made.data.gold.clear();
    const GroupFit fit = fit_group_tables(made.data, made.groups, options, context);
    EXPECT_EQ(fit.kappa_scores.size(), 4U);
    return fit.kappa;
  };
  EXPECT_EQ(kappa_at("0"), 50);    // groups are alike: hold the tables together
  EXPECT_LE(kappa_at("0.9"), 10);  // they are not
}

TEST(GroupTables, RefusesWhatDoesNotFit) {
  const RunContext context;
  const CategoryData data = testing::golden_tiny();
  EXPECT_THROW((void)fit_group_tables(data, alternating(3, 2), {}, context), Error);
  TaskGroups outside = alternating(data.answers.task_count(), 2);
  outside.of_task[0] = GroupId{9};
  EXPECT_THROW((void)fit_group_tables(data, outside, {}, context), Error);
  GroupTableOptions negative;
  negative.kappa = -1;
  EXPECT_THROW((void)fit_group_tables(data, alternating(data.answers.task_count(), 2), negative, context), Error);
}

}  // namespace
}  // namespace wisecrowd
