#pragma once

#include <span>
#include <vector>

#include "wisecrowd/ids.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd {

// Who answers which task: the observation model. Every task gets exactly size.answers_per_task distinct workers.

/// The parameters that choose it; kinds list them among their own.
[[nodiscard]] std::vector<ParameterSpec> assignment_parameters();

/// Throws bad_parameter when tasks × answers per task cannot be divided evenly among the workers.
void check_regular(const SimulationSize& size);

/// Each task gets its workers with equal probability, in time linear in the number of answers.
/// Fills `workers` (tasks × answers_per_task), sorted within each task. False when cancelled; likewise below.
[[nodiscard]] bool assign_uniformly(const SimulationSize& size, const RunContext& context, std::span<WorkerId> workers);

/// The worker of activity rank r (ranks are random) is drawn with weight r^−exponent, without replacement within a
/// task.
[[nodiscard]] bool assign_by_power_law(const SimulationSize& size, double exponent, const RunContext& context,
                                       std::span<WorkerId> workers);

/// (l, r)-regular: every task has l = answers_per_task workers and every worker exactly r tasks, N·l = M·r.
/// Configuration model, then repeated pairs are swapped away.
[[nodiscard]] bool assign_regularly(const SimulationSize& size, const RunContext& context, std::span<WorkerId> workers);

}  // namespace wisecrowd
