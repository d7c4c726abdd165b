#pragma once

#include <cstdint>
#include <span>

#include "wisecrowd/comparison_answers.hpp"

namespace wisecrowd {

/// One answer of a batch: which rows of the batch it compares, and how reliable its worker is.
struct ScoreAnswer {
  std::uint32_t first, second;
  Outcome outcome;  ///< `left`: the first is better
  double reliability;
};

/// −Σ ln P(answer), P(first) = om σ(d) + (1 − om) σ(−d) with d the difference of the scores; a tie counts half as a win
/// of each. Adds the gradient with respect to the scores to `gradient`, which may be empty.
[[nodiscard]] double score_loss(std::span<const double> scores, std::span<const ScoreAnswer> answers,
                                std::span<double> gradient = {});

/// The expected share of an answer that follows the scores and not their opposite: what reliabilities are made of.
[[nodiscard]] double follows(double difference, Outcome outcome, double reliability) noexcept;

}  // namespace wisecrowd
