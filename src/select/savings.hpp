#pragma once

#include <span>

#include "wisecrowd/replay.hpp"

namespace wisecrowd::selecting {

/// Where a curve first reaches a height, straight between its points; NaN when it does not.
[[nodiscard]] double first_crossing(std::span<const double> answers, std::span<const double> accuracy, double height);

/// Mean, interval over seeds (Student's t) and area of a curve whose by_seed and answers_by_seed are filled.
void summarise(ReplayCurve& curve, double confidence_level);

/// Savings of all curves against the first, with intervals by a bootstrap over seeds: the same seeds for all curves and
/// for the target, which each seed has of its own.
[[nodiscard]] std::vector<Saving> savings_of(std::span<const ReplayCurve> curves, std::span<const double> targets,
                                             const ReplayOptions& options, const RunContext& context);

}  // namespace wisecrowd::selecting
