#include "learn/shared/learner_entry.hpp"

#include "wisecrowd/method_needs.hpp"

namespace wisecrowd {

std::vector<std::string> aggregator_names() {
  std::vector<std::string> names;
  for (const MethodInfo& method : aggregation_methods()) {
    // Answers to learn from come without an order of classes and without a graph of tasks.
    if (!uses_order(method) && !uses_task_graph(method)) names.push_back(method.name);
  }
  return names;
}

}  // namespace wisecrowd
