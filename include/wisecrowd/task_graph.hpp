#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/ids.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// An undirected graph of tasks in compressed sparse rows: neighbours are likely to have the same truth. Every edge
/// stands in both of its rows, with the same weight.
struct TaskGraph {
  std::vector<std::uint64_t> offsets;     ///< tasks + 1
  std::vector<std::uint32_t> neighbours;  ///< rising within a row; never the task itself
  std::vector<double> weights;            ///< parallel to neighbours; above 0 and finite

  [[nodiscard]] std::size_t task_count() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
  [[nodiscard]] std::size_t edge_count() const noexcept { return neighbours.size() / 2; }
};

/// Throws bad_input unless the graph has a row for each of `tasks` tasks and is as described above.
void validate(const TaskGraph& graph, std::size_t tasks);

struct TaskEdge {
  std::uint32_t one, other;
  double weight = 1;
};
/// Edges in any order and direction; of several between the same tasks the weights are added. Throws bad_input for an
/// index out of range, a task joined to itself, or a weight that is not above 0 and finite.
[[nodiscard]] std::shared_ptr<const TaskGraph> make_task_graph(std::span<const TaskEdge> edges, std::size_t tasks);

/// The graph of the tasks of answers, or null. Methods that use it refuse answers without.
[[nodiscard]] std::shared_ptr<const TaskGraph> task_graph(const CategoryAnswers& answers) noexcept;
/// The same answers with a graph of their tasks, which is validated.
[[nodiscard]] CategoryAnswers with_task_graph(const CategoryAnswers& answers, std::shared_ptr<const TaskGraph> graph);

/// Joins every task to its `neighbours` nearest others by the Euclidean distance of dense features, with weight 1; each
/// pair once. `row_of_task` has the row of each task, or kNoRow: such tasks have no neighbours. Equal distances: the
/// lower task first.
[[nodiscard]] std::shared_ptr<const TaskGraph> nearest_neighbour_graph(const Features& features,
                                                                       std::span<const std::uint32_t> row_of_task,
                                                                       std::size_t neighbours,
                                                                       const RunContext& context);

}  // namespace wisecrowd
