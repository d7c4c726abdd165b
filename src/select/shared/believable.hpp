#pragma once

#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::selecting {

/// How far the posteriors of a crowd can be believed: the power at which they predict its answers best, 1 where they
/// are as sure as they may be and less where they are too sure.
///
/// Every answer is taken back once: worker j's answer y to task i leaves r_k ∝ q_ik / th_k, th_k = (b_ky − q_ik) /
/// (B_k − q_ik) being row k of its table without this answer. The power t is the one with the largest
/// Σ ln Σ_k r_k^t th_k / Σ_k r_k^t, where ln t has a normal prior around 0, so that few answers change little. Workers
/// who contradict what others settled between them bring it down. 1 where the answers are not known.
[[nodiscard]] double believable_power(const CrowdView& crowd, const RunContext& context);

/// max_k q_k^power / Σ_k q_k^power.
[[nodiscard]] double surest(std::span<const double> posterior, double power) noexcept;

}  // namespace wisecrowd::selecting
