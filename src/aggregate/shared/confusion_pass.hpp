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
/// (the sums that an M-step needs). Posteriors are not stored unless asked for, so a sweep reads 4 bytes per answer
/// plus the tables.
///
/// Rows. Everything about worker j and label l stands in one row of `stride()` numbers, one per truth class:
/// row (j,l)[k] belongs to th_j[k][l]. Rows are padded so that a row is a whole number of vectors; the padding never matters.
///
/// Counts are fixed-point integers. Integer addition is exact and order-free, so each thread adds into a table of its own
/// and the sum has the same bits for any number of threads, at 2^-52 or (for workers with very many answers) a
/// little less of resolution; see fraction_bits().
class ConfusionPass {
 public:
  ConfusionPass(const Dataset& data, const RunContext& context, double gold_weight = 1.0);

  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
  [[nodiscard]] std::size_t class_count() const noexcept { return classes_; }
  [[nodiscard]] std::size_t worker_count() const noexcept { return workers_; }
  [[nodiscard]] int fraction_bits() const noexcept { return fraction_bits_; }

  /// log P(label | truth) of worker j for label l, over truth classes; written by the M-step.
  [[nodiscard]] double* log_row(std::size_t worker, std::size_t label) noexcept {
    return log_table_.data() + (worker * classes_ + label) * stride_;
  }
  [[nodiscard]] const double* log_row(std::size_t worker, std::size_t label) const noexcept {
    return log_table_.data() + (worker * classes_ + label) * stride_;
  }
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
  std::size_t tables_;  // count tables, one per thread that sweeps
  double gold_weight_;
  int fraction_bits_;
  bool prefetch_;

  HugeVector<std::uint32_t> rows_;  // per answer, worker * classes + label
  HugeVector<double> log_table_;
  std::vector<HugeVector<std::int64_t>> count_tables_;
  std::vector<double> log_prior_;
  HugeVector<double> log_task_priors_;
};

}  // namespace wisecrowd
