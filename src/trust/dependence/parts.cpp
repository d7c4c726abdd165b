#include "trust/dependence/parts.hpp"

#include <algorithm>
#include <numeric>

#include "base/disjoint_sets.hpp"
#include "trust/shared/pair_dependence.hpp"

namespace wisecrowd::trust {
namespace {

/// Ids by the part that they belong to; `begin` has one entry more than there are parts. kNobody: in none.
constexpr std::uint32_t kNobody = ~std::uint32_t{0};
std::vector<std::uint32_t> sorted_by(const std::vector<std::uint32_t>& part_of, std::size_t parts,
                                     std::vector<std::size_t>& begin) {
  begin.assign(parts + 1, 0);
  for (const std::uint32_t part : part_of) {
    if (part != kNobody) ++begin[part + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::size_t> next(begin);
  std::vector<std::uint32_t> sorted(begin.back());
  for (std::uint32_t id = 0; id < part_of.size(); ++id) {
    if (part_of[id] != kNobody) sorted[next[part_of[id]]++] = id;
  }
  return sorted;
}

/// Ids are enough inside of a part.
NameTable nameless(std::size_t count) { return NameTable(std::string(), std::vector<std::uint64_t>(count + 1, 0)); }

}  // namespace

CrowdParts::CrowdParts(const CategoryData& data) : data_(data) {
  const CategoryAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  const auto who = answers.workers();
  DisjointSets sets(answers.worker_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t] + 1; a < offsets[t + 1]; ++a) {
      sets.join(static_cast<std::uint32_t>(index(who[a - 1])), static_cast<std::uint32_t>(index(who[a])));
    }
  }
  std::vector<std::uint32_t> number(answers.worker_count(), kNobody), of_worker(answers.worker_count(), kNobody),
      of_task(answers.task_count(), kNobody);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (offsets[t] == offsets[t + 1]) continue;
    std::uint32_t& part = number[sets.find(static_cast<std::uint32_t>(index(who[offsets[t]])))];
    if (part == kNobody) part = static_cast<std::uint32_t>(parts_++);
    of_task[t] = part;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) of_worker[index(who[a])] = part;
  }
  if (whole()) return;
  for (std::size_t t = 0; t < answers.task_count(); ++t) pairs_of_answers_ += pairs_at(t);
  std::vector<std::size_t> tasks, workers;
  tasks_ = sorted_by(of_task, parts_, tasks);
  workers_ = sorted_by(of_worker, parts_, workers);
  for (std::size_t p = 0; p < parts_; ++p) {
    const auto size = static_cast<double>(workers[p + 1] - workers[p]);
    pairs_of_workers_ += size * (size - 1) / 2;
    if (size < 2 || static_cast<double>(tasks[p + 1] - tasks[p]) < kLeastCommon) continue;
    worth_.push_back({tasks[p], tasks[p + 1], workers[p], workers[p + 1]});
  }
}

std::size_t CrowdParts::answers(std::size_t n) const {
  std::size_t sum = 0;
  for (std::size_t t = worth_[n].task_begin; t < worth_[n].task_end; ++t) {
    sum += data_.answers.workers_of(TaskId{tasks_[t]}).size();
  }
  return sum;
}

double CrowdParts::pairs_at(std::size_t task) const {
  const auto count = static_cast<double>(data_.answers.workers_of(TaskId(static_cast<std::uint32_t>(task))).size());
  return count * (count - 1) / 2;
}

double CrowdParts::share(std::size_t n) const {
  double pairs = 0;
  for (std::size_t t = worth_[n].task_begin; t < worth_[n].task_end; ++t) pairs += pairs_at(tasks_[t]);
  return std::max(pairs / std::max(pairs_of_answers_, 1.0),
                  static_cast<double>(answers(n)) / static_cast<double>(data_.answers.answer_count()));
}

CrowdPart CrowdParts::part(std::size_t n) const {
  const Place& place = worth_[n];
  CrowdPart part;
  part.tasks.assign(tasks_.begin() + static_cast<std::ptrdiff_t>(place.task_begin),
                    tasks_.begin() + static_cast<std::ptrdiff_t>(place.task_end));
  part.workers.assign(workers_.begin() + static_cast<std::ptrdiff_t>(place.worker_begin),
                      workers_.begin() + static_cast<std::ptrdiff_t>(place.worker_end));
  const auto own_id = [&](WorkerId worker) {
    const auto at = std::lower_bound(part.workers.begin(), part.workers.end(), index(worker));
    return WorkerId{static_cast<std::uint32_t>(at - part.workers.begin())};
  };
  std::vector<CategoryAnswer> answers;
  for (std::uint32_t t = 0; t < part.tasks.size(); ++t) {
    const auto who = data_.answers.workers_of(TaskId{part.tasks[t]});
    const auto labels = data_.answers.labels_of(TaskId{part.tasks[t]});
    for (std::size_t a = 0; a < who.size(); ++a) answers.push_back({TaskId{t}, own_id(who[a]), labels[a]});
    if (data_.has_gold()) part.data.gold.push_back(data_.gold[part.tasks[t]]);
  }
  for (const WorkerId worker : data_.trusted) {
    const WorkerId own = own_id(worker);
    if (index(own) < part.workers.size() && part.workers[index(own)] == index(worker)) part.data.trusted.push_back(own);
  }
  part.data.answers = make_category_answers(
      answers, {nameless(part.tasks.size()), nameless(part.workers.size()), data_.answers.class_names()},
      DuplicatePolicy::repeat);
  return part;
}

}  // namespace wisecrowd::trust
