#include "aggregate/comparisons/shared/minorisation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/lanes.hpp"
#include "base/math.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kItemsPerStepBlock = 4096;
constexpr std::size_t kPairsPerStepBlock = std::size_t{1} << 16;
constexpr std::size_t kSums = 4;  ///< side by side, so that additions need not wait for one another
/// Rows of a round begin at multiples of so many items, so that a row finds what the one before has just stored.
constexpr std::size_t kRow = 4;
constexpr std::size_t kMostRoundItems = 4096;

constexpr std::size_t row_begin(std::size_t item) noexcept { return (item + 1) / kRow * kRow; }

/// How many numbers the triangle of a round has.
std::size_t triangle_size(std::size_t items, std::size_t width) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < items; ++i) size += width - row_begin(i);
  return size;
}

}  // namespace

Minorisation::Minorisation(const ItemGraph& graph, const PairWins& wins, const Connectivity& found,
                           std::span<const double> scores) {
  lay_out(graph, found);
  strength_.assign(places_, 1);
  next_.assign(places_, 1);
  wins_.assign(places_, 0);
  for (std::uint32_t i = 0; i < graph.items(); ++i) {
    strength_[place_[i]] = math::exp(scores[i]);
    for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      wins_[place_[i]] += (i < graph.other[e] ? wins.first : wins.second)[graph.pair[e]];
    }
  }
  fill_rounds(graph, wins, found);
  list_pairs(graph, wins);
}

/// Rounds first, each from a multiple of kRow on; then the other items as they come.
void Minorisation::lay_out(const ItemGraph& graph, const Connectivity& found) {
  std::vector<std::size_t> items(found.components, 0), edges(found.components, 0);
  for (std::size_t i = 0; i < graph.items(); ++i) {
    ++items[found.component_of[i]];
    edges[found.component_of[i]] += graph.offsets[i + 1] - graph.offsets[i];
  }
  std::vector<std::size_t> next(found.components, 0);
  std::size_t games = 0, block_games = 0;
  for (std::size_t c = 0; c < found.components; ++c) {
    const std::size_t n = items[c];
    if (n < 2 || n > kMostRoundItems || 2 * edges[c] < n * (n - 1)) continue;
    const std::size_t width = (n + kRow - 1) / kRow * kRow;
    if (round_blocks_.empty() || block_games >= kPairsPerStepBlock) {
      round_blocks_.push_back(rounds_.size());
      block_games = 0;
    }
    rounds_.push_back({c, places_, n, width, games});
    next[c] = places_ + 1;  // 0: not a round
    places_ += width;
    const std::size_t triangle = triangle_size(n, width);
    games += triangle;
    block_games += triangle;
  }
  round_blocks_.push_back(rounds_.size());
  round_games_.assign(games, 0);
  after_rounds_ = places_;
  place_.resize(graph.items());
  for (std::uint32_t i = 0; i < graph.items(); ++i) {
    std::size_t& at = next[found.component_of[i]];
    if (at > 0) {
      place_[i] = static_cast<std::uint32_t>(at++ - 1);
    } else {
      place_[i] = static_cast<std::uint32_t>(places_++);
      listed_.push_back(i);
    }
  }
}

void Minorisation::fill_rounds(const ItemGraph& graph, const PairWins& wins, const Connectivity& found) {
  std::vector<const Round*> round_of(found.components, nullptr);
  std::vector<std::size_t> row(found.components, 0);  // where the row of the component's next item begins
  for (const Round& round : rounds_) {
    round_of[round.component] = &round;
    row[round.component] = round.games;
  }
  for (std::uint32_t i = 0; i < graph.items(); ++i) {
    const std::size_t c = found.component_of[i];
    if (round_of[c] == nullptr) continue;
    const std::size_t begin = row_begin(place_[i] - round_of[c]->first);
    for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      if (graph.other[e] < i) continue;
      const std::size_t column = place_[graph.other[e]] - round_of[c]->first;
      round_games_[row[c] + column - begin] = wins.first[graph.pair[e]] + wins.second[graph.pair[e]];
    }
    row[c] += round_of[c]->width - begin;
  }
}

