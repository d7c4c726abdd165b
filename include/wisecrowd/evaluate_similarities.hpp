#pragma once

#include <span>
#include <vector>

#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/similarity_data.hpp"

namespace wisecrowd {

/// How clusters compare with the true ones. Names of clusters mean nothing; what counts is who is with whom.
struct SimilarityEvaluation {
  std::uint64_t items = 0;          ///< with a known cluster; 0 where gold knows single pairs alone
  std::uint64_t clusters = 0;       ///< that these items are in
  std::uint64_t true_clusters = 0;  ///< and should be in
  /// Share of items that are right when each true cluster is matched with one found (Hungarian method); where gold
  /// knows pairs alone, of the pairs that are right.
  Estimate accuracy;
  double nmi = 0;            ///< mutual information over the mean of both entropies; 1 is perfect
  double adjusted_rand = 0;  ///< agreement on pairs beyond chance; 1 is perfect
  // Over all pairs of these items, or over the pairs that gold knows.
  std::uint64_t pairs = 0;
  double pair_precision = 0;  ///< of the pairs put together, those that are the same
  double pair_recall = 0;     ///< of the pairs that are the same, those put together
  double pair_f1 = 0;
};

/// Scores the cluster of each item against gold: clusters where they are known, else pairs. Numbers of clusters may be
/// any; kNoCluster where an item has none.
[[nodiscard]] SimilarityEvaluation evaluate_similarities(std::span<const std::uint32_t> cluster,
                                                         const SimilarityData& gold);

/// What the answers look like before any method is run. Its tasks are the pairs.
struct SimilarityDescription : GraphDescription {
  std::size_t items = 0;
  std::size_t bare_items = 0;  ///< in no answered pair
  double coverage = 0;         ///< share of all pairs of items that were answered
  Distribution pairs_per_item;
  std::size_t item_components = 0;  ///< parts of the graph of items, those compared with none left out
  std::size_t largest_component_items = 0;
  double same_share = 0;  ///< of the answers
  double agreement = 0;   ///< share of agreeing pairs of answers to the same pair; NaN without any
  // Three items of which all pairs were answered: a = b, b = c and a ≠ c cannot be. By the majority of each pair.
  std::uint64_t triangles = 0;  ///< that were looked at
  std::uint64_t contradicting_triangles = 0;
  bool triangles_sampled = false;  ///< there are too many to look at all
  struct Triangle {
    std::uint32_t a, b, c;  ///< a = b, b = c, a ≠ c
  };
  std::vector<Triangle> examples;
  std::vector<Warning> warnings;

  [[nodiscard]] double contradicting_share() const;
};
[[nodiscard]] SimilarityDescription describe(const SimilarityAnswers& answers);

}  // namespace wisecrowd
