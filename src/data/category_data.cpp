#include "wisecrowd/category_data.hpp"

#include <fmt/core.h>

#include <cmath>

#include "wisecrowd/error.hpp"

namespace wisecrowd {

void validate(const CategoryData& data) {
  const std::size_t tasks = data.answers.task_count();
  const std::size_t classes = data.answers.class_count();
  if (!data.gold.empty() && data.gold.size() != tasks) {
    throw Error(ErrorCode::bad_input, fmt::format("gold has {} entries for {} tasks: give one per task, kNoClass where "
                                                  "the truth is unknown",
                                                  data.gold.size(), tasks));
  }
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (data.gold[t] != kNoClass && index(data.gold[t]) >= classes) {
      throw Error(ErrorCode::bad_input, fmt::format("gold of task '{}' is class {}, but there are only {} classes",
                                                    data.answers.task_names()[t], index(data.gold[t]), classes));
    }
  }
  if (!data.worker_groups.empty() && data.worker_groups.size() != data.answers.worker_count()) {
    throw Error(ErrorCode::bad_input, fmt::format("groups have {} entries for {} workers: give one per worker",
                                                  data.worker_groups.size(), data.answers.worker_count()));
  }
  for (const WorkerId worker : data.trusted) {
    if (index(worker) >= data.answers.worker_count()) {
      throw Error(ErrorCode::bad_input, fmt::format("worker {} is trusted, but there are only {} workers",
                                                    index(worker), data.answers.worker_count()));
    }
  }
  if (data.task_priors.empty()) return;
  if (data.task_priors.size() != tasks * classes) {
    throw Error(ErrorCode::bad_input, fmt::format("task priors have {} numbers; {} tasks × {} classes need {}",
                                                  data.task_priors.size(), tasks, classes, tasks * classes));
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    double sum = 0;
    bool in_range = true;
    for (std::size_t k = 0; k < classes; ++k) {
      const double p = data.task_priors[t * classes + k];
      in_range = in_range && p >= 0 && p <= 1;
      sum += p;
    }
    if (!in_range || std::abs(sum - 1) > 1e-6) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("prior of task '{}' sums to {}: each row must be probabilities that sum to 1",
                              data.answers.task_names()[t], sum));
    }
  }
}

}  // namespace wisecrowd
