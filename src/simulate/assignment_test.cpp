#include "simulate/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "simulate/alias_table.hpp"

namespace wisecrowd {
namespace {

std::vector<std::size_t> tasks_per_worker(const SimulationSize& size, std::span<const WorkerId> workers) {
  std::vector<std::size_t> counts(size.workers, 0);
  for (const WorkerId w : workers) ++counts[index(w)];
  return counts;
}

void expect_distinct_and_sorted(const SimulationSize& size, std::span<const WorkerId> workers) {
  for (std::size_t a = 0; a < workers.size(); ++a) {
    ASSERT_LT(index(workers[a]), size.workers);
    if (a % size.answers_per_task != 0) {
      ASSERT_LT(workers[a - 1], workers[a]);
    }
  }
}

TEST(Assignment, UniformTakesEverySetOfWorkersAlike) {
  const SimulationSize size{20000, 5, 2, 2};
  std::vector<WorkerId> workers(40000);
  ASSERT_TRUE(assign_uniformly(size, RunContext({.seed = 2}), workers));
  expect_distinct_and_sorted(size, workers);
  std::map<std::pair<WorkerId, WorkerId>, double> pairs;
  for (std::size_t t = 0; t < size.tasks; ++t) ++pairs[{workers[2 * t], workers[2 * t + 1]}];
  ASSERT_EQ(pairs.size(), 10U);
  for (const auto& [pair, count] : pairs) EXPECT_NEAR(count, 2000, 5 * std::sqrt(2000 * 0.9));
}

TEST(Assignment, UniformGivesEverybodyWhenAllAreAsked) {
  const SimulationSize size{3, 100, 2, 100};
  std::vector<WorkerId> workers(300);
  ASSERT_TRUE(assign_uniformly(size, RunContext(), workers));
  for (std::size_t a = 0; a < 300; ++a) EXPECT_EQ(index(workers[a]), a % 100);
}

TEST(Assignment, PowerLawActivityFallsWithRank) {
  const SimulationSize size{200000, 50, 2, 1};
  std::vector<WorkerId> workers(size.tasks);
  ASSERT_TRUE(assign_by_power_law(size, 1.0, RunContext({.seed = 3}), workers));
  auto counts = tasks_per_worker(size, workers);
  EXPECT_FALSE(std::is_sorted(counts.rbegin(), counts.rend()));  // ranks are not the ids
  std::sort(counts.rbegin(), counts.rend());
  double harmonic = 0;
  for (int r = 1; r <= 50; ++r) harmonic += 1.0 / r;
  for (std::size_t r = 0; r < 5; ++r) {
    const double expected = 200000 / harmonic / static_cast<double>(r + 1);
    EXPECT_NEAR(static_cast<double>(counts[r]), expected, 5 * std::sqrt(expected));
  }
}

TEST(Assignment, PowerLawDrawsSuccessivelyWithoutReplacement) {
  // Weights 1, 1/4, 1/9: P(the most active is left out of two) = 2·w2·w3 terms of successive draws.
  const SimulationSize size{100000, 3, 2, 2};
  std::vector<WorkerId> workers(2 * size.tasks);
  ASSERT_TRUE(assign_by_power_law(size, 2.0, RunContext({.seed = 4}), workers));
  expect_distinct_and_sorted(size, workers);
  auto counts = tasks_per_worker(size, workers);
  std::sort(counts.rbegin(), counts.rend());
  const double w[] = {1, 0.25, 1.0 / 9};
  const double total = w[0] + w[1] + w[2];
  const double first_left_out = w[1] / total * w[2] / (total - w[1]) + w[2] / total * w[1] / (total - w[2]);
  const double last_left_out = w[0] / total * w[1] / (total - w[0]) + w[1] / total * w[0] / (total - w[1]);
  EXPECT_NEAR(static_cast<double>(counts[0]) / 1e5, 1 - first_left_out, 0.005);
  EXPECT_NEAR(static_cast<double>(counts[2]) / 1e5, 1 - last_left_out, 0.008);
}

TEST(Assignment, PowerLawFinishesWhenTheTailIsNeeded) {
  const SimulationSize size{50, 400, 2, 390};
  std::vector<WorkerId> workers(50 * 390);
  ASSERT_TRUE(assign_by_power_law(size, 2.0, RunContext({.seed = 5}), workers));
  expect_distinct_and_sorted(size, workers);
}

TEST(Assignment, RegularDegreesAreExactForAllSeeds) {
  const SimulationSize size{1000, 750, 2, 3};
  std::vector<WorkerId> previous;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<WorkerId> workers(3000);
    ASSERT_TRUE(assign_regularly(size, RunContext({.seed = seed, .threads = 1}), workers));
    expect_distinct_and_sorted(size, workers);
    for (const std::size_t degree : tasks_per_worker(size, workers)) ASSERT_EQ(degree, 4U);
    EXPECT_NE(workers, previous);
    previous = workers;
  }
}

TEST(Assignment, RegularWorksWhenDense) {
  for (const auto& [tasks, workers_count, per_task] :
       {std::tuple(12, 6, 3), std::tuple(12, 6, 4), std::tuple(12, 6, 6), std::tuple(10, 10, 9), std::tuple(60, 2, 1),
        std::tuple(1, 1, 1), std::tuple(2000, 10, 5)}) {
    const SimulationSize size{static_cast<std::size_t>(tasks), static_cast<std::size_t>(workers_count), 2,
                              static_cast<std::size_t>(per_task)};
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      std::vector<WorkerId> workers(size.tasks * size.answers_per_task);
      ASSERT_TRUE(assign_regularly(size, RunContext({.seed = seed, .threads = 1}), workers));
      expect_distinct_and_sorted(size, workers);
      for (const std::size_t degree : tasks_per_worker(size, workers)) {
        ASSERT_EQ(degree, size.tasks * size.answers_per_task / size.workers);
      }
    }
  }
}

