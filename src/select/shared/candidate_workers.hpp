#pragma once

#include <vector>

#include "select/shared/pair_rule.hpp"

namespace wisecrowd::selecting {

/// Who can still be asked in this batch, and who is best for a task.
///
/// Where everybody can be asked on everything, looking at all workers for every task would take tasks × workers steps.
/// Instead a few typical posteriors are chosen among those of the tasks, all workers are ranked once for each of them,
/// and a task looks at the best of the ranking nearest to it, exactly. Workers who are used up leave the rankings,
/// which are made again when they run dry.
class CandidateWorkers {
 public:
  /// `per_worker`: at most so many pairs of this batch for one worker.
  CandidateWorkers(const PairRule& rule, std::size_t per_worker, const RunContext& context);

  struct Best {
    bool found = false;
    WorkerId worker{};
    double value = 0;
    double tie_break = 0;  ///< settles equal values
  };
  /// The best worker for a task, or nobody. `taken` are workers whom this batch asks on the task already.
  /// May be called from several threads between two calls of take().
  [[nodiscard]] Best best(TaskId task, std::span<const double> posterior, std::span<const WorkerId> taken) const;
  /// Any of those who can be asked, all alike.
  [[nodiscard]] Best anyone(TaskId task, std::size_t turn, std::span<const WorkerId> taken) const;
  [[nodiscard]] bool allowed(TaskId task, WorkerId worker, std::span<const WorkerId> taken) const;
  /// How many can be asked on a task, not counting those of this batch.
  [[nodiscard]] std::size_t choices(TaskId task) const;

  /// One pair goes to this worker. True when the worker is used up by it.
  bool take(WorkerId worker);
  [[nodiscard]] bool open(WorkerId worker) const noexcept { return left_[index(worker)] > 0; }
  /// Ranks the workers who are left again, if a ranking has become short. Call it after take() said true.
  void refresh();

 private:
  struct Ranking {
    std::vector<double> posterior;  // a typical one
    std::vector<WorkerId> workers;  // the best for it, the best first
  };
  void choose_typical();
  void rank_all();
  [[nodiscard]] const Ranking& nearest(std::span<const double> posterior) const;

  const PairRule& rule_;
  const CrowdView& crowd_;
  const RunContext& context_;
  std::vector<std::uint32_t> left_;  // pairs that a worker may still get
  std::vector<WorkerId> open_;       // workers with left_ > 0 when ranked last
  std::size_t open_count_ = 0;
  std::vector<Ranking> rankings_;
};

}  // namespace wisecrowd::selecting
