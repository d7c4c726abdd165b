#include "wisecrowd/task_graph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "data/build.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

[[noreturn]] void refuse_graph(const std::string& message) { throw Error(ErrorCode::bad_input, message); }

bool good_weight(double weight) { return weight > 0 && std::isfinite(weight); }

/// Σ (x − y)²; in sixteen sums, so that the compiler fills its vectors without changing the order of a sum.
float squared_distance(const float* __restrict x, const float* __restrict y, std::size_t columns) {
  constexpr std::size_t kLanes = 16;
  float sums[kLanes] = {};
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
#pragma omp simd
    for (std::size_t l = 0; l < kLanes; ++l) {
      const float difference = x[c + l] - y[c + l];
      sums[l] += difference * difference;
    }
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  for (; c < columns; ++c) sum += (x[c] - y[c]) * (x[c] - y[c]);
  return sum;
}

struct Neighbour {
  float distance;
  std::uint32_t task;
  bool operator<(const Neighbour& other) const noexcept {
    return distance != other.distance ? distance < other.distance : task < other.task;
  }
};

/// The nearest so far, the farthest of them in front.
class Nearest {
 public:
  explicit Nearest(std::size_t most) : most_(most) { heap_.reserve(most); }
  void offer(const Neighbour& candidate) {
    if (heap_.size() < most_) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end());
    } else if (candidate < heap_.front()) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = candidate;
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
  [[nodiscard]] const std::vector<Neighbour>& found() const noexcept { return heap_; }

 private:
  std::size_t most_;
  std::vector<Neighbour> heap_;
};

}  // namespace

void validate(const TaskGraph& graph, std::size_t tasks) {
  if (graph.task_count() != tasks || graph.weights.size() != graph.neighbours.size() ||
      (tasks > 0 && (graph.offsets.front() != 0 || graph.offsets.back() != graph.neighbours.size()))) {
    refuse_graph(fmt::format("a graph of {} tasks with {} neighbours and {} weights does not fit {} tasks",
                             graph.task_count(), graph.neighbours.size(), graph.weights.size(), tasks));
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    if (graph.offsets[t] > graph.offsets[t + 1]) refuse_graph("the offsets of a graph of tasks must never fall");
    for (std::uint64_t e = graph.offsets[t]; e < graph.offsets[t + 1]; ++e) {
      const std::uint32_t other = graph.neighbours[e];
      if (other >= tasks || other == t) {
        refuse_graph(
            fmt::format("task {} cannot be a neighbour of task {}: there are {} tasks, and none is its own "
                        "neighbour",
                        other, t, tasks));
      }
      if (e > graph.offsets[t] && graph.neighbours[e - 1] >= other) {
        refuse_graph(fmt::format("the neighbours of task {} are not in rising order", t));
      }
      const auto row = graph.neighbours.begin() + static_cast<std::ptrdiff_t>(graph.offsets[other]);
      const auto end = graph.neighbours.begin() + static_cast<std::ptrdiff_t>(graph.offsets[other + 1]);
      const auto back = std::lower_bound(row, end, static_cast<std::uint32_t>(t));
      if (!good_weight(graph.weights[e]) || back == end || *back != t ||
          graph.weights[static_cast<std::size_t>(back - graph.neighbours.begin())] != graph.weights[e]) {
        refuse_graph(
            fmt::format("the edge between tasks {} and {} must have the same weight in both directions, a "
                        "finite number above 0",
                        t, other));
      }
    }
  }
}