TEST(Assignment, NearlyRegularDegreesDifferByOne) {
  for (const auto& [tasks, workers_count, per_task] :
       {std::tuple(666, 500, 3), std::tuple(7, 5, 3), std::tuple(3, 6, 3), std::tuple(1, 10, 3),
        std::tuple(11, 4, 2)}) {
    const SimulationSize size{static_cast<std::size_t>(tasks), static_cast<std::size_t>(workers_count), 2,
                              static_cast<std::size_t>(per_task)};
    std::vector<std::size_t> most(size.workers, 0);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      std::vector<WorkerId> workers(size.tasks * size.answers_per_task);
      ASSERT_TRUE(assign_regularly(size, RunContext({.seed = seed, .threads = 1}), workers));
      expect_distinct_and_sorted(size, workers);
      const auto degrees = tasks_per_worker(size, workers);
      const std::size_t fewest = workers.size() / size.workers;
      for (std::size_t w = 0; w < degrees.size(); ++w) {
        ASSERT_TRUE(degrees[w] == fewest || degrees[w] == fewest + 1);
        most[w] += degrees[w] - fewest;
      }
    }
    // The rest goes to other workers each time.
    EXPECT_TRUE(size.workers > 10 || std::count(most.begin(), most.end(), 0U) == 0);
  }
}

TEST(Assignment, ByChanceEveryPairAlike) {
  const SimulationSize size{20000, 12, 2, 3};
  ChanceAssignment found;
  ASSERT_TRUE(assign_by_chance(size, 0.25, RunContext({.seed = 6}), found));
  ASSERT_EQ(found.counts.size(), 20000U);
  std::vector<double> of_degree(13, 0);
  std::size_t at = 0;
  for (const std::uint32_t count : found.counts) {
    ++of_degree[count];
    for (std::size_t i = 1; i < count; ++i) ASSERT_LT(found.workers[at + i - 1], found.workers[at + i]);
    at += count;
  }
  ASSERT_EQ(at, found.workers.size());
  for (const std::size_t n : tasks_per_worker(size, found.workers)) {
    EXPECT_NEAR(static_cast<double>(n), 5000, 5 * std::sqrt(20000 * .25 * .75));
  }
  double binomial = std::pow(.75, 12);
  for (std::size_t d = 0; d <= 12; ++d) {
    const double expected = 20000 * binomial;
    EXPECT_NEAR(of_degree[d], expected, 5 * std::sqrt(expected) + 1) << d;
    binomial *= .25 / .75 * static_cast<double>(12 - d) / static_cast<double>(d + 1);
  }
  ChanceAssignment all;
  ASSERT_TRUE(assign_by_chance(size, 1, RunContext(), all));
  EXPECT_EQ(all.workers.size(), 240000U);
  ChanceAssignment other;
  ASSERT_TRUE(assign_by_chance(size, 0.25, RunContext({.seed = 6}), other, TaskPart::held_out));
  EXPECT_NE(found.counts, other.counts);
}

TEST(AliasTable, FollowsItsWeights) {
  const double weights[] = {0, 5, 1, 3, 1};
  const AliasTable table(weights);
  Rng rng(9);
  std::vector<double> counts(5, 0);
  for (int i = 0; i < 100000; ++i) ++counts[table.draw(rng)];
  EXPECT_EQ(counts[0], 0);
  for (std::size_t k = 1; k < 5; ++k) EXPECT_NEAR(counts[k] / 1e5, weights[k] / 10, 0.008);
}

}  // namespace
}  // namespace wisecrowd
