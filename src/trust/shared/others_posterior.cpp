#include "trust/shared/others_posterior.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::trust {
namespace {

constexpr std::size_t kTasksPerBlock = 4096;

}  // namespace

OthersPosterior::OthersPosterior(const JudgedCrowd& crowd, std::span<const double> shares, const RunContext& context)
    : crowd_(crowd), classes_(shares.size()) {
  const CategoryAnswers& answers = crowd.answers;
  if (!crowd.groups.empty()) {
    group_.assign(answers.worker_count(), kAlone);
    for (std::uint32_t g = 0; g < crowd.groups.size(); ++g) {
      for (const WorkerId worker : crowd.groups[g].workers) group_[index(worker)] = g;
    }
  }
  const auto offsets = answers.task_offsets();
  const auto who = answers.workers();
  joint_.resize(answers.task_count() * classes_);
  const Blocks tasks{answers.task_count(), kTasksPerBlock};
  context.pool().for_each_block(tasks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> members(crowd.groups.size(), 0);  // of each group at the task
    for (std::size_t t = tasks.begin(block); t < tasks.end(block); ++t) {
      const std::span joint(joint_.data() + t * classes_, classes_);
      for (std::size_t k = 0; k < classes_; ++k) joint[k] = math::log(std::max(shares[k], kLeastCell));
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        if (one_voice(who[a])) members[group_[index(who[a])]] += 1;
      }
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        const double weight = one_voice(who[a]) ? 1 / members[group_[index(who[a])]] : 1;
        for (std::size_t k = 0; k < classes_; ++k) joint[k] += weight * said(a, k);
      }
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        if (one_voice(who[a])) members[group_[index(who[a])]] = 0;
      }
    }
  });
}

double OthersPosterior::said(AnswerIndex answer, std::size_t k) const {
  const std::size_t row = index(crowd_.answers.workers()[answer]) * classes_ + k;
  return math::log(std::max(crowd_.tables[row * classes_ + index(crowd_.answers.labels()[answer])], kLeastCell));
}

bool OthersPosterior::one_voice(WorkerId worker) const {
  return !group_.empty() && group_[index(worker)] != kAlone && crowd_.groups[group_[index(worker)]].acted_on;
}

void OthersPosterior::without(TaskId task, AnswerIndex answer, std::span<double> q) const {
  if (!crowd_.gold.empty() && crowd_.gold[index(task)] != kNoClass) {
    std::fill(q.begin(), q.end(), 0.0);
    q[index(crowd_.gold[index(task)])] = 1;
    return;
  }
  const WorkerId worker = crowd_.answers.workers()[answer];
  const std::uint32_t own = group_.empty() ? kAlone : group_[index(worker)];
  std::copy_n(joint_.begin() + static_cast<std::ptrdiff_t>(index(task) * classes_), classes_, q.begin());
  if (own == kAlone) {
    for (std::size_t k = 0; k < classes_; ++k) q[k] -= said(answer, k);
  } else {
    const auto offsets = crowd_.answers.task_offsets();
    const auto workers = crowd_.answers.workers_of(task);
    const auto fellows =
        std::count_if(workers.begin(), workers.end(), [&](WorkerId other) { return group_[index(other)] == own; });
    const double weight = one_voice(worker) ? 1 / static_cast<double>(fellows) : 1;
    for (AnswerIndex a = offsets[index(task)]; a < offsets[index(task) + 1]; ++a) {
      if (group_[index(crowd_.answers.workers()[a])] != own) continue;
      for (std::size_t k = 0; k < classes_; ++k) q[k] -= weight * said(a, k);
    }
  }
  softmax(q);
}

std::size_t OthersPosterior::label(TaskId task) const {
  if (!crowd_.gold.empty() && crowd_.gold[index(task)] != kNoClass) return index(crowd_.gold[index(task)]);
  const auto row = joint_.begin() + static_cast<std::ptrdiff_t>(index(task) * classes_);
  return static_cast<std::size_t>(std::max_element(row, row + static_cast<std::ptrdiff_t>(classes_)) - row);
}

}  // namespace wisecrowd::trust
