#pragma once

#include <cstddef>
#include <vector>

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

}  // namespace wisecrowd::similarities
