#pragma once

#include <algorithm>
#include <vector>

#include "wisecrowd/fairness.hpp"

namespace wisecrowd::fairness {

/// The truth as measures see it: gold where at least two groups have any, else what the posterior expects.
class Truth {
 public:
  Truth(const LabelledTasks& tasks, const TaskGroups& groups) : tasks_(tasks) {
    std::vector<char> has_gold(groups.count(), 0);
    for (std::size_t t = 0; t < tasks.gold.size(); ++t) {
      if (tasks.gold[t] != kNoClass && groups.of_task[t] != kNoGroup) has_gold[index(groups.of_task[t])] = 1;
    }
    by_gold_ = std::count(has_gold.begin(), has_gold.end(), 1) >= 2 || tasks.posterior.empty();
  }
  [[nodiscard]] bool by_gold() const noexcept { return by_gold_; }
  /// Whether the task counts at all.
  [[nodiscard]] bool known(std::size_t task) const {
    return !by_gold_ || (!tasks_.gold.empty() && tasks_.gold[task] != kNoClass);
  }
  [[nodiscard]] double probability(std::size_t task, ClassId k) const {
    if (by_gold_) return tasks_.gold[task] == k ? 1 : 0;
    return tasks_.posterior[task * tasks_.class_count + index(k)];
  }

 private:
  const LabelledTasks& tasks_;
  bool by_gold_;
};

}  // namespace wisecrowd::fairness
