#include "wisecrowd/task_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd {
namespace {

TEST(TaskGraph, JoinsBothWaysAndAddsRepeatedEdges) {
  const std::vector<TaskEdge> edges{{2, 0, 0.5}, {0, 1, 1}, {0, 2, 0.25}};
  const auto graph = make_task_graph(edges, 4);
  EXPECT_EQ(graph->offsets, (std::vector<std::uint64_t>{0, 2, 3, 4, 4}));
  EXPECT_EQ(graph->neighbours, (std::vector<std::uint32_t>{1, 2, 0, 0}));
  EXPECT_EQ(graph->weights, (std::vector<double>{1, 0.75, 1, 0.75}));
  EXPECT_EQ(graph->edge_count(), 2U);
  EXPECT_NO_THROW(validate(*graph, 4));
  EXPECT_THROW(validate(*graph, 5), Error);
}

TEST(TaskGraph, RefusesWhatIsNoEdge) {
  for (const TaskEdge& edge : {TaskEdge{1, 1, 1}, TaskEdge{0, 3, 1}, TaskEdge{0, 1, 0}, TaskEdge{0, 1, -1},
                               TaskEdge{0, 1, std::numeric_limits<double>::quiet_NaN()},
                               TaskEdge{0, 1, std::numeric_limits<double>::infinity()}}) {
    EXPECT_THROW(static_cast<void>(make_task_graph({&edge, 1}, 3)), Error);
  }
}

TEST(TaskGraph, RefusesOneWayEdges) {
  TaskGraph graph{{0, 1, 1}, {1}, {1}};
  EXPECT_THROW(validate(graph, 2), Error);
  graph = {{0, 1, 2}, {1, 0}, {1, 2}};
  EXPECT_THROW(validate(graph, 2), Error);
  graph = {{0, 1, 2}, {1, 0}, {2, 2}};
  EXPECT_NO_THROW(validate(graph, 2));
}

TEST(TaskGraph, NearestNeighboursByBruteForce) {
  constexpr std::uint32_t kTasks = 300;
  Features features;
  features.rows = kTasks;
  features.shape = {19};
  Rng rng(4);
  for (std::size_t i = 0; i < kTasks * 19; ++i) features.dense.push_back(static_cast<float>(rng.normal()));
  std::vector<std::uint32_t> rows(kTasks);
  for (std::uint32_t t = 0; t < kTasks; ++t) rows[t] = t == 7 ? kNoRow : kTasks - 1 - t;
  const auto graph = nearest_neighbour_graph(features, rows, 5, RunContext());
  EXPECT_EQ(graph->offsets[7], graph->offsets[8]);
  const auto distance = [&](std::uint32_t a, std::uint32_t b) {
    double sum = 0;
    for (std::size_t c = 0; c < 19; ++c) {
      const double d = features.row(rows[a])[c] - features.row(rows[b])[c];
      sum += d * d;
    }
    return sum;
  };
  std::vector<std::vector<bool>> joined(kTasks, std::vector<bool>(kTasks, false));
  for (std::uint32_t t = 0; t < kTasks; ++t) {
    if (t == 7) continue;
    std::vector<std::pair<double, std::uint32_t>> others;
    for (std::uint32_t o = 0; o < kTasks; ++o) {
      if (o != t && o != 7) others.emplace_back(distance(t, o), o);
    }
    std::sort(others.begin(), others.end());
    for (std::size_t n = 0; n < 5; ++n) joined[t][others[n].second] = joined[others[n].second][t] = true;
  }
  for (std::uint32_t t = 0; t < kTasks; ++t) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t o = 0; o < kTasks; ++o) {
      if (joined[t][o]) expected.push_back(o);
    }
    const std::vector<std::uint32_t> found(
        graph->neighbours.begin() + static_cast<std::ptrdiff_t>(graph->offsets[t]),
        graph->neighbours.begin() + static_cast<std::ptrdiff_t>(graph->offsets[t + 1]));
    EXPECT_EQ(found, expected) << t;
  }
  const auto again = nearest_neighbour_graph(features, rows, 5, RunContext({.threads = 3}));
  EXPECT_EQ(again->neighbours, graph->neighbours);
}

TEST(OrderedClasses, AreOrderedByNumberOrAsListed) {
  const std::string_view numbers[] = {"10", "-1", "2.5", "+3", "1e1x"};
  EXPECT_EQ(ordered_class_order(std::span(numbers).first(4)), (std::vector<std::uint32_t>{1, 2, 3, 0}));
  EXPECT_THROW(static_cast<void>(ordered_class_order(numbers)), Error);
  const std::string_view same[] = {"1", "1.0"};
  EXPECT_THROW(static_cast<void>(ordered_class_order(same)), Error);
  const std::string_view endless[] = {"1", "inf"};
  EXPECT_THROW(static_cast<void>(ordered_class_order(endless)), Error);
}

TEST(OrderedClasses, TakeGoldAndAnswersAlong) {
  CategoryAnswersBuilder builder;
  builder.add("t", "v", "10.5").add("t", "w", "9").add("u", "v", "2");  // as text: 10.5, 2, 9
  CategoryData data{.answers = builder.build()};
  data.gold = {ClassId{0}, kNoClass};
  const auto before = data.answers.content_hash();
  order_classes(data, false);
  EXPECT_TRUE(is_ordered(data.answers));
  EXPECT_EQ(data.answers.class_names()[0], "2");
  EXPECT_EQ(data.answers.class_names()[2], "10.5");
  EXPECT_EQ(index(data.gold[0]), 2U);
  EXPECT_EQ(data.gold[1], kNoClass);
  EXPECT_EQ(data.answers.class_names()[index(data.answers.labels()[0])], "10.5");
  EXPECT_NE(data.answers.content_hash(), before);
  const CategoryAnswers copy = data.answers;
  EXPECT_TRUE(is_ordered(copy));
}

}  // namespace
}  // namespace wisecrowd
