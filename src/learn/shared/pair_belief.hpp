#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/similarity_rates.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Which cluster each item belongs to, given a prior of each item and the answers to pairs: belief propagation, with
/// the workers' error rates estimated on the way. What an item is told about a pair leaves out what the item itself has
/// said of it, so that nobody hears its own voice.
class PairBelief {
 public:
  /// Begins with these probabilities (items × clusters) and rates.
  PairBelief(const SimilarityAnswers& answers, std::size_t clusters, std::vector<double> member,
             similarities::ErrorRates rates);

  /// Passes messages over all pairs once; `log_prior` is items × clusters. Exact, once settled, where pairs form a
  /// tree.
  void pass(std::span<const double> log_prior, const RunContext& context);
  /// The workers' error rates by what is believed of the pairs now.
  void estimate_rates() { similarities::estimate_rates(answers_, same_, {}, rates_); }

  [[nodiscard]] const std::vector<double>& member() const noexcept { return member_; }  ///< items × clusters
  [[nodiscard]] const similarities::ErrorRates& rates() const noexcept { return rates_; }
  /// Per pair: the probability that its items are the same, given all answers.
  [[nodiscard]] const std::vector<double>& same() const noexcept { return same_; }
  /// ln P(answer) of each of these answers to pairs that the belief has not seen answered.
  [[nodiscard]] std::vector<double> log_answers(std::span<const SimilarityAnswer> answers) const;

 private:
  [[nodiscard]] std::span<const double> row(std::size_t item) const {
    return std::span(member_).subspan(item * clusters_, clusters_);
  }
  void tell_pairs(std::span<const double> weights, const RunContext& context);
  void tell_items(std::span<const double> log_prior, const RunContext& context);
  void weigh_same(std::span<const double> weights, const RunContext& context);

  SimilarityAnswers answers_;
  std::size_t clusters_;
  std::vector<double> member_;
  similarities::ErrorRates rates_;
  std::vector<double> same_;
  // Two sides per pair: 2 p for its left item, 2 p + 1 for its right one.
  std::vector<std::uint64_t> offsets_;  ///< per item, of sides_
  std::vector<std::uint64_t> sides_;    ///< the sides of each item
  std::vector<float> own_;              ///< side × clusters: the item's probabilities without this pair
  std::vector<float> heard_;            ///< side × clusters: log of what the pair says to the item of that side
};

}  // namespace wisecrowd
