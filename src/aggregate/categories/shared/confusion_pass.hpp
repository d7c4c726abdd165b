#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/huge_vector.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

template <class Value>
struct TaskBatch;

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
///
/// When the tables outgrow the caches and the tasks (many workers, many classes), writing counts at random costs more
/// than all the rest. Then the layout is `gathered`: posteriors are stored, and the counts of a block of workers are
/// gathered from the rows of their tasks, in the order of tasks. Both kinds of rows are in single precision there, one
/// cache line for up to 16 classes; long sums go on in double (confusion_pass_gathered.cpp).
class ConfusionPass {
 public:
  enum class Layout { automatic, scattered, gathered };

  ConfusionPass(const CategoryData& data, const RunContext& context, double gold_weight = 1.0,
                Layout layout = Layout::automatic);

  /// How a pass would lay out its tables, and what they take.
  struct Plan {
    bool gathered;
    double bytes;
  };
  [[nodiscard]] static Plan plan_for(std::size_t tasks, std::size_t workers, std::size_t classes, std::size_t threads);

  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
  [[nodiscard]] std::size_t class_count() const noexcept { return classes_; }
  [[nodiscard]] std::size_t worker_count() const noexcept { return workers_; }
  [[nodiscard]] bool has_task_priors() const noexcept { return !log_task_priors_.empty(); }
  [[nodiscard]] bool gathered() const noexcept { return gathered_; }
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

  /// Called with the expected counts n_jkl of one worker, rows (label) × stride (truth); free to overwrite them.
  using CountsVisitor = std::function<void(std::size_t block, std::size_t worker, double* counts)>;
  /// Visits all workers, from several threads: block by block, and within a block in order.
  void visit_counts(const CountsVisitor& visit) const;
  /// The same, and makes room for the next sweep.
  void take_counts(const CountsVisitor& visit);
  /// Until it is called with nothing, visitors see the counts that `read` gives for a worker instead of those of the
  /// last sweep.
  void read_counts_by(std::function<void(std::size_t worker, double* counts)> read) { read_counts_ = std::move(read); }
  [[nodiscard]] std::size_t worker_blocks() const noexcept { return first_worker_.size() - 1; }

 private:
  /// Tasks per block of work: fixed, because sums over blocks decide the bits of the objective.
  static constexpr std::size_t kTasksPerBlock = 4096;
  /// Tasks whose rows are kept in the first-level cache between the steps.
  static constexpr std::size_t kTasksPerBatch = 64;
  /// How many answers ahead the rows of large tables are requested.
  static constexpr std::size_t kPrefetchDistance = 24;
  /// log 0 for padding and impossible classes: exp_nonpositive turns any difference to it into exactly 0.
  static constexpr double kLogZero = -1e9;

  enum class Source { tables, votes, given };
  struct BlockSums {
    double log_likelihood = 0;
    double answered_tasks = 0;
    std::vector<double> class_mass;
  };
  template <std::size_t Stride>
  void process_block(Source source, bool count, std::size_t block, unsigned thread, const double* given,
                     double* posterior, BlockSums& sums);
  template <std::size_t Stride>
  void add_tables(TaskBatch<double> batch, const double* table) const;
  template <std::size_t Stride>
  void normalise_batch(TaskBatch<double> batch, double& log_likelihood) const;
  template <std::size_t Stride>
  void count_batch(TaskBatch<double> batch, double* table, BlockSums& sums) const;
  void process_lines(Source source, bool count, std::size_t block, const double* given, double* posterior,
                     BlockSums& sums);
  template <std::size_t Lines>
  void process_lines(Source source, bool count, std::size_t block, const double* given, double* posterior,
                     BlockSums& sums);
  void store_lines(std::size_t worker, const double* log_rows) noexcept;
  template <std::size_t Lines>
  void add_lines(std::size_t first, std::size_t last, float* values, double* top) const;
  template <std::size_t Lines>
  void normalise_lines(TaskBatch<float> batch, double& log_likelihood) const;
  template <std::size_t Lines>
  void count_lines(TaskBatch<float> batch, BlockSums& sums) const;
  void add_up(std::size_t worker, double* out) const noexcept;
  void gather_block(std::size_t block, double* counts, const CountsVisitor& visit) const;
  void lay_out_scattered(std::size_t rows);
  void lay_out_gathered(std::size_t rows);
  void lay_out_blocks();
  Sums run(Source source, bool count, const double* given, double* posterior);

  const CategoryData& data_;
  const RunContext& context_;
  std::size_t tasks_;
  std::size_t workers_;
  std::size_t classes_;
  std::size_t stride_;
  double gold_weight_;
  int fraction_bits_;
  bool prefetch_;

  std::vector<std::size_t> first_worker_;  // of each block of workers, and the end
  HugeVector<std::uint32_t> rows_;         // per answer, worker * classes + label
  std::vector<HugeVector<double>>
      tables_;  // one per sweeping thread: rows of stride logs, then stride counts (int64 bits)

  // Gathered layout.
  bool gathered_ = false;
  std::size_t line_stride_ = 0;   // floats per row: whole cache lines
  HugeVector<float> log_lines_;   // (worker, label) rows
  HugeVector<float> task_lines_;  // posteriors
  HugeVector<float> log_prior_line_;
  std::vector<std::size_t> first_answer_;  // of each block of workers, and the end
  HugeVector<std::uint32_t> block_tasks_;  // the answers of a block of workers, by task
  HugeVector<std::uint16_t> block_rows_;   // (worker, label), counted within the block

  std::function<void(std::size_t worker, double* counts)> read_counts_;
  std::vector<double> log_prior_;
  HugeVector<double> log_task_priors_;
};

}  // namespace wisecrowd
