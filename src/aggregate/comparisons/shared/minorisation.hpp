#pragma once

#include <vector>

#include "data/item_graph.hpp"

namespace wisecrowd::comparisons {

/// Hunter's minorisation–maximisation of the plain model: p_i ← W_i / Σ n_ii' / (p_i + p_i'), p = e^score. Many cheap
/// steps, where Newton's method takes few; it knows no prior, so a finite maximum must exist.
class Minorisation {
 public:
  Minorisation(const ItemGraph& graph, const PairWins& wins);
  /// One step for all items. Returns the largest relative change.
  double step(std::vector<double>& strengths, const RunContext& context);

 private:
  [[nodiscard]] double sum_of(std::size_t item) const noexcept;

  // Pairs in the order of their first item, then of their second: a step divides once for both.
  HugeVector<std::uint32_t> first_, second_;
  HugeVector<double> games_, share_;        // share_ = games / (p + p')
  std::vector<std::uint32_t> as_first_;     // per item: where the pairs that it is first of begin
  std::vector<std::uint32_t> as_second_;    // per item: where the list of those that it is second of begins
  HugeVector<std::uint32_t> second_pairs_;  // these lists
  std::vector<double> wins_, next_;
};

}  // namespace wisecrowd::comparisons
