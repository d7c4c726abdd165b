#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "wisecrowd/error.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd {
namespace {

Simulation drawn(const std::vector<std::pair<const char*, const char*>>& settings, std::size_t classes = 2) {
  Parameters parameters(simulation_kind("group_bias").parameters);
  for (const auto& [name, value] : settings) parameters.set(name, value);
  return simulate("group_bias", {8000, 10, classes, 5}, parameters, RunContext());
}

/// How often workers of a kind say a class of tasks of a group whose truth is given.
double rate(const Simulation& s, const char* kind, std::size_t group, std::size_t truth, std::size_t said) {
  double yes = 0, all = 0;
  for (std::size_t t = 0; t < s.data.answers.task_count(); ++t) {
    if (index(s.groups.of_task[t]) != group || index(s.data.gold[t]) != truth) continue;
    const auto workers = s.data.answers.workers_of(TaskId(t));
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (s.worker_kind[index(workers[i])] != kind) continue;
      ++all;
      yes += index(s.data.answers.labels_of(TaskId(t))[i]) == said ? 1 : 0;
    }
  }
  return yes / all;
}

TEST(GroupBias, BiasedWorkersSayTheLastClassOfTheLastGroup) {
  const Simulation s = drawn({{"bias", "0.5"}});
  const double elsewhere = rate(s, "biased", 0, 0, 1);
  EXPECT_NEAR(rate(s, "biased", 1, 0, 1), .5 + .5 * elsewhere, .03);
  EXPECT_NEAR(rate(s, "honest", 1, 0, 1), rate(s, "honest", 0, 0, 1), .03);
  const Simulation lenient = drawn({{"bias", "-0.5"}});
  EXPECT_NEAR(rate(lenient, "biased", 1, 1, 0), .5 + .5 * rate(lenient, "biased", 0, 1, 0), .03);
}

TEST(GroupBias, GroupsAndClassSharesAreAsAsked) {
  const Simulation s = drawn({{"groups", "3"}, {"last_group", "0.2"}, {"class_gap", "0.3"}});
  std::vector<double> tasks(3, 0.0), positive(3, 0.0);
  for (std::size_t t = 0; t < 8000; ++t) {
    ++tasks[index(s.groups.of_task[t])];
    positive[index(s.groups.of_task[t])] += index(s.data.gold[t]) == 1 ? 1 : 0;
  }
  EXPECT_NEAR(tasks[2] / 8000, .2, .03);
  EXPECT_NEAR(tasks[0] / 8000, .4, .03);
  EXPECT_NEAR(positive[2] / tasks[2] - (positive[0] + positive[1]) / (tasks[0] + tasks[1]), .3, .05);
  EXPECT_THROW((void)drawn({{"class_gap", "1"}, {"last_group", "0.2"}}), Error);
}

TEST(GroupBias, TheGroupsAreWritten) {
  const auto folder = std::filesystem::temp_directory_path() / "wisecrowd_group_bias_test";
  std::filesystem::remove_all(folder);
  ASSERT_EQ(write_simulation(drawn({}), folder.string(), RunContext()), Status::converged);
  std::ifstream file(folder / "tasks.csv");
  std::string first, second;
  std::getline(file, first);
  std::getline(file, second);
  EXPECT_EQ(first, "task,group");
  EXPECT_TRUE(second.starts_with("task_00000001,group_")) << second;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace wisecrowd
