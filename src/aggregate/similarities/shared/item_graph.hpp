#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/similarity_rates.hpp"
#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd::similarities {

/// The pairs of each item: those of the answers, and behind them those that gold knows.
class ItemGraph {
 public:
  struct Link {
    std::uint32_t pair;  ///< its index
    std::uint32_t other;
  };
  explicit ItemGraph(const SimilarityData& data);

  [[nodiscard]] std::size_t item_count() const noexcept { return offsets_.size() - 1; }
  [[nodiscard]] std::size_t pair_count() const noexcept { return pairs_.size(); }
  [[nodiscard]] std::span<const SimilarPair> pairs() const noexcept { return pairs_; }
  [[nodiscard]] std::span<const Link> links_of(std::size_t item) const noexcept {
    return std::span(links_).subspan(offsets_[item], offsets_[item + 1] - offsets_[item]);
  }

 private:
  std::vector<SimilarPair> pairs_;
  std::vector<std::size_t> offsets_;
  std::vector<Link> links_;
};

/// What gold says of a pair, in the same unit: as good as certain.
inline constexpr double kKnownWeight = 25;

/// Sizes, and the warnings that hold for any method.
[[nodiscard]] SimilarityFit start_similarity_fit(const SimilarityData& data);

/// Puts clusters in the order in which they are shown and names them. `cluster` has any numbers; those below the number
/// of gold's clusters are these.
void name_clusters(const SimilarityData& data, std::span<const std::uint32_t> cluster, SimilarityFit& fit);

}  // namespace wisecrowd::similarities
