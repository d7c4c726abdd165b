#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "wisecrowd/select.hpp"

namespace wisecrowd::selecting {

/// The score of a task; higher is asked first.
using TaskScore = std::function<double(const CrowdView& crowd, std::size_t task)>;

/// A selector that looks at tasks alone and leaves the worker to a rule (its parameter `worker`).
[[nodiscard]] std::unique_ptr<Selector> task_first(const Parameters& parameters, TaskScore score);
/// The same where the posterior alone decides.
[[nodiscard]] std::unique_ptr<Selector> task_first(const Parameters& parameters,
                                                   double (*score)(std::span<const double> posterior));
/// What it reads: the worker rule, and the limits of a batch.
[[nodiscard]] std::vector<ParameterSpec> one_sided_parameters(const std::string& usual_worker, std::size_t per_task);

/// The probabilities of task `task` in pass `pass`.
[[nodiscard]] inline std::span<const double> pass_of(const CrowdView& crowd, std::size_t pass, std::size_t task) {
  return crowd.passes.subspan((pass * crowd.task_count() + task) * crowd.class_count, crowd.class_count);
}
/// The mean over the passes.
[[nodiscard]] std::vector<double> mean_pass(const CrowdView& crowd, std::size_t task);

}  // namespace wisecrowd::selecting
