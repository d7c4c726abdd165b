#pragma once

#include "base/rng.hpp"
#include "learn/shared/regions.hpp"
#include "wisecrowd/features.hpp"

namespace wisecrowd {
class ThreadPool;
}

namespace wisecrowd::stal {

/// A Gaussian mixture with diagonal covariances (no variance below `floor`), started from k-means++ and fitted by EM to
/// the given rows. Sparse rows, and rows of more than 64 columns, are first projected at random to 32.
[[nodiscard]] Regions find_regions(const Features& features, std::span<const std::uint32_t> fit_to,
                                   std::size_t components, std::size_t iterations, double floor, Rng rng,
                                   ThreadPool& pool);

/// How probable each region is for each row: rows × regions, as dense features.
[[nodiscard]] Features memberships_of(const Regions& regions, const Features& features, ThreadPool& pool);

}  // namespace wisecrowd::stal
