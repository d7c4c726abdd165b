#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/similarity_answers.hpp"

// How often workers err who say whether two items are the same: for those who find clusters, with features or without.

namespace wisecrowd::similarities {

/// How often workers err, with the same prior as elsewhere in the house: 4 answers of which 0.7 are right.
inline constexpr double kPriorAnswers = 4;
inline constexpr double kPriorRight = 0.7;
struct ErrorRates {
  std::vector<double> false_different, false_same;  ///< per worker

  explicit ErrorRates(std::size_t workers)
      : false_different(workers, 1 - kPriorRight), false_same(workers, 1 - kPriorRight) {}
};

/// What one worker's answers to pairs are worth if `same` is the probability that a pair is the same: expected numbers.
struct AnswerCounts {
  double same_said_same = 0, same_said_different = 0, different_said_same = 0, different_said_different = 0;
  void add(bool said_same, double same) noexcept {
    (said_same ? same_said_same : same_said_different) += same;
    (said_same ? different_said_same : different_said_different) += 1 - same;
  }
};
/// The most probable rates. Both together never exceed 1: beyond, "same" would speak for different; such a worker's
/// answers say nothing.
void estimate_rates(const AnswerCounts& counts, double& false_different, double& false_same) noexcept;
/// ln of the prior density at a worker's rates, up to a constant.
[[nodiscard]] double log_prior(double false_different, double false_same) noexcept;

/// ln of the probability of an answer.
[[nodiscard]] double log_answer(bool said_same, double same, double false_different, double false_same) noexcept;

/// Rates of all workers, given the probability of each pair to be the same. Pairs with `hidden` do not count.
void estimate_rates(const SimilarityAnswers& answers, std::span<const double> same,
                    std::span<const std::uint8_t> hidden, ErrorRates& rates);

/// ln P(answer | same) − ln P(answer | different), summed over the answers to each pair.
void weigh_pairs(const SimilarityAnswers& answers, const ErrorRates& rates, std::span<const std::uint8_t> hidden,
                 std::span<double> weights);

}  // namespace wisecrowd::similarities
