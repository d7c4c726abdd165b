#pragma once

#include <span>
#include <vector>

#include "data/item_graph.hpp"

namespace wisecrowd::comparisons {

/// Hunter's minorisation–maximisation of the plain model: p_i ← W_i / Σ n_ii' / (p_i + p_i'), p = e^score. Many cheap
/// steps, where Newton's method takes few; it knows no prior, so a finite maximum must exist.
///
/// Items of a component lie side by side. Where most pairs of a component were compared, as in a tournament or an
/// arena, its games are a triangle of numbers without indices (`Round`); the pairs of other components are listed.
class Minorisation {
 public:
  Minorisation(const ItemGraph& graph, const PairWins& wins, const Connectivity& found, std::span<const double> scores);
  /// One step for all items. Returns the largest relative change.
  double step(const RunContext& context);
  [[nodiscard]] std::vector<double> scores() const;

 private:
  /// A component whose items were nearly all compared with one another.
  struct Round {
    std::size_t component;
    std::size_t first;  ///< place of its first item
    std::size_t items, width;
    std::size_t games;  ///< where its triangle begins
  };
  void lay_out(const ItemGraph& graph, const Connectivity& found);
  void fill_rounds(const ItemGraph& graph, const PairWins& wins, const Connectivity& found);
  void list_pairs(const ItemGraph& graph, const PairWins& wins);
  void sum_round(const Round& round) noexcept;
  [[nodiscard]] double sum_listed(std::size_t item) const noexcept;
  [[nodiscard]] double settle(std::size_t begin, std::size_t end) noexcept;

  std::vector<std::uint32_t> place_;           // per item of the graph
  std::vector<std::uint32_t> listed_;          // the item at each place after the rounds'
  std::size_t places_ = 0, after_rounds_ = 0;  // the rounds' places come first
  HugeVector<double> strength_, next_, wins_;  // per place
  std::vector<Round> rounds_;
  std::vector<std::size_t> round_blocks_;  // rounds of about the same work together: where each block begins
  HugeVector<double> round_games_;
  // Pairs in the order of their first item, then of their second: a step divides once for both.
  HugeVector<std::uint32_t> first_, second_;
  HugeVector<double> games_, share_;        // share_ = games / (p + p')
  std::vector<std::uint32_t> as_first_;     // per listed item: where the pairs that it is first of begin
  std::vector<std::uint32_t> as_second_;    // per listed item: where the list of those that it is second of begins
  HugeVector<std::uint32_t> second_pairs_;  // these lists
};

}  // namespace wisecrowd::comparisons
