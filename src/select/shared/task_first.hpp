#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "select/shared/picker.hpp"
#include "select/shared/selector_entry.hpp"

namespace wisecrowd::selecting {

/// The score of a task; higher is asked first.
using TaskScore = std::function<double(const CrowdView& crowd, TaskId task)>;

struct TaskFirstOptions {
  WorkerRuleOptions worker{.rule = WorkerRule::information};
  PickLimits limits;
};
/// The worker rule, and the limits of a batch.
void task_first_parameters(ParameterVisitor& v, TaskFirstOptions& options);

/// Tasks in the order of their scores, each with the worker whom the rule prefers.
[[nodiscard]] Selection pick_by_score(const CrowdView& crowd, const SelectionRequest& request, const TaskScore& score,
                                      const TaskFirstOptions& options, const RunContext& context);

/// A selector that looks at tasks alone and leaves the worker to a rule (its parameter `worker`). `score` is a function
/// of the crowd and a task, or of the posterior where that alone decides.
template <auto score>
class TaskFirst final : public Selector {
 public:
  explicit TaskFirst(const TaskFirstOptions& options) : options_(options) {}

  [[nodiscard]] Selection choose(const CrowdView& crowd, const SelectionRequest& request,
                                 const RunContext& context) const override {
    const auto score_of = [](const CrowdView& view, TaskId task) {
      if constexpr (std::is_invocable_v<decltype(score), std::span<const double>>) {
        return score(view.posterior_of(task));
      } else {
        return score(view, task);
      }
    };
    return pick_by_score(crowd, request, score_of, options_, context);
  }

 private:
  TaskFirstOptions options_;
};

/// The probabilities of task `task` in pass `pass`.
[[nodiscard]] inline std::span<const double> pass_of(const CrowdView& crowd, std::size_t pass, TaskId task) {
  return crowd.passes.subspan((pass * crowd.task_count() + index(task)) * crowd.class_count, crowd.class_count);
}
/// The mean over the passes.
[[nodiscard]] std::vector<double> mean_pass(const CrowdView& crowd, TaskId task);

}  // namespace wisecrowd::selecting
