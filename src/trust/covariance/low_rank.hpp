#pragma once

#include "base/linear_algebra.hpp"
#include "trust/covariance/pair_covariances.hpp"

namespace wisecrowd::trust {

/// V of C ≈ V Vᵀ off the diagonal, with `rank` columns: thin pairs and the diagonal are filled in from V itself.
[[nodiscard]] RowMatrix low_rank_of(const PairCovariances& pairs, std::size_t rank, double thin_pair,
                                    std::size_t max_iterations, double tolerance, const RunContext& context);

/// Rows in `groups` clusters, the best of several starts; the same rows give the same clusters.
struct Clusters {
  std::vector<std::uint32_t> cluster;  ///< per row
  RowMatrix centres;
};
[[nodiscard]] Clusters cluster_rows(const RowMatrix& rows, std::size_t groups, std::size_t starts);

}  // namespace wisecrowd::trust
