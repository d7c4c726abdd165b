#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/similarity_data.hpp"

namespace wisecrowd {

/// What an aggregator of similarities returns: a value, complete, never half-fitted.
struct SimilarityFit : FitSummary {
  std::size_t item_count = 0;
  std::size_t worker_count = 0;

  /// Clusters that are used, the largest first; those of gold by their names, others by their place from 1.
  std::vector<std::string> cluster_names;
  std::vector<std::uint32_t> cluster;  ///< per item, an index of cluster_names
  std::vector<double> probability;     ///< per item: of belonging there

  std::vector<double> same;             ///< per pair of the answers: probability that its items are the same
  std::vector<double> false_different;  ///< per worker: P(says different | same)
  std::vector<double> false_same;       ///< per worker: P(says same | different)

  [[nodiscard]] std::size_t cluster_count() const noexcept { return cluster_names.size(); }
};

/// Where a fit begins: clusters that another method found, or nothing.
struct SimilarityStart {
  std::span<const std::uint32_t> cluster;  ///< per item; empty for the method's own start
  [[nodiscard]] bool empty() const noexcept { return cluster.empty(); }
};

/// The order in which clusters are listed: the largest first, then the one with the first item. `cluster` has any
/// numbers; the result says for each of them, from 0 to the highest, its place, or kNoCluster where it is empty.
[[nodiscard]] std::vector<std::uint32_t> cluster_places(std::span<const std::uint32_t> cluster);

}  // namespace wisecrowd
