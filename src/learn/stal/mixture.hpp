#pragma once

#include "base/rng.hpp"
#include "wisecrowd/features.hpp"

namespace wisecrowd {
class ThreadPool;
}

namespace wisecrowd::stal {

/// How probable each component of a Gaussian mixture is for each row: rows × components, as dense features. The mixture
/// has diagonal covariances (none below `floor`), starts from k-means++ and is fitted by EM to the given rows. Sparse
/// rows, and rows of more than 64 columns, are first projected at random to 32.
[[nodiscard]] Features mixture_memberships(const Features& features, std::span<const std::uint32_t> fit_to,
                                           std::size_t components, std::size_t iterations, double floor, Rng rng,
                                           ThreadPool& pool);

}  // namespace wisecrowd::stal
