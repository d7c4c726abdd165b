#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trust/shared/crowd_sample.hpp"

namespace wisecrowd::trust {

/// One label per worker, equal for those who belong together.
using Labels = std::vector<std::uint32_t>;

/// Workers put together by how often they agree, and nothing else: at each of the cuts (falling), groups whose pooled
/// agreement, corrected for chance, is at least that. These are guesses for a model to judge: skilled workers agree as
/// well.
[[nodiscard]] std::vector<Labels> agreement_groups(const CrowdSample& sample, const WorkerPairs& pairs,
                                                   std::span<const double> cuts);

/// Groups that are joined while the mean similarity of their members is at least `cut`; pairs that are not listed have
/// none. Those who share a label in `start` are together from the beginning.
[[nodiscard]] Labels average_linkage(const Labels& start, const WorkerPairs& pairs, std::span<const double> similarity,
                                     double cut);

/// The same without a cut: the groups when `most` are left, one fewer, and so on, as far as pairs are listed.
[[nodiscard]] std::vector<Labels> linkage_levels(std::size_t workers, const WorkerPairs& pairs,
                                                 std::span<const double> similarity, std::size_t most);

}  // namespace wisecrowd::trust
