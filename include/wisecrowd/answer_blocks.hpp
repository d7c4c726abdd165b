#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wisecrowd {

/// Whole tasks with their answers, as one of many machines has them: a task's answers are [offsets[i], offsets[i + 1]),
/// in an order that does not depend on who has it (worker, then label).
struct AnswerBlock {
  std::span<const std::uint32_t> offsets;  ///< tasks + 1
  std::span<const std::uint32_t> workers;  ///< per answer: a row of tables
  std::span<const std::uint16_t> labels;   ///< per answer
};

/// Expected counts in units of 2⁻³² of an answer, and the log likelihood in units of 2⁻²⁰. Integers add up to the same
/// sum whatever the order, so any partition of the tasks into blocks gives the same bits.
struct BlockSums {
  std::vector<std::int64_t> counts;      ///< workers × labels × truth
  std::vector<std::int64_t> class_mass;  ///< per class
  std::int64_t log_likelihood = 0;
  std::int64_t answered_tasks = 0;
};
inline constexpr double kCountUnit = 0x1p-32, kLogUnit = 0x1p-20;

/// Posteriors of the tasks of a block, added to the sums. `log_rows` (workers × labels × truth) and `log_prior` are the
/// logarithms of the model; empty, posteriors are shares of votes. `posterior`, if not empty, gets tasks × classes.
/// Throws bad_input for a worker or a label that is not there.
void add_block(const AnswerBlock& block, std::size_t classes, std::span<const double> log_rows,
               std::span<const double> log_prior, BlockSums& sums, std::span<double> posterior);

/// The M-step of dawid_skene (answers added to every cell, and to the diagonal) or of one_coin (right and wrong answers
/// added), from counts in units to log rows. Returns the part of the objective that belongs to them.
struct BlockModel {
  enum class Kind { confusion, one_accuracy };
  Kind kind = Kind::confusion;
  double first = 0, second = 0;
};
double update_rows(const BlockModel& model, std::size_t classes, std::span<const std::int64_t> counts,
                   std::span<double> log_rows);

}  // namespace wisecrowd
