#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/ids.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// How far a worker's answers depend on the truth (Raykar and Yu): the mean squared distance of the rows of its table,
/// scaled to [0, 1]. 0 when all rows are equal, 1 for a worker who is always right or consistently swaps classes.
[[nodiscard]] double spammer_score(std::span<const double> table, std::size_t classes);

/// What a worker's answers could tell at most, in nats, and for which mix of truths (Blahut and Arimoto).
struct Capacity {
  double nats = 0;            ///< lower bound, within `gap` of the truth
  double gap = 0;             ///< upper minus lower bound when it stopped
  std::vector<double> input;  ///< the mix of truths that reaches it
};
[[nodiscard]] Capacity channel_capacity(std::span<const double> table, std::size_t classes, double tolerance = 1e-9,
                                        std::size_t max_iterations = 10000);

/// What to do with a worker.
enum class WorkerAdvice {
  keep,
  retrain,  ///< its answers tell something, but it takes one class for another as a rule
  stop,     ///< its answers hardly depend on the truth
  unsure,   ///< too few answers to say
};
[[nodiscard]] std::string_view to_string(WorkerAdvice advice) noexcept;

/// A number with an interval from draws of the worker's table.
struct DrawnEstimate {
  double value = 0, low = 0, high = 0;
};

struct WorkerJudgement {
  WorkerAdvice advice = WorkerAdvice::unsure;
  std::uint64_t answers = 0;
  DrawnEstimate accuracy;     ///< at the class shares
  DrawnEstimate score;        ///< spammer_score
  DrawnEstimate information;  ///< nats that one answer tells at the class shares
  double capacity = 0;        ///< nats, of the mean table
  /// retrain: which class is taken for which other.
  ClassId truth = kNoClass, said = kNoClass;
};

struct JudgeOptions {
  double spammer_below = 0.05;       ///< stop: the upper end of the score's interval is below this
  double confidence_level = 0.9;     ///< of the intervals
  double sure = 0.95;                ///< retrain: the probability that a row's largest cell is off the diagonal
  std::uint64_t least_answers = 10;  ///< unsure about workers with fewer
  std::size_t draws = 400;
};

/// Judges every worker from what is known of its table. `counts` are workers × truth × label Dirichlet parameters
/// (prior + expected counts).
[[nodiscard]] std::vector<WorkerJudgement> judge_workers(std::span<const double> counts,
                                                         std::span<const double> class_shares,
                                                         std::span<const std::uint32_t> answers,
                                                         const JudgeOptions& options, const RunContext& context);

}  // namespace wisecrowd
