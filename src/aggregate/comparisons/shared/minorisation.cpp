#include "aggregate/comparisons/shared/minorisation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kItemsPerStepBlock = 4096;
constexpr std::size_t kPairsPerStepBlock = std::size_t{1} << 16;
constexpr std::size_t kSums = 4;  ///< side by side, so that additions need not wait for one another

}  // namespace

Minorisation::Minorisation(const ItemGraph& graph, const PairWins& wins)
    : first_(graph.edges() / 2),
      second_(first_.size()),
      games_(first_.size()),
      share_(first_.size()),
      as_first_(graph.items() + 1, 0),
      as_second_(graph.items() + 1, 0),
      second_pairs_(first_.size()),
      wins_(graph.items(), 0),
      next_(graph.items()) {
  std::vector<std::uint32_t> place(first_.size());  // of each pair of the graph
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < graph.items(); ++i) {
    for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const std::uint32_t pair = graph.pair[e], other = graph.other[e];
      wins_[i] += (i < other ? wins.first : wins.second)[pair];
      if (other < i) continue;
      first_[next] = i;
      second_[next] = other;
      games_[next] = wins.first[pair] + wins.second[pair];
      place[pair] = next++;
    }
    as_first_[i + 1] = next;
  }
  next = 0;
  for (std::uint32_t i = 0; i < graph.items(); ++i) {
    for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      if (graph.other[e] < i) second_pairs_[next++] = place[graph.pair[e]];
    }
    as_second_[i + 1] = next;
  }
}

/// Σ n / (p_i + p_i') over the pairs of an item.
double Minorisation::sum_of(std::size_t item) const noexcept {
  std::array<double, kSums> sums{};
  double rest = 0;
  std::uint32_t at = as_first_[item], end = as_first_[item + 1];
  for (; at + kSums <= end; at += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += share_[at + k];
  }
  for (; at < end; ++at) rest += share_[at];
  at = as_second_[item];
  end = as_second_[item + 1];
  for (; at + kSums <= end; at += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += share_[second_pairs_[at + k]];
  }
  for (; at < end; ++at) rest += share_[second_pairs_[at]];
  return rest + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

double Minorisation::step(std::vector<double>& strengths, const RunContext& context) {
  const double* const p = strengths.data();
  const Blocks pairs{first_.size(), kPairsPerStepBlock};
  context.pool().for_each_block(pairs.count(), [&](std::size_t b, unsigned) {
    const std::uint32_t* const first = first_.data();
    const std::uint32_t* const second = second_.data();
    const double* const games = games_.data();
    double* const share = share_.data();
    const std::size_t end = pairs.end(b);
    // Four at a time: strengths are fetched one by one, and wider vectors only wait for more of them.
#pragma omp simd simdlen(4)
    for (std::size_t q = pairs.begin(b); q < end; ++q) share[q] = games[q] / (p[first[q]] + p[second[q]]);
  });
  const Blocks items{wins_.size(), kItemsPerStepBlock};
  std::vector<double> changes(items.count(), 0);
  context.pool().for_each_block(items.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = items.begin(b); i < items.end(b); ++i) next_[i] = sum_of(i);
    const double* const wins = wins_.data();
    double* const next = next_.data();
    const std::size_t end = items.end(b);
    double most = 0;
#pragma omp simd reduction(max : most)
    for (std::size_t i = items.begin(b); i < end; ++i) {
      next[i] = next[i] > 0 && wins[i] > 0 ? wins[i] / next[i] : p[i];
      const double change = std::abs(next[i] - p[i]) / p[i];
      most = change > most ? change : most;
    }
    changes[b] = most;
  });
  std::swap(strengths, next_);
  return changes.empty() ? 0 : *std::max_element(changes.begin(), changes.end());
}

}  // namespace wisecrowd::comparisons
