#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.hpp"

namespace wisecrowd {

/// Draws from a fixed discrete distribution in constant time (Walker's alias method, built as Vose does).
class AliasTable {
 public:
  /// Weights are not negative and not all 0.
  explicit AliasTable(std::span<const double> weights);

  [[nodiscard]] std::size_t draw(Rng& rng) const noexcept {
    const std::size_t cell = rng.below(cells_.size());
    return rng.uniform() < cells_[cell].keep ? cell : cells_[cell].alias;
  }

 private:
  struct Cell {
    double keep;  ///< probability of staying in the cell
    std::uint32_t alias;
  };
  std::vector<Cell> cells_;
};

}  // namespace wisecrowd
