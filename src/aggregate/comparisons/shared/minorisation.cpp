#include "aggregate/comparisons/shared/minorisation.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kItemsPerStepBlock = 4096;

}  // namespace

Minorisation::Minorisation(const ItemGraph& graph, const PairWins& wins)
    : graph_(graph), games_(graph.edges()), wins_(graph.items(), 0), next_(graph.items()) {
  for (std::size_t i = 0; i < graph.items(); ++i) {
    for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const std::uint32_t pair = graph.pair[e];
      games_[e] = wins.first[pair] + wins.second[pair];
      wins_[i] += (i < graph.other[e] ? wins.first : wins.second)[pair];
    }
  }
}

double Minorisation::step(std::vector<double>& strengths, const RunContext& context) {
  const Blocks blocks{graph_.items(), kItemsPerStepBlock};
  std::vector<double> changes(blocks.count(), 0);
  const std::uint32_t* const other = graph_.other.data();
  const double* const games = games_.data();
  const double* const p = strengths.data();
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      double sum = 0;
      for (std::uint32_t e = graph_.offsets[i]; e < graph_.offsets[i + 1]; ++e) sum += games[e] / (p[i] + p[other[e]]);
      next_[i] = sum > 0 && wins_[i] > 0 ? wins_[i] / sum : p[i];
      changes[b] = std::max(changes[b], std::abs(next_[i] - p[i]) / p[i]);
    }
  });
  std::swap(strengths, next_);
  return changes.empty() ? 0 : *std::max_element(changes.begin(), changes.end());
}

}  // namespace wisecrowd::comparisons
