#pragma once

#include <cstdint>
#include <vector>

#include "wisecrowd/similarity_answers.hpp"

namespace wisecrowd {

struct Similarities;

/// Marks an item whose cluster is not known.
inline constexpr std::uint32_t kNoCluster = 0xFFFFFFFF;

/// A pair whose truth is known.
struct KnownPair {
  SimilarPair items;
  bool same = false;
};

/// Everything that a method for similarities may look at. Only `answers` is required.
struct SimilarityData {
  using Kind = Similarities;

  SimilarityAnswers answers;

  /// The true cluster of each item, an index of `gold_clusters` (kNoCluster where unknown), or empty.
  std::vector<std::uint32_t> gold;
  NameTable gold_clusters;
  /// Truth of single pairs in the order of their items, where clusters are not known.
  std::vector<KnownPair> gold_pairs;

  [[nodiscard]] bool has_gold() const noexcept { return !gold.empty() || !gold_pairs.empty(); }
};

/// Throws bad_input unless gold fits the answers.
void validate(const SimilarityData& data);

/// Whether gold knows if two items are the same: 1, 0, or −1 where it does not.
[[nodiscard]] int known_same(const SimilarityData& data, SimilarPair pair) noexcept;

/// Items whose cluster is known, or, where single pairs are, so many pairs.
[[nodiscard]] std::uint64_t gold_count(const SimilarityData& data) noexcept;

}  // namespace wisecrowd
