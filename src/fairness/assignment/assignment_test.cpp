#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/rng.hpp"
#include "fairness/shared/simplex.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd {
namespace {

using fairness::LinearProgram;
using fairness::LinearSolution;

TEST(Simplex, SolvesTextbookPrograms) {
  // max 3x + 5y, x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18: 36 at (2, 6).
  LinearProgram program{{3, 5}, {4, INFINITY}, {{{{1, 2.0}}, false, 12}, {{{0, 3.0}, {1, 2.0}}, false, 18}}};
  LinearSolution solution = fairness::solve(program);
  ASSERT_EQ(solution.kind, LinearSolution::Kind::optimal);
  EXPECT_NEAR(solution.value, 36, 1e-9);
  EXPECT_NEAR(solution.x[0], 2, 1e-9);
  // An equation beyond the bounds, and an objective without end.
  program.rows.push_back({{{0, 1.0}}, true, 5});
  EXPECT_EQ(fairness::solve(program).kind, LinearSolution::Kind::infeasible);
  EXPECT_EQ(fairness::solve({{1}, {INFINITY}, {}}).kind, LinearSolution::Kind::unbounded);
  EXPECT_NEAR(fairness::solve({{1, 1}, {2, 3}, {}}).value, 5, 1e-12);  // bounds alone
}

TEST(Simplex, AgreesWithBruteForceOnSmallPrograms) {
  // The optimum of a bounded program is at a vertex: here, of a grid of bases of three variables and two rows.
  Rng rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    LinearProgram program;
    for (int v = 0; v < 3; ++v) {
      program.objective.push_back(rng.uniform(-1, 1));
      program.upper.push_back(1);
    }
    for (int r = 0; r < 2; ++r) {
      LinearProgram::Row row{{}, false, rng.uniform(0, 1.5)};
      for (std::uint32_t v = 0; v < 3; ++v) row.terms.emplace_back(v, rng.uniform(-1, 1));
      program.rows.push_back(row);
    }
    const LinearSolution solution = fairness::solve(program);
    ASSERT_EQ(solution.kind, LinearSolution::Kind::optimal);
    double best = -1e9;
    constexpr int kSteps = 24;
    for (int a = 0; a <= kSteps; ++a) {
      for (int b = 0; b <= kSteps; ++b) {
        for (int c = 0; c <= kSteps; ++c) {
          const double x[3] = {a / double{kSteps}, b / double{kSteps}, c / double{kSteps}};
          bool within = true;
          for (const auto& row : program.rows) {
            double sum = 0;
            for (const auto& [v, factor] : row.terms) sum += factor * x[v];
            within = within && sum <= row.bound;
          }
          if (!within) continue;
          best =
              std::max(best, program.objective[0] * x[0] + program.objective[1] * x[1] + program.objective[2] * x[2]);
        }
      }
    }
    EXPECT_GE(solution.value, best - 1e-9);
    EXPECT_LE(solution.value, best + .15);  // a grid misses by a step
    for (const auto& row : program.rows) {
      double sum = 0;
      for (const auto& [v, factor] : row.terms) sum += factor * solution.x[v];
      EXPECT_LE(sum, row.bound + 1e-9);
    }
  }
}

AssignmentRequest request_of(std::uint64_t seed, std::size_t workers, std::vector<std::uint64_t> tasks,
                             std::uint64_t answers, std::uint64_t capacity) {
  AssignmentRequest request;
  Rng rng(seed);
  request.group_tasks = std::move(tasks);
  request.answers_per_task = answers;
  request.capacity.assign(workers, capacity);
  for (std::size_t i = 0; i < workers * request.group_tasks.size(); ++i) request.accuracy.push_back(rng.uniform(.5, 1));
  return request;
}

