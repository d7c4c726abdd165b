#pragma once

#include <vector>

#include "simulate/crowd.hpp"

namespace wisecrowd {

/// Parameters a and b of the accuracies' Beta distribution.
[[nodiscard]] std::vector<ParameterSpec> beta_parameters();
/// Workers who are right with probability Beta(a, b) whatever the class, and otherwise pick any wrong class alike.
[[nodiscard]] Crowd one_coin_workers(const CrowdRequest& request);

}  // namespace wisecrowd
