#include "support/structure.hpp"

#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/task_graph.hpp"

namespace wisecrowd::testing {

CategoryData with_order_and_graph(CategoryData data, std::span<const std::uint32_t> place_of) {
  order_classes(data, true);
  std::vector<TaskEdge> edges;
  const auto place = [&](std::uint32_t t) { return place_of.empty() ? t : place_of[t]; };
  for (std::uint32_t t = 0; t + 1 < data.answers.task_count(); ++t) edges.push_back({place(t), place(t + 1)});
  data.answers = with_task_graph(data.answers, make_task_graph(edges, data.answers.task_count()));
  return data;
}

}  // namespace wisecrowd::testing