void Minorisation::list_pairs(const ItemGraph& graph, const PairWins& wins) {
  std::size_t edges = 0;
  for (const std::uint32_t i : listed_) edges += graph.offsets[i + 1] - graph.offsets[i];
  first_.resize(edges / 2);
  second_.resize(edges / 2);
  games_.resize(edges / 2);
  share_.resize(edges / 2);
  second_pairs_.resize(edges / 2);
  as_first_.assign(listed_.size() + 1, 0);
  as_second_.assign(listed_.size() + 1, 0);
  std::vector<std::uint32_t> where(listed_.empty() ? 0 : graph.edges() / 2);  // of each pair of the graph
  std::uint32_t next = 0, next_second = 0;
  for (std::size_t k = 0; k < listed_.size(); ++k) {
    const std::uint32_t i = listed_[k];
    for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const std::uint32_t pair = graph.pair[e], other = graph.other[e];
      if (other < i) {  // it came before, as a first item
        second_pairs_[next_second++] = where[pair];
        continue;
      }
      first_[next] = place_[i];
      second_[next] = place_[other];
      games_[next] = wins.first[pair] + wins.second[pair];
      where[pair] = next++;
    }
    as_first_[k + 1] = next;
    as_second_[k + 1] = next_second;
  }
}

/// Σ n / (p_i + p_i') of every item of a round, to next_.
void Minorisation::sum_round(const Round& round) noexcept {
  const double* games = round_games_.data() + round.games;
  const double* const p = strength_.data() + round.first;
  double* const sum = next_.data() + round.first;
  std::fill(sum, sum + round.width, 0.0);
  for (std::size_t i = 0; i < round.items; ++i) {
    const std::size_t begin = row_begin(i), length = round.width - begin;
    const double* const others = p + begin;
    double* const theirs = sum + begin;
    const double strength = p[i];
    sum[i] += lane_sum<double>(length, [&](std::size_t j) {
      const double share = games[j] / (strength + others[j]);
      theirs[j] += share;
      return share;
    });
    games += length;
  }
}

/// The same for an item of those whose pairs are listed.
double Minorisation::sum_listed(std::size_t item) const noexcept {
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

/// Sums at these places become strengths. Returns the largest relative change.
double Minorisation::settle(std::size_t begin, std::size_t end) noexcept {
  const double* const p = strength_.data();
  const double* const wins = wins_.data();
  double* const next = next_.data();
  double most = 0;
#pragma omp simd reduction(max : most)
  for (std::size_t i = begin; i < end; ++i) {
    next[i] = next[i] > 0 && wins[i] > 0 ? wins[i] / next[i] : p[i];
    const double change = std::abs(next[i] - p[i]) / p[i];
    most = change > most ? change : most;
  }
  return most;
}

double Minorisation::step(const RunContext& context) {
  const Blocks pairs{first_.size(), kPairsPerStepBlock};
  context.pool().for_each_block(pairs.count(), [&](std::size_t b, unsigned) {
    const double* const p = strength_.data();
    const std::uint32_t* const first = first_.data();
    const std::uint32_t* const second = second_.data();
    const double* const games = games_.data();
    double* const share = share_.data();
    const std::size_t end = pairs.end(b);
    // Four at a time: strengths are fetched one by one, and wider vectors only wait for more of them.
#pragma omp simd simdlen(4)
    for (std::size_t q = pairs.begin(b); q < end; ++q) share[q] = games[q] / (p[first[q]] + p[second[q]]);
  });
  const std::size_t round_blocks = round_blocks_.size() - 1;
  const Blocks items{listed_.size(), kItemsPerStepBlock};
  std::vector<double> changes(round_blocks + items.count(), 0);
  context.pool().for_each_block(changes.size(), [&](std::size_t b, unsigned) {
    if (b < round_blocks) {
      for (std::size_t r = round_blocks_[b]; r < round_blocks_[b + 1]; ++r) {
        sum_round(rounds_[r]);
        changes[b] = std::max(changes[b], settle(rounds_[r].first, rounds_[r].first + rounds_[r].width));
      }
      return;
    }
    const std::size_t begin = items.begin(b - round_blocks), end = items.end(b - round_blocks);
    for (std::size_t k = begin; k < end; ++k) next_[after_rounds_ + k] = sum_listed(k);
    changes[b] = settle(after_rounds_ + begin, after_rounds_ + end);
  });
  std::swap(strength_, next_);
  return changes.empty() ? 0 : *std::max_element(changes.begin(), changes.end());
}

std::vector<double> Minorisation::scores() const {
  std::vector<double> scores;
  for (const std::uint32_t place : place_) scores.push_back(math::log(strength_[place]));
  return scores;
}

}  // namespace wisecrowd::comparisons
