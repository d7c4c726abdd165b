#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregate/similarities/shared/item_graph.hpp"

namespace wisecrowd::crowd_clusters {

/// What all fits to the same data share.
struct Crowd {
  const SimilarityData& data;
  similarities::ItemGraph graph;
  std::vector<std::uint8_t> hidden;  ///< per pair of the answers: 1 where its answers do not count; or empty

  explicit Crowd(const SimilarityData& all) : data(all), graph(all) {}
  [[nodiscard]] bool pinned(std::size_t item) const noexcept {
    return !data.gold.empty() && data.gold[item] != kNoCluster;
  }
};

struct Limits {
  std::size_t max_iterations = 200;
  double tolerance = 1e-4;
};

/// Probabilities of clusters and what follows from them.
struct State {
  State(const Crowd& crowd, std::size_t clusters);

  std::size_t clusters;
  std::vector<double> member;  ///< items × clusters
  std::vector<double> share;   ///< of the clusters
  similarities::ErrorRates rates;
  std::vector<double> same;   ///< per pair of the graph
  std::vector<double> trace;  ///< the bound, after each iteration
  std::size_t iterations = 0;
  bool converged = false;

  [[nodiscard]] std::span<double> row(std::size_t item) { return std::span(member).subspan(item * clusters, clusters); }
  [[nodiscard]] std::span<const double> row(std::size_t item) const {
    return std::span(member).subspan(item * clusters, clusters);
  }
  [[nodiscard]] double bound() const { return trace.empty() ? 0 : trace.back(); }
};

/// Begins with these clusters, most of an item's probability on its own. Gold stays what it is.
[[nodiscard]] State start_from(const Crowd& crowd, std::span<const std::uint32_t> cluster, std::size_t clusters);

/// Coordinate ascent of the variational bound: rates and shares, then one item after the other. The bound never falls.
void ascend(const Crowd& crowd, const Limits& limits, const RunContext& context, State& state);

/// The bound with the shares of clusters integrated out, and every way to name the used ones counted: what fits with
/// different room for clusters are compared by where no pairs can be hidden.
[[nodiscard]] double evidence_of(const State& state);

/// ln P(answer) of all answers to the hidden pairs.
[[nodiscard]] std::vector<double> hidden_logs(const Crowd& crowd, const State& state);

/// The most probable cluster of each item.
[[nodiscard]] std::vector<std::uint32_t> most_probable(const State& state);

}  // namespace wisecrowd::crowd_clusters
