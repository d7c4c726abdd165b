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
  const ItemGraph& graph_;
  HugeVector<double> games_;  // per edge
  std::vector<double> wins_, next_;
};

}  // namespace wisecrowd::comparisons
