#pragma once

#include "simulate/crowd.hpp"

namespace wisecrowd {

/// The parameter that says how good the ordinary workers of a kind are.
[[nodiscard]] ParameterSpec honest_level_parameter(double value = 3);
/// Independent workers whose tables are better than random at parameter `level`, all of kind "honest".
[[nodiscard]] Crowd honest_workers(const CrowdRequest& request);

}  // namespace wisecrowd
