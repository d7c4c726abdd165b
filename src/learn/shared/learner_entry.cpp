#include "learn/shared/learner_entry.hpp"

#include <fmt/core.h>

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

void require_learnable(const LearnerInfo& info, const LearningData& data) {
  validate(data);
  if (data.crowd.has_gold() && !info.uses_gold) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} cannot learn from known truth: keep it for evaluation", info.name));
  }
  if (info.max_classes != 0 && data.crowd.answers.class_count() > info.max_classes) {
    throw Error(ErrorCode::unsupported, fmt::format("{} works for at most {} classes; these data have {}", info.name,
                                                    info.max_classes, data.crowd.answers.class_count()));
  }
}

}  // namespace wisecrowd