std::shared_ptr<const TaskGraph> make_task_graph(std::span<const TaskEdge> edges, std::size_t tasks) {
  auto graph = std::make_shared<TaskGraph>();
  graph->offsets.assign(tasks + 1, 0);
  for (const TaskEdge& edge : edges) {
    if (edge.one >= tasks || edge.other >= tasks || edge.one == edge.other) {
      refuse_graph(fmt::format("tasks {} and {} cannot be joined: there are {} tasks, and none is its own neighbour",
                               edge.one, edge.other, tasks));
    }
    if (!good_weight(edge.weight)) {
      refuse_graph(fmt::format("the weight of the edge between tasks {} and {} is {}: give a finite number above 0",
                               edge.one, edge.other, edge.weight));
    }
    ++graph->offsets[edge.one + 1];
    ++graph->offsets[edge.other + 1];
  }
  for (std::size_t t = 0; t < tasks; ++t) graph->offsets[t + 1] += graph->offsets[t];
  struct Half {
    std::uint32_t task;
    double weight;
  };
  std::vector<Half> halves(2 * edges.size());
  std::vector<std::uint64_t> next(graph->offsets.begin(), graph->offsets.end() - 1);
  for (const TaskEdge& edge : edges) {
    halves[next[edge.one]++] = {edge.other, edge.weight};
    halves[next[edge.other]++] = {edge.one, edge.weight};
  }
  graph->neighbours.reserve(halves.size());
  graph->weights.reserve(halves.size());
  std::uint64_t begin = 0;
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::uint64_t end = graph->offsets[t + 1];
    // Stable: weights of repeated edges are added in the order in which they were given, in both directions.
    std::stable_sort(halves.begin() + static_cast<std::ptrdiff_t>(begin),
                     halves.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Half& a, const Half& b) { return a.task < b.task; });
    for (std::uint64_t h = begin; h < end; ++h) {
      const bool again = graph->neighbours.size() > graph->offsets[t] && graph->neighbours.back() == halves[h].task;
      if (again) {
        graph->weights.back() += halves[h].weight;
      } else {
        graph->neighbours.push_back(halves[h].task);
        graph->weights.push_back(halves[h].weight);
      }
    }
    begin = end;
    graph->offsets[t + 1] = graph->neighbours.size();
  }
  return graph;
}

std::shared_ptr<const TaskGraph> task_graph(const CategoryAnswers& answers) noexcept {
  return column_names(answers).task_graph;
}

CategoryAnswers with_task_graph(const CategoryAnswers& answers, std::shared_ptr<const TaskGraph> graph) {
  if (graph) validate(*graph, answers.task_count());
  auto column = std::make_shared<CategoryAnswers::Column>();
  column->classes = column_names(answers);
  column->classes.task_graph = std::move(graph);
  column->labels.assign(answers.labels().begin(), answers.labels().end());
  return {answers, std::move(column)};
}

std::shared_ptr<const TaskGraph> nearest_neighbour_graph(const Features& features,
                                                         std::span<const std::uint32_t> row_of_task,
                                                         std::size_t neighbours, const RunContext& context) {
  if (features.is_sparse()) {
    throw Error(ErrorCode::unsupported,
                "nearest neighbours are found by numbers, not by words: give an array (.npy) or columns of numbers");
  }
  if (neighbours == 0) throw Error(ErrorCode::bad_parameter, "a task needs at least one neighbour: 10 are usual");
  std::vector<std::uint32_t> placed;  // tasks with features
  for (std::uint32_t t = 0; t < row_of_task.size(); ++t) {
    if (row_of_task[t] != kNoRow) placed.push_back(t);
  }
  const std::size_t columns = features.columns();
  constexpr std::size_t kQueries = 16, kCandidates = 256;  // both blocks stay in the cache
  const Blocks blocks{placed.size(), kQueries};
  std::vector<std::vector<TaskEdge>> found(blocks.count());
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    if (context.cancelled()) return;
    std::vector<Nearest> nearest(blocks.end(block) - blocks.begin(block), Nearest(neighbours));
    for (std::size_t first = 0; first < placed.size(); first += kCandidates) {
      const std::size_t last = std::min(placed.size(), first + kCandidates);
      for (std::size_t q = blocks.begin(block); q < blocks.end(block); ++q) {
        const float* const own = features.dense.data() + std::size_t{row_of_task[placed[q]]} * columns;
        for (std::size_t c = first; c < last; ++c) {
          if (c == q) continue;
          const float* const other = features.dense.data() + std::size_t{row_of_task[placed[c]]} * columns;
          nearest[q - blocks.begin(block)].offer({squared_distance(own, other, columns), placed[c]});
        }
      }
    }
    for (std::size_t q = blocks.begin(block); q < blocks.end(block); ++q) {
      for (const Neighbour& near : nearest[q - blocks.begin(block)].found()) {
        found[block].push_back({std::min(placed[q], near.task), std::max(placed[q], near.task), 1});
      }
    }
  });
  std::vector<TaskEdge> edges;
  for (const auto& part : found) edges.insert(edges.end(), part.begin(), part.end());
  const auto pair = [](const TaskEdge& e) { return std::uint64_t{e.one} << 32 | e.other; };
  std::sort(edges.begin(), edges.end(), [&](const TaskEdge& a, const TaskEdge& b) { return pair(a) < pair(b); });
  edges.erase(
      std::unique(edges.begin(), edges.end(), [&](const TaskEdge& a, const TaskEdge& b) { return pair(a) == pair(b); }),
      edges.end());
  return make_task_graph(edges, row_of_task.size());
}

}  // namespace wisecrowd
