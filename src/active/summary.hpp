#pragma once

#include "base/rng.hpp"
#include "wisecrowd/dalc_loop.hpp"

namespace wisecrowd::dalc_loop {

/// Means, areas and savings from what stands in the curves by seed; cuts the curves to the points that all have.
void summarise(DalcLoop& loop, Rng rng);

/// Where a curve first reaches a level, straight between points; NaN if it does not.
[[nodiscard]] double first_reach(std::span<const std::size_t> answers, std::span<const double> values, double level);
/// The mean height of a curve.
[[nodiscard]] double mean_height(std::span<const std::size_t> answers, std::span<const double> values);
/// The 97.5 % point of Student's t.
[[nodiscard]] double student(std::size_t degrees);

}  // namespace wisecrowd::dalc_loop
