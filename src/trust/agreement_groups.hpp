#pragma once

#include <span>
#include <vector>

#include "trust/crowd_sample.hpp"

namespace wisecrowd::trust {

/// Workers put together by how often they agree, and nothing else: at each of the cuts (falling), groups whose pooled
/// agreement, corrected for chance, is at least that. One label per worker and cut, equal within a group. These are
/// guesses for a model to judge: skilled workers agree as well.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> agreement_groups(const CrowdSample& sample,
                                                                       const WorkerPairs& pairs,
                                                                       std::span<const double> cuts);

}  // namespace wisecrowd::trust
