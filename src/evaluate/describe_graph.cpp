#include <algorithm>

#include "evaluate/components.hpp"
#include "wisecrowd/evaluate.hpp"

namespace wisecrowd {
namespace {

/// Quantiles from how often each count occurs; `histogram[c]` tasks or workers have count c.
Distribution distribution_of(std::span<const std::uint64_t> histogram) {
  std::uint64_t members = 0;
  double sum = 0;
  for (std::size_t count = 0; count < histogram.size(); ++count) {
    members += histogram[count];
    sum += static_cast<double>(histogram[count]) * static_cast<double>(count);
  }
  if (members == 0) return {};
  /// The count of the member at `rank` when all are sorted.
  const auto at_rank = [&](std::uint64_t rank) {
    std::uint64_t below = 0;
    std::size_t count = 0;
    while ((below += histogram[count]) <= rank) ++count;
    return static_cast<double>(count);
  };
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(members - 1);
    const auto rank = static_cast<std::uint64_t>(place);
    const double lower = at_rank(rank);
    const double upper = at_rank(std::min(rank + 1, members - 1));
    return lower + (place - static_cast<double>(rank)) * (upper - lower);
  };
  return {.minimum = at_rank(0),
          .lower_quartile = quantile(0.25),
          .median = quantile(0.5),
          .mean = sum / static_cast<double>(members),
          .upper_quartile = quantile(0.75),
          .maximum = at_rank(members - 1)};
}

/// Adds one to histogram[count].
void add_count(std::vector<std::uint64_t>& histogram, std::size_t count) {
  if (histogram.size() <= count) histogram.resize(count + 1, 0);
  ++histogram[count];
}

}  // namespace

GraphDescription describe_graph(const AnswerGraph& answers) {
  GraphDescription description;
  description.tasks = answers.task_count();
  description.workers = answers.worker_count();
  description.answers = answers.answer_count();

  std::vector<std::uint64_t> by_task, by_worker;
  for (std::size_t t = 0; t < answers.task_count(); ++t) add_count(by_task, answers.workers_of(TaskId(t)).size());
  std::vector<std::uint32_t> given(answers.worker_count(), 0);
  for (const WorkerId w : answers.workers()) ++given[index(w)];
  for (const std::uint32_t count : given) add_count(by_worker, count);
  description.answers_per_task = distribution_of(by_task);
  description.answers_per_worker = distribution_of(by_worker);
  by_task.resize(std::max<std::size_t>(by_task.size(), 2), 0);
  by_worker.resize(std::max<std::size_t>(by_worker.size(), 3), 0);
  description.unanswered_tasks = by_task[0];
  description.single_answer_tasks = by_task[1];
  description.silent_workers = by_worker[0];
  description.workers_below_three_answers = by_worker[1] + by_worker[2];

  const Components components = connected_components(answers);
  description.components = components.count;
  description.largest_component_tasks = components.largest_tasks;
  description.largest_component_workers = components.largest_workers;
  return description;
}

}  // namespace wisecrowd
