#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_vector.hpp"
#include "wisecrowd/ids.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd {

// Who answers which task: the observation model. Every task gets exactly size.answers_per_task distinct workers, but
// for assign_by_chance.

/// Tasks for training and those whose answers are kept apart are assigned one after the other; each has its own
/// streams, so that neither depends on how many there are of the other.
enum class TaskPart : std::uint64_t { train = 0, held_out = 1 };

/// The parameters that choose it; kinds list them among their own.
[[nodiscard]] std::vector<ParameterSpec> assignment_parameters();

/// Throws bad_parameter when tasks × answers per task cannot be divided evenly among the workers.
void check_regular(const SimulationSize& size);

/// Each task gets its workers with equal probability, in time linear in the number of answers.
/// Fills `workers` (tasks × answers_per_task), sorted within each task. False when cancelled; likewise below.
[[nodiscard]] bool assign_uniformly(const SimulationSize& size, const RunContext& context, std::span<WorkerId> workers,
                                    TaskPart part = TaskPart::train);

/// The worker of activity rank r (ranks are random) is drawn with weight r^−exponent, without replacement within a
/// task.
[[nodiscard]] bool assign_by_power_law(const SimulationSize& size, double exponent, const RunContext& context,
                                       std::span<WorkerId> workers, TaskPart part = TaskPart::train);

/// (l, r)-regular: every task has l = answers_per_task workers and every worker exactly r tasks, N·l = M·r; where that
/// cannot be divided, some workers have one task less than others. Configuration model, then repeated pairs are swapped
/// away.
[[nodiscard]] bool assign_regularly(const SimulationSize& size, const RunContext& context, std::span<WorkerId> workers,
                                    TaskPart part = TaskPart::train);

/// Every worker answers every task with the same probability, independently: tasks have different numbers of workers,
/// some have none. Time is linear in the number of answers.
struct ChanceAssignment {
  std::vector<std::uint32_t> counts;  ///< workers of each task
  HugeVector<WorkerId> workers;       ///< in task order, sorted within each task
};
[[nodiscard]] bool assign_by_chance(const SimulationSize& size, double probability, const RunContext& context,
                                    ChanceAssignment& out, TaskPart part = TaskPart::train);

}  // namespace wisecrowd
