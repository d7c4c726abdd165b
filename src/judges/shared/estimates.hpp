#pragma once

#include <span>

#include "wisecrowd/estimate.hpp"

namespace wisecrowd::judges {

[[nodiscard]] Estimate nothing_known() noexcept;
/// The mean of what independent tasks contribute, each with its weight, with a 95 % interval by Student's t within
/// [low, high]; NaN without any, and no interval of one.
[[nodiscard]] Estimate mean_of(std::span<const double> values, std::span<const double> weights, double low,
                               double high);
/// Mean and the middle 95 % of draws.
[[nodiscard]] Estimate of_draws(std::span<const double> draws);

}  // namespace wisecrowd::judges
