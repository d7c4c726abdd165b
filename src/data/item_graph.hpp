#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_vector.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/comparison_data.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::comparisons {

/// Which items were compared with which: by item, the others, in rising order (CSR). An edge stands here twice, once
/// for each of its items, so that sums over an item's edges need no other place.
struct ItemGraph {
  explicit ItemGraph(std::span<const ItemPair> pairs, std::size_t items);

  [[nodiscard]] std::size_t items() const noexcept { return offsets.size() - 1; }
  [[nodiscard]] std::size_t edges() const noexcept { return other.size(); }

  HugeVector<std::uint32_t> offsets;
  HugeVector<std::uint32_t> other;
  HugeVector<std::uint32_t> pair;
};

/// Per pair, how often its first item won and how often its second; ties count half for each. Known outcomes count as
/// one answer more.
struct PairWins {
  HugeVector<double> first, second;
};
[[nodiscard]] PairWins count_wins(const ComparisonData& data, const RunContext& context);

/// Parts of the graph.
struct Connectivity {
  std::size_t components = 0;  ///< items joined by comparisons; those compared with none are apart
  std::size_t strong = 0;      ///< groups of items that lead to one another by wins: 1 where scores have a maximum
  std::vector<std::uint32_t> component_of;  ///< per item
};
/// An edge leads from an item to each that it has won against, at least half.
[[nodiscard]] Connectivity connectivity(const ItemGraph& graph, const PairWins& wins);

}  // namespace wisecrowd::comparisons
