#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/ids.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {

/// Dawid and Skene's model with a prior that every worker starts from.
struct IncrementalOptions {
  enum class Update {
    incremental,  ///< exact: a task's old share of every count is replaced by its new one
    stochastic,   ///< running means: only the answering worker's table moves, by a step that shrinks
  };
  Update update = Update::incremental;
  TablePrior prior;
  bool learned_class_prior = true;
  double class_pseudo_count = 1;  ///< tasks added to every class
  double least_change = 0;        ///< a posterior that moves by no more than this stays as it is
  double step_exponent = 0.6;     ///< stochastic: the n-th answer of a worker moves its mean by n^-exponent …
  double memory = 0;              ///< … but by no less than 1/memory, which forgets what is older; 0: never forgets
};

/// A crowd in memory, or the part of it that some answers touch, whose estimates follow every new answer.
///
/// The counts of all workers are at any moment the sums of the posteriors as they stand (incremental mode), so sweeping
/// over the tasks until nothing moves gives the fixed point of batch EM with the same smoothing.
class IncrementalCrowd {
 public:
  IncrementalCrowd(std::size_t classes, const IncrementalOptions& options);

  // What is there at the start; all of it may grow at any time.
  /// A new class grows every table and posterior by zeros; the prior is spread over one class more.
  ClassId add_class();
  WorkerId add_worker();
  /// With what is known of it: expected counts (truth × label, without the prior) and how many answers it gave.
  WorkerId add_worker(std::span<const double> counts, std::uint64_t answers);
  TaskId add_task();
  /// With a posterior that earlier answers have led to and that the counts already hold.
  TaskId add_task(std::span<const double> posterior);
  /// An earlier answer that the counts already hold.
  void add_known_answer(TaskId task, WorkerId worker, ClassId label);
  /// Expected tasks per class, and how many answers there are in all, if this is a part of a larger crowd.
  void set_totals(std::span<const double> class_mass, double answered_tasks, std::uint64_t answers);

  /// The truth of a task is known: from its next estimate() on, its posterior is certain, whatever the answers say.
  void pin(TaskId task, ClassId truth);

  /// A new answer; it is absorbed by the next estimate() of its task.
  void add_answer(TaskId task, WorkerId worker, ClassId label);
  /// A worker thinks better of it: the latest answer of that worker to the task is replaced.
  void replace_answer(TaskId task, WorkerId worker, ClassId label);

  /// The latest answer of that worker to the task is taken back. In incremental mode it leaves no trace once its task
  /// is estimated anew; running means cannot forget it.
  void withdraw_answer(TaskId task, WorkerId worker);

  /// Computes the posterior of a task from the tables as they are, and moves the counts accordingly. Returns the
  /// largest change of a probability.
  double estimate(TaskId task);
  /// Every task once, in order. Returns the largest change.
  double sweep();
  /// Sweeps until no probability moves by more than `tolerance`.
  Status converge(std::size_t max_sweeps, double tolerance, const RunContext& context);
  /// The posterior of a task by the tables as they are, from the answers that the counts hold already; changes nothing.
  void posterior_from_counts(TaskId task, std::span<double> posterior) const;

  /// What all but this worker say of a task, by the tables as they are; its truth, if that is known.
  void posterior_without(TaskId task, WorkerId worker, std::span<double> posterior) const;

  [[nodiscard]] std::size_t class_count() const noexcept { return classes_; }
  [[nodiscard]] std::size_t task_count() const noexcept { return first_.size(); }
  [[nodiscard]] std::size_t worker_count() const noexcept { return answers_of_worker_.size(); }
  [[nodiscard]] std::span<const double> posterior_of(TaskId task) const noexcept {
    return std::span(posterior_).subspan(index(task) * classes_, classes_);
  }
  /// Truth × label, without the prior.
  [[nodiscard]] std::vector<double> counts_of(WorkerId worker) const;
  /// Truth × label, rows sum to 1.
  [[nodiscard]] std::vector<double> confusion_of(WorkerId worker) const;
  [[nodiscard]] std::uint64_t answers_of(WorkerId worker) const noexcept { return answers_of_worker_[index(worker)]; }
  [[nodiscard]] bool changed(WorkerId worker) const noexcept { return worker_changed_[index(worker)] != 0; }
  [[nodiscard]] std::span<const double> class_mass() const noexcept { return class_mass_; }
  [[nodiscard]] std::vector<double> class_prior() const;
  [[nodiscard]] double answered_tasks() const noexcept { return answered_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Edge {
    std::uint32_t worker;
    std::uint16_t label;
    bool counted;  // the counts hold its share
    std::uint32_t next;
  };
  void fill_prior(std::span<double> prior) const;
  void update_log_prior();
  /// Without the answers of `without`, and, if so wanted, without those that the counts do not hold yet.
  void posterior_by_tables(std::uint32_t task, bool counted_only, double* out, std::uint32_t without = kNone) const;
  void move_counts(const Edge& edge, const double* amount, double sign);
  void absorb_by_step(std::uint32_t task, Edge& edge);

  IncrementalOptions options_;
  std::size_t classes_;
  std::vector<double> counts_;      // workers × label × truth: what one answer touches is contiguous
  std::vector<double> row_totals_;  // workers × truth
  std::vector<std::uint64_t> answers_of_worker_;
  std::vector<std::uint8_t> worker_changed_;
  std::vector<double> posterior_;
  std::vector<ClassId> pinned_;        // per task: its known truth, or kNoClass
  std::vector<std::uint8_t> in_mass_;  // per task: it has a posterior that class_mass_ holds
  std::vector<std::uint32_t> first_;   // per task: its latest answer in edges_
  std::vector<Edge> edges_;
  std::vector<double> class_mass_;
  double answered_ = 0;
  std::uint64_t answers_ = 0;
  std::vector<double> log_prior_;
  mutable std::vector<double> scratch_;
};

}  // namespace wisecrowd