void expect_valid(const AssignmentRequest& request, const AssignmentPlan& plan) {
  const std::size_t groups = request.group_tasks.size();
  for (std::size_t s = 0; s < groups; ++s) {
    std::uint64_t sum = 0;
    for (std::size_t j = 0; j < request.capacity.size(); ++j) {
      EXPECT_LE(plan.answers[j * groups + s], request.group_tasks[s]);
      sum += plan.answers[j * groups + s];
    }
    EXPECT_EQ(sum, request.answers_per_task * request.group_tasks[s]);
  }
  for (std::size_t j = 0; j < request.capacity.size(); ++j) {
    std::uint64_t sum = 0;
    for (std::size_t s = 0; s < groups; ++s) sum += plan.answers[j * groups + s];
    EXPECT_LE(sum, request.capacity[j]);
  }
}

TEST(Assignment, WithoutALimitTheBestWorkersOfEachGroupAnswer) {
  AssignmentRequest request = request_of(1, 20, {30, 50}, 3, 1000);
  const AssignmentPlan plan = plan_assignment(request, RunContext());
  ASSERT_TRUE(plan.feasible) << plan.reason;
  expect_valid(request, plan);
  // Capacities do not bind: the three best of each group do all its tasks.
  double best = 0;
  for (std::size_t s = 0; s < 2; ++s) {
    std::vector<double> accuracy;
    for (std::size_t j = 0; j < 20; ++j) accuracy.push_back(request.accuracy[j * 2 + s]);
    std::sort(accuracy.rbegin(), accuracy.rend());
    best += static_cast<double>(request.group_tasks[s]) * (accuracy[0] + accuracy[1] + accuracy[2]);
  }
  EXPECT_NEAR(plan.accuracy, best / (3 * 80), 1e-9);
}

TEST(Assignment, KeepsTheLimitAtTheLeastCost) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const AssignmentRequest base = request_of(seed, 25, {120, 80, 61}, 2, 30);
    double before = 0;
    for (const double limit : {0.0, .01, .05, 1.0}) {
      AssignmentRequest request = base;
      request.limit = limit;
      const AssignmentPlan plan = plan_assignment(request, RunContext());
      ASSERT_TRUE(plan.feasible) << plan.reason;
      expect_valid(request, plan);
      EXPECT_LE(plan.gap, limit + .02);  // whole answers miss it by little
      EXPECT_GE(plan.accuracy, before - .01);
      before = plan.accuracy;
    }
  }
}

TEST(Assignment, IdenticalWorkersHaveNoGap) {
  AssignmentRequest request = request_of(1, 10, {15, 33}, 2, 12);
  std::fill(request.accuracy.begin(), request.accuracy.end(), .8);
  request.limit = 0;
  const AssignmentPlan plan = plan_assignment(request, RunContext());
  ASSERT_TRUE(plan.feasible) << plan.reason;
  expect_valid(request, plan);
  EXPECT_NEAR(plan.gap, 0, 1e-12);
  EXPECT_NEAR(plan.accuracy, .8, 1e-12);
}

TEST(Assignment, SaysWhatCannotBeKept) {
  AssignmentRequest request = request_of(1, 4, {10, 10}, 1, 10);
  for (std::size_t j = 0; j < 4; ++j) {
    request.accuracy[j * 2] = .9;
    request.accuracy[j * 2 + 1] = .6 + .05 * static_cast<double>(j);
  }
  request.limit = .05;
  const AssignmentPlan plan = plan_assignment(request, RunContext());
  EXPECT_FALSE(plan.feasible);
  EXPECT_NEAR(plan.smallest_gap, .9 - .75, 1e-9);
  EXPECT_NE(plan.reason.find("0.15"), std::string::npos) << plan.reason;
  request.limit = .16;
  EXPECT_TRUE(plan_assignment(request, RunContext()).feasible);
  request.answers_per_task = 5;
  EXPECT_FALSE(plan_assignment(request, RunContext()).feasible);
  EXPECT_NE(plan_assignment(request, RunContext()).reason.find("100 answers"), std::string::npos);
  request.capacity.assign(4, 1000);
  EXPECT_NE(plan_assignment(request, RunContext()).reason.find("5 different workers"), std::string::npos);
  request.group_tasks = {0, 0};
  EXPECT_FALSE(plan_assignment(request, RunContext()).feasible);
}

