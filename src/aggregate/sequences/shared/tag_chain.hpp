#pragma once

#include <span>
#include <vector>

#include "wisecrowd/sequence_answers.hpp"

namespace wisecrowd::sequences {

/// How much each tag speaks for the next one. Rows need not sum to 1; 0 is a tag that cannot follow.
struct Transitions {
  std::size_t tags = 0;
  std::vector<double> weight;  ///< previous × next; before the first token everything is outside

  [[nodiscard]] const double* row(std::size_t previous) const noexcept { return weight.data() + previous * tags; }
};

/// Forward–backward over the tags of one document at a time; the object keeps its memory for the next one.
///
/// Filtered probabilities are normalised at each token, and the way back goes over them alone (no backward messages),
/// so that nothing over- or underflows however many workers speak. A token with gold has its tag for sure, even where
/// the scheme would not allow it after the one before: the chain then starts anew.
class TagChain {
 public:
  explicit TagChain(const Transitions& transitions) : transitions_(transitions) {}

  /// `log_weights`: tokens × tags, what answers say of each tag. Returns the logarithm of the summed weight of all
  /// sequences.
  double filter(std::span<const double> log_weights, std::span<const TagId> gold);
  /// After `filter`: the probability of each tag at each token, and the expected number of times that one tag follows
  /// another, added to `counts` (previous × next) unless that is empty.
  void smooth(std::span<double> posterior, std::span<double> counts);
  /// After `smooth`: the probability of exactly this span, whose first token has the tag `begin`.
  [[nodiscard]] double span_probability(const Span& span, TagId begin, std::span<const double> posterior) const;
  /// The most probable sequence (Viterbi).
  void best_path(std::span<const double> log_weights, std::span<const TagId> gold, std::span<TagId> tags);

 private:
  [[nodiscard]] std::size_t tags() const noexcept { return transitions_.tags; }
  void predict(const double* filtered, double* predicted) const;

  const Transitions& transitions_;
  std::size_t tokens_ = 0;
  std::vector<double> filtered_, predicted_;  // tokens × tags
  std::vector<char> restarts_;                // per token: gold that cannot follow what came before
  std::vector<double> ratio_;
  std::vector<double> log_transitions_, best_;
  std::vector<std::uint16_t> from_;
};

}  // namespace wisecrowd::sequences
