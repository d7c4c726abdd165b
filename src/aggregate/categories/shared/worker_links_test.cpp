#include "aggregate/categories/shared/worker_links.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

/// Tasks given by the workers who answer them.
CategoryData tasks_of_workers(const std::vector<std::vector<int>>& tasks, int workers) {
  CategoryAnswersBuilder builder({"0", "1"});
  for (int w = 0; w < workers; ++w) builder.add_worker(std::to_string(w));
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    for (const int w : tasks[t]) builder.add(std::to_string(t), std::to_string(w), "0");
  }
  return {builder.build(), {}, {}};
}

TEST(WorkerLinks, OddCyclesSettleSizes) {
  const auto three = link_workers(tasks_of_workers({{0, 1, 2}}, 3));
  EXPECT_EQ(three.unsettled, 0U);
  EXPECT_EQ(three.part_count, 1U);
  const auto triangle = link_workers(tasks_of_workers({{0, 1}, {1, 2}, {0, 2}}, 3));
  EXPECT_EQ(triangle.unsettled, 0U);
  const auto path = link_workers(tasks_of_workers({{0, 1}, {1, 2}, {2, 3}}, 4));
  EXPECT_EQ(path.unsettled, 4U);
  const auto square = link_workers(tasks_of_workers({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 4));
  EXPECT_EQ(square.unsettled, 4U);
  const auto pentagon = link_workers(tasks_of_workers({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, 5));
  EXPECT_EQ(pentagon.unsettled, 0U);
}

TEST(WorkerLinks, PartsAndLoners) {
  // Worker 5 answers alone, worker 6 not at all.
  const auto links = link_workers(tasks_of_workers({{0, 1, 2}, {3, 4}, {5}}, 7));
  EXPECT_EQ(links.part_count, 2U);
  EXPECT_EQ(links.alone, 1U);
  EXPECT_EQ(links.unsettled, 2U);
  EXPECT_EQ(links.part[0], links.part[2]);
  EXPECT_NE(links.part[0], links.part[3]);
  EXPECT_EQ(links.part[3], links.part[4]);
  CategoryFit result;
  warn_of_links(links, result);
  std::set<std::string> codes;
  for (const auto& warning : result.warnings) codes.insert(warning.code);
  EXPECT_EQ(codes, (std::set<std::string>{"workers_alone", "skills_not_settled", "separate_parts"}));
}

TEST(WorkerLinks, GoldSettlesItsPart) {
  CategoryData data = tasks_of_workers({{0, 1}, {2, 3}}, 4);
  data.gold = {ClassId{0}, kNoClass};
  const auto links = link_workers(data);
  ASSERT_EQ(links.part.size(), 5U);
  EXPECT_EQ(links.part[4], links.part[0]);
  EXPECT_EQ(links.unsettled, 2U);
  EXPECT_EQ(links.settled[0], 1);
  EXPECT_EQ(links.settled[2], 0);
}

// Against a breadth-first search that colours by hand.
TEST(WorkerLinks, AgreesWithASearch) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const int workers = 12;
    std::vector<std::vector<int>> tasks;
    std::vector<std::vector<int>> next(workers);
    for (int t = 0; t < 10; ++t) {
      const int a = static_cast<int>(rng.below(workers)), b = static_cast<int>(rng.below(workers));
      if (a == b) continue;
      tasks.push_back({a, b});
      next[static_cast<std::size_t>(a)].push_back(b);
      next[static_cast<std::size_t>(b)].push_back(a);
    }
    const auto links = link_workers(tasks_of_workers(tasks, workers));
    std::vector<int> colour(workers, -1), part(workers, -1);
    std::vector<bool> odd;
    for (int root = 0; root < workers; ++root) {
      if (colour[static_cast<std::size_t>(root)] >= 0) continue;
      std::vector<int> queue{root};
      colour[static_cast<std::size_t>(root)] = 0;
      odd.push_back(false);
      for (std::size_t at = 0; at < queue.size(); ++at) {
        const auto w = static_cast<std::size_t>(queue[at]);
        part[w] = static_cast<int>(odd.size()) - 1;
        for (const int o : next[w]) {
          int& c = colour[static_cast<std::size_t>(o)];
          if (c < 0) {
            c = 1 - colour[w];
            queue.push_back(o);
          } else if (c == colour[w]) {
            odd.back() = true;
          }
        }
      }
    }
    for (std::size_t w = 0; w < workers; ++w) {
      EXPECT_EQ(static_cast<int>(links.part[w]), part[w]) << seed;
      EXPECT_EQ(links.settled[w] != 0, odd[static_cast<std::size_t>(part[w])]) << seed << " " << w;
    }
  }
}

}  // namespace
}  // namespace wisecrowd
