#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/crowds.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd {
namespace {

bool warns(const FairnessStudy& study, std::string_view code) {
  return std::any_of(study.warnings.begin(), study.warnings.end(), [&](const Warning& w) { return w.code == code; });
}

const Gap& gap_of(const FairnessStudy& study, std::string_view labels, GapMeasure measure) {
  for (const auto& labelling : study.labellings) {
    if (labelling.name != labels) continue;
    for (const Gap& gap : labelling.gaps) {
      if (gap.measure == measure) return gap;
    }
  }
  throw std::out_of_range("no such gap");
}

FairnessStudy study_of(const CategoryData& data, const TaskGroups& groups, const FairnessOptions& options = {}) {
  const RunContext context;
  CategoryData unseen = data;
  unseen.gold.clear();
  return study_fairness(data, aggregate(unseen, "dawid_skene"), groups, options, context);
}

TEST(Fairness, BiasThatAllWorkersShareIsSeenWithGoldAlone) {
  const RunContext context;
  Parameters parameters(simulation_kind("group_bias").parameters);
  parameters.set("bias", "0");
  Simulation made = simulate("group_bias", {2000, 20, 2, 6}, parameters, context);
  // Everybody takes some negative tasks of the second group for positive ones: the same tasks, so nothing tells.
  for (std::size_t t = 0; t < 2000; t += 3) {
    if (made.groups.of_task[t] == GroupId{1}) made.data.gold[t] = ClassId{0};
  }
  const FairnessStudy with_gold = study_of(made.data, made.groups);
  CategoryData blind = made.data;
  blind.gold.clear();
  const FairnessStudy without = study_of(blind, made.groups);
  EXPECT_TRUE(warns(without, "common_bias_unknown"));
  EXPECT_FALSE(warns(with_gold, "common_bias_unknown"));
  const auto mean_gap = [](const FairnessStudy& study) {
    double sum = 0;
    for (const WorkerBias& bias : study.workers) sum += bias.false_positive_rate.value;
    return sum / static_cast<double>(study.workers.size());
  };
  EXPECT_GT(mean_gap(with_gold), .1);
  EXPECT_NEAR(mean_gap(without), 0, .03);
  EXPECT_TRUE(gap_of(with_gold, "answers", GapMeasure::false_positive_rate).by_gold);
  EXPECT_GT(gap_of(with_gold, "answers", GapMeasure::false_positive_rate).gap.low, .1);
  EXPECT_EQ(gap_of(with_gold, "answers", GapMeasure::false_positive_rate).highest, GroupId{1});
}

TEST(Fairness, LimitedLabelsKeepTheLimit) {
  const RunContext context;
  Parameters parameters(simulation_kind("group_bias").parameters);
  parameters.set("class_gap", "0.4");
  const Simulation made = simulate("group_bias", {1000, 20, 2, 5}, parameters, context);
  FairnessOptions options;
  options.limit = GapLimit{.measure = GapMeasure::demographic_parity, .limit = .1};
  const FairnessStudy study = study_of(made.data, made.groups, options);
  EXPECT_GT(gap_of(study, "labels", GapMeasure::demographic_parity).gap.value, .25);
  EXPECT_LE(gap_of(study, "limited", GapMeasure::demographic_parity).gap.value, .1 + 1e-9);
  EXPECT_GT(study.limited->expected_error, study.limited->expected_error_before);
}

TEST(Fairness, SmallAndOddCrowds) {
  const auto crowd = testing::small_crowd(3, 40, 6, 3, 3);
  TaskGroups groups{NameTable(std::vector<std::string>{"a", "b"}), std::vector<GroupId>(40, GroupId{0})};
  EXPECT_TRUE(warns(study_of(crowd.data, groups), "one_group"));
  groups.of_task[5] = GroupId{1};
  groups.of_task[6] = kNoGroup;
  const FairnessStudy one_task = study_of(crowd.data, groups);
  EXPECT_TRUE(warns(one_task, "small_groups"));  // there would be no gap without it
  TaskGroups three{NameTable(std::vector<std::string>{"a", "b", "c"}), groups.of_task};
  for (std::size_t t = 10; t < 25; ++t) three.of_task[t] = GroupId{2};
  const FairnessStudy without_small = study_of(crowd.data, three);
  EXPECT_TRUE(warns(without_small, "groups_left_out"));
  EXPECT_EQ(without_small.compared, (std::vector<char>{1, 0, 1}));
  EXPECT_NE(gap_of(without_small, "labels", GapMeasure::demographic_parity).highest, GroupId{1});
  FairnessOptions all;
  all.least_tasks = 1;
  EXPECT_FALSE(warns(study_of(crowd.data, three, all), "groups_left_out"));
  EXPECT_TRUE(warns(one_task, "tasks_without_group"));
  EXPECT_EQ(one_task.positive.size(), 3U);  // every class of three in turn
  EXPECT_EQ(one_task.group_tasks, (std::vector<std::uint64_t>{38, 1}));
  groups.of_task.assign(40, kNoGroup);
  EXPECT_NO_THROW((void)study_of(crowd.data, groups));

  CategoryAnswersBuilder one({"yes"});
  one.add("t", "w", "yes");
  const CategoryData single{.answers = one.build()};
  const TaskGroups of_one{NameTable(std::vector<std::string>{"a"}), {GroupId{0}}};
  EXPECT_THROW((void)study_of(single, of_one), Error);
  std::vector<std::string> many;
  for (int g = 0; g < 300; ++g) many.push_back(std::to_string(g));
  EXPECT_THROW((void)study_of(crowd.data, {NameTable(many), std::vector<GroupId>(40, GroupId{0})}), Error);
}

TEST(Fairness, AnyNumberOfThreadsGivesTheSame) {
  Parameters parameters(simulation_kind("group_bias").parameters);
  const Simulation made = simulate("group_bias", {500, 15, 3, 4}, parameters, RunContext());
  CategoryData blind = made.data;
  blind.gold.clear();
  const CategoryFit fit = aggregate(blind, "dawid_skene");
  const FairnessStudy one = study_fairness(made.data, fit, made.groups, {}, RunContext({.threads = 1}));
  const FairnessStudy four = study_fairness(made.data, fit, made.groups, {}, RunContext({.threads = 4}));
  ASSERT_EQ(one.workers.size(), four.workers.size());
  for (std::size_t i = 0; i < one.workers.size(); ++i) {
    EXPECT_EQ(one.workers[i].false_positive_rate.low, four.workers[i].false_positive_rate.low);
  }
  EXPECT_EQ(one.labels_fit.posterior, four.labels_fit.posterior);
}

/// The groups of a column of a table of tasks.
TaskGroups groups_of(const std::string& path, const std::string& column, const CategoryAnswers& answers) {
  ReadOptions options;
  options.label_column = column;
  const LabelTable table = read_label_table(path, options, RunContext());
  TaskGroups groups{table.classes, std::vector<GroupId>(answers.task_count(), kNoGroup)};
  for (std::size_t t = 0; t < table.tasks.size(); ++t) {
    for (std::size_t own = 0; own < answers.task_count(); ++own) {
      if (answers.task_names()[own] == table.tasks[t]) groups.of_task[own] = GroupId(index(table.labels[t]));
    }
  }
  return groups;
}

TEST(Fairness, Compas) {
  const auto folder = testing::real_data_folder();
  if (!folder) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const RunContext context;
  const std::string base = *folder + "/fairness/compas/race/";
  const CategoryData data = read_dataset(base + "labels.csv", base + "gold.csv", {}, context);
  TaskGroups groups = groups_of(base + "tasks.csv", "race", data.answers);
  ASSERT_EQ(groups.count(), 5U);
  const FairnessStudy all = study_of(data, groups);
  EXPECT_EQ(all.workers.size(), 4 * 400U);
  EXPECT_EQ(groups.names[index(all.reference)], "black");
  for (GroupId& group : groups.of_task) {
    if (groups.names[index(group)] != "black" && groups.names[index(group)] != "white") group = kNoGroup;
  }
  const FairnessStudy study = study_of(data, groups);
  EXPECT_GT(study.tasks_without_group, 50U);
  // Published for single answers when race was shown: false positives 40.0 % of black and 26.2 % of white defendants.
  const Gap& answers = gap_of(study, "answers", GapMeasure::false_positive_rate);
  EXPECT_TRUE(answers.by_gold);
  EXPECT_EQ(groups.names[index(answers.highest)], "black");
  EXPECT_GT(answers.gap.low, .03);
  EXPECT_NEAR(answers.gap.value, .138, .05);
  const Gap& labels = gap_of(study, "labels", GapMeasure::false_positive_rate);
  EXPECT_EQ(groups.names[index(labels.highest)], "black");
  EXPECT_GT(labels.gap.low, 0);
  std::size_t known = 0;
  for (const WorkerBias& bias : study.workers) {
    if (groups.names[index(bias.group)] != "white") continue;
    known += std::isnan(bias.false_positive_rate.value) ? 0 : 1;
    EXPECT_FALSE(bias.false_positive_rate.low > bias.false_positive_rate.high);
  }
  EXPECT_EQ(known, 400U);
}

TEST(Fairness, BiasPlantedInCompasIsRecovered) {
  const auto folder = testing::real_data_folder();
  if (!folder) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const RunContext context;
  const std::string base = *folder + "/fairness/compas/race/";
  const CategoryData data = read_dataset(base + "labels.csv", base + "gold.csv", {}, context);
  TaskGroups groups = groups_of(base + "tasks.csv", "race", data.answers);
  // Every twentieth worker calls all black defendants positive.
  CategoryAnswersBuilder builder({"0", "1"});
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
    const bool black = groups.names[index(groups.of_task[t])] == "black";
    const auto workers = data.answers.workers_of(TaskId(t));
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const bool planted = black && index(workers[i]) % 20 == 0;
      builder.add(data.answers.task_names()[t], data.answers.worker_names()[index(workers[i])],
                  planted ? "1" : data.answers.class_names()[index(data.answers.labels_of(TaskId(t))[i])]);
    }
  }
  CategoryData planted{.answers = builder.build(), .gold = data.gold};
  for (const bool with_gold : {true, false}) {
    if (!with_gold) planted.gold.clear();
    const FairnessStudy study = study_of(planted, groups);
    std::size_t found = 0, others = 0;
    for (const WorkerBias& bias : study.workers) {
      if (groups.names[index(bias.group)] != "white" || !bias.biased) continue;
      (index(bias.worker) % 20 == 0 ? found : others) += 1;
    }
    EXPECT_GE(found, 16U) << with_gold;
    EXPECT_LE(others, 20U) << with_gold;  // of 380; with gold, real ones among them
  }
}

}  // namespace
}  // namespace wisecrowd