TEST(Assignment, HandsOutEachTaskToDifferentWorkers) {
  AssignmentRequest request = request_of(2, 12, {20, 31}, 3, 14);
  request.limit = .02;
  const AssignmentPlan plan = plan_assignment(request, RunContext());
  ASSERT_TRUE(plan.feasible) << plan.reason;
  std::vector<GroupId> groups;
  for (std::size_t t = 0; t < 51; ++t) groups.push_back(GroupId(t % 5 < 2 && t / 5 * 2 + t % 5 < 20 ? 0 : 1));
  ASSERT_EQ(std::count(groups.begin(), groups.end(), GroupId{0}), 20);
  const auto handed = hand_out(plan, groups, 2, RunContext());
  EXPECT_EQ(handed.size(), 153U);
  std::set<std::pair<std::uint32_t, std::size_t>> pairs;
  std::vector<int> per_task(51, 0);
  std::vector<std::uint64_t> per_worker(24, 0);
  for (const AssignedAnswer& answer : handed) {
    EXPECT_TRUE(pairs.emplace(answer.task, index(answer.worker)).second);
    ++per_task[answer.task];
    ++per_worker[index(answer.worker) * 2 + index(groups[answer.task])];
  }
  EXPECT_EQ(std::count(per_task.begin(), per_task.end(), 3), 51);
  EXPECT_EQ(per_worker, plan.answers);
}

// What is predicted from one half of the tasks is what the workers do on the other half.
TEST(Assignment, PredictsWhatHappensOnOtherTasks) {
  const RunContext context;
  Parameters parameters(simulation_kind("group_bias").parameters);
  parameters.set("bias", "0.5");
  parameters.set("biased", "0.8");
  const Simulation made = simulate("group_bias", {6000, 20, 2, 10}, parameters, context);
  const auto accuracies_of = [&](std::size_t half) {
    CategoryData data = made.data;
    TaskGroups groups = made.groups;
    for (std::size_t t = 0; t < data.gold.size(); ++t) {
      if (t % 2 != half) groups.of_task[t] = kNoGroup;
    }
    GroupTableOptions tables;
    tables.kappa = 0;
    return group_accuracies(fit_group_tables(data, groups, tables, context), 2);
  };
  AssignmentRequest request;
  request.accuracy = accuracies_of(0);
  request.capacity.assign(20, 120);
  request.group_tasks = {600, 400};
  request.answers_per_task = 2;
  double unlimited_gap = 0;
  for (const double part : {1.0, .6}) {
    request.limit = unlimited_gap > 0 ? part * unlimited_gap : 1;
    const AssignmentPlan plan = plan_assignment(request, context);
    ASSERT_TRUE(plan.feasible) << plan.reason;
    double right[2] = {0, 0};
    const auto there = accuracies_of(1);
    for (std::size_t i = 0; i < plan.answers.size(); ++i)
      right[i % 2] += there[i] * static_cast<double>(plan.answers[i]);
    const double gap = std::abs(right[0] / 1200 - right[1] / 800);
    EXPECT_NEAR((right[0] + right[1]) / 2000, plan.accuracy, .015) << part;
    EXPECT_NEAR(gap, plan.gap, .02) << part;
    if (part == 1) unlimited_gap = plan.gap;
  }
  EXPECT_GT(unlimited_gap, .03);  // so that there is something to limit
}

TEST(Assignment, HundredsOfWorkersTakeLittleTime) {
  AssignmentRequest request = request_of(9, 400, {600, 400}, 10, 40);
  request.limit = .01;
  const AssignmentPlan plan = plan_assignment(request, RunContext());
  ASSERT_TRUE(plan.feasible) << plan.reason;
  expect_valid(request, plan);
  EXPECT_LE(plan.gap, .012);
}

}  // namespace
}  // namespace wisecrowd
