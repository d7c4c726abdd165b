#include "evaluate/components.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/disjoint_sets.hpp"

namespace wisecrowd {
namespace {

/// Sizes by root; parts without workers stay empty. A task joins its workers, and then belongs to the part of any of
/// them.
std::vector<ComponentSize> sizes_by_root(const AnswerGraph& answers) {
  const auto offsets = answers.task_offsets();
  const auto workers = answers.workers();
  DisjointSets sets(answers.worker_count());
  std::vector<bool> spoke(answers.worker_count(), false);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      spoke[index(workers[a])] = true;
      if (a > offsets[t]) sets.join(static_cast<std::uint32_t>(workers[a - 1]), static_cast<std::uint32_t>(workers[a]));
    }
  }
  std::vector<ComponentSize> sizes(answers.worker_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (offsets[t + 1] == offsets[t]) continue;
    ComponentSize& part = sizes[sets.find(static_cast<std::uint32_t>(workers[offsets[t]]))];
    ++part.tasks;
    part.answers += offsets[t + 1] - offsets[t];
  }
  for (std::uint32_t w = 0; w < spoke.size(); ++w) {
    if (spoke[w]) ++sizes[sets.find(w)].workers;
  }
  return sizes;
}

}  // namespace

std::vector<ComponentSize> component_sizes(const AnswerGraph& answers, std::size_t most) {
  std::vector<ComponentSize> sizes = sizes_by_root(answers);
  std::erase_if(sizes, [](const ComponentSize& part) { return part.workers == 0; });
  std::stable_sort(sizes.begin(), sizes.end(), [](const ComponentSize& a, const ComponentSize& b) {
    return std::tie(a.tasks, a.workers) > std::tie(b.tasks, b.workers);
  });
  sizes.resize(std::min(sizes.size(), most));
  return sizes;
}

Components connected_components(const AnswerGraph& answers) {
  Components result;
  for (const ComponentSize& part : sizes_by_root(answers)) {
    if (part.workers == 0) continue;
    ++result.count;
    if (std::tie(part.tasks, part.workers) > std::tie(result.largest_tasks, result.largest_workers)) {
      result.largest_tasks = part.tasks;
      result.largest_workers = part.workers;
    }
  }
  return result;
}

}  // namespace wisecrowd
