#include "evaluate/components.hpp"

#include <numeric>
#include <tuple>
#include <vector>

namespace wisecrowd {
namespace {

/// Union–find over workers only: a task joins its workers, and then belongs to the part of any of them.
class WorkerSets {
 public:
  explicit WorkerSets(std::size_t workers) : parent_(workers), size_(workers, 1) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  [[nodiscard]] std::uint32_t find(std::uint32_t worker) noexcept {
    while (parent_[worker] != worker) {
      parent_[worker] = parent_[parent_[worker]];
      worker = parent_[worker];
    }
    return worker;
  }
  void join(std::uint32_t one, std::uint32_t two) noexcept {
    one = find(one);
    two = find(two);
    if (one == two) return;
    if (size_[one] < size_[two]) std::swap(one, two);
    parent_[two] = one;
    size_[one] += size_[two];
  }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> size_;
};

}  // namespace

Components connected_components(const Annotations& answers) {
  const auto offsets = answers.task_offsets();
  const auto workers = answers.workers();
  WorkerSets sets(answers.worker_count());
  std::vector<bool> spoke(answers.worker_count(), false);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      spoke[index(workers[a])] = true;
      if (a > offsets[t]) sets.join(static_cast<std::uint32_t>(workers[a - 1]), static_cast<std::uint32_t>(workers[a]));
    }
  }
  std::vector<std::size_t> tasks(answers.worker_count(), 0);
  std::vector<std::size_t> members(answers.worker_count(), 0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (offsets[t + 1] > offsets[t]) ++tasks[sets.find(static_cast<std::uint32_t>(workers[offsets[t]]))];
  }
  for (std::uint32_t w = 0; w < spoke.size(); ++w) {
    if (spoke[w]) ++members[sets.find(w)];
  }
  Components result;
  for (std::size_t w = 0; w < members.size(); ++w) {
    if (members[w] == 0) continue;
    ++result.count;
    if (std::tie(tasks[w], members[w]) > std::tie(result.largest_tasks, result.largest_workers)) {
      result.largest_tasks = tasks[w];
      result.largest_workers = members[w];
    }
  }
  return result;
}

}  // namespace wisecrowd
