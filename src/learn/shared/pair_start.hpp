#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "data/similarity_rates.hpp"
#include "learn/shared/network.hpp"
#include "wisecrowd/learn_similarities.hpp"

namespace wisecrowd {

/// The features of items, on a common scale.
struct ItemRows {
  Features inputs;
  std::span<const std::uint32_t> row_of_item;  ///< kNoRow where an item has none
  std::vector<std::uint32_t> items;            ///< that have a row, rising

  [[nodiscard]] std::uint32_t row(std::uint32_t item) const noexcept { return row_of_item[item]; }
  [[nodiscard]] bool known(SimilarPair pair) const noexcept {
    return row_of_item[pair.left] != kNoRow && row_of_item[pair.right] != kNoRow;
  }
};

/// Throws bad_input unless some answered pair has features of both its items.
[[nodiscard]] ItemRows item_rows(const SimilarityAnswers& answers, const Features& features,
                                 std::span<const std::uint32_t> row_of_item);

/// What the network says of some rows: rows × outputs, each row a distribution. Throws Diverged when it left the finite
/// numbers.
[[nodiscard]] std::vector<double> membership(Network& network, const Features& inputs,
                                             std::span<const std::uint32_t> rows);

/// Probabilities of clusters to begin with, and error rates of the workers.
struct PairStart {
  std::vector<double> member;  ///< items × clusters
  similarities::ErrorRates rates;
};

/// Trains a network on the answers alone, P(same) = f(x) · f(x'): the loss of crowd clustering with features.
[[nodiscard]] PairStart pair_start(const ItemRows& rows, const SimilarityAnswers& answers, const NetworkSpec& network,
                                   const SimilarityLearningOptions& options, Rng rng, const RunContext& context);

}  // namespace wisecrowd
