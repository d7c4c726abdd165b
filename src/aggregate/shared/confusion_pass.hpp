#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_vector.hpp"
#include "wisecrowd/dataset.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// The inner loop of every method whose workers are confusion tables: one sweep over the answers that turns log tables
/// into task posteriors (E-step) and, in the same breath, adds each posterior to the counts of the workers who answered
/// (the sums that an M-step needs). Posteriors are not stored unless asked for, so a sweep streams 4 bytes per answer
/// and is otherwise bound by the random accesses to the tables.
///
/// Tables. Everything about worker j and label l stands in one row: log th_j[k][l] for every truth class k, then the
/// counts n_jkl. A sweep reads the first half and, a few dozen tasks later, adds to the second, so an answer costs one
/// cache miss instead of two. Rows are padded to an even number of classes; the padding never matters.
///
/// Counts are fixed-point integers. Integer addition is exact and order-free, so each thread works on a table of its
/// own and the sum has the same bits for any number of threads. The resolution is 2^-52 of an answer, or a little less
/// if some worker has very many answers (fraction_bits()).
class ConfusionPass {
 public:
  ConfusionPass(const Dataset& data, const RunContext& context, double gold_weight = 1.0);

  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
  [[nodiscard]] std::size_t class_count() const noexcept { return classes_; }
  [[nodiscard]] std::size_t worker_count() const noexcept { return workers_; }
  [[nodiscard]] bool has_task_priors() const noexcept { return !log_task_priors_.empty(); }
  [[nodiscard]] int fraction_bits() const noexcept { return fraction_bits_; }

  /// log P(label | truth) of one worker, labels × stride (truth); from the M-step.
  void set_log_rows(std::size_t worker, const double* log_rows) noexcept;
  void log_rows(std::size_t worker, double* out) const noexcept;
  /// log of the class prior; ignored for tasks with a prior of their own.
  void set_log_prior(std::span<const double> log_prior);

  // ---- one sweep ------------------------------------------------------------------------------------------------
  struct Sums {
    /// Σ_i log Σ_k r_ik Π_j th_j[k][y_ij]; gold tasks contribute their own term alone, times the gold weight.
    double log_likelihood = 0;
    std::vector<double> class_mass;  ///< Σ_i q_ik over answered tasks
    double answered_tasks = 0;       ///< Σ_k class_mass, gold tasks weighted
  };
  /// Posteriors from the log tables. `posterior` (tasks × classes) is filled if given; counts are added if `count`.
  Sums sweep(bool count, std::span<double> posterior = {});
  /// Counts from vote fractions instead of posteriors (gold pinned): the usual start.
  Sums sweep_votes();
  /// Counts from posteriors that the caller has (tasks × classes; gold is pinned).
  Sums sweep_given(std::span<const double> posterior);

  /// Expected counts n_jkl of one worker, laid out as rows (label) × stride (truth); summed over threads.
  void counts(std::size_t worker, double* out) const noexcept;
  /// The same, and sets them to zero for the next sweep.
  void take_counts(std::size_t worker, double* out) noexcept;

 private:
  enum class Source { tables, votes, given };
  struct BlockSums;
  template <std::size_t Stride>
  void process_block(Source source, bool count, std::size_t block, unsigned thread, const double* given,
                     double* posterior, BlockSums& sums);
  Sums run(Source source, bool count, const double* given, double* posterior);

  const Dataset& data_;
  const RunContext& context_;
  std::size_t tasks_;
  std::size_t workers_;
  std::size_t classes_;
  std::size_t stride_;
  double gold_weight_;
  int fraction_bits_;
  bool prefetch_;

  HugeVector<std::uint32_t> rows_;  // per answer, worker * classes + label
  std::vector<HugeVector<double>>
      tables_;  // one per sweeping thread: rows of stride logs, then stride counts (int64 bits)
  std::vector<double> log_prior_;
  HugeVector<double> log_task_priors_;
};

}  // namespace wisecrowd
