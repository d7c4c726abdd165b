#pragma once

#include <functional>
#include <vector>

#include "select/shared/pair_rule.hpp"

namespace wisecrowd::selecting {

/// When to leave a task alone, and how to spread a batch.
struct PickLimits {
  double delta = 0;            ///< a task is settled when its likeliest class has at least 1 − delta; 0: never
  double power = 0;            ///< at which posteriors are compared with delta; 0: the believable one (believable.hpp)
  double least_gain = 0;       ///< nats per cost that an answer must be worth
  std::size_t per_task = 1;    ///< pairs of one batch for one task; 0: any number
  std::size_t per_worker = 0;  ///< pairs of one batch for one worker; 0: any number
  double spread = 0;           ///< or so many times the even share of a batch; 0: any number
};

/// Parameters that all selectors share: limits of a batch and of a task.
void limit_parameters(ParameterVisitor& v, PickLimits& limits);

/// In which order tasks are asked.
struct TaskOrder {
  enum class Kind {
    scores,  ///< by their scores, each in turn once, then again, …
    lots,    ///< as if all pairs that can be asked were shuffled
    pairs,   ///< by the value of their best pair
  };
  Kind kind = Kind::pairs;
  std::vector<double> scores;        ///< per task, for Kind::scores
  std::vector<std::uint32_t> rooms;  ///< per task: pairs of this batch at most; empty: PickLimits::per_task for all
};

/// Makes a batch: tasks in order, each with the worker whom the rule prefers. For Kind::pairs it is greedy over all
/// pairs: after each choice, what is left is worth what it is worth then (a second pair of the same task is valued by
/// the information that it adds to the first one, whose answer is not known yet).
/// `posterior` is what gains are computed from: that of the view, or a tempered one.
[[nodiscard]] Selection pick(const PairRule& rule, std::span<const double> posterior, const TaskOrder& order,
                             const PickLimits& limits, const RunContext& context);

}  // namespace wisecrowd::selecting
