#pragma once

#include <cstdint>
#include <vector>

#include "aggregate/similarities/crowd_clusters/mean_field.hpp"
#include "base/linear_algebra.hpp"
#include "base/rng.hpp"

namespace wisecrowd::crowd_clusters {

/// Coordinates of each item, one row each: the eigenvectors with the largest eigenvalues of the matrix of answers
/// (share of "same" above the mean, divided by the roots of how often both items were compared), times these.
[[nodiscard]] RowMatrix spectral_coordinates(const Crowd& crowd, std::size_t dimensions, const RunContext& context);

/// Clusters of rows by k-means, with starts drawn far from each other.
[[nodiscard]] std::vector<std::uint32_t> nearest_centres(const RowMatrix& rows, std::size_t clusters, Rng rng);

}  // namespace wisecrowd::crowd_clusters
