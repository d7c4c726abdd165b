#pragma once

#include <vector>

#include "wisecrowd/judges.hpp"

namespace wisecrowd::judges {

/// Everything about each worker that needs no draws: accuracy by the truth of all, agreement with people, kappa,
/// consistency, calibration.
[[nodiscard]] std::vector<JudgeReliability> reliabilities(const JudgeData& data, const MixedCrowdFit& fit);

}  // namespace wisecrowd::judges
