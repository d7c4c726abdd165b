#pragma once

#include "base/numeric.hpp"

namespace wisecrowd::comparisons {

/// What a worker of reliability om says of two items whose scores differ by d: the first with probability
/// om σ(d) + (1 − om) σ(−d). Also for those who learn scores from features.
struct CrowdTerm {
  double probability = 0;    ///< that it names the first item
  double by_difference = 0;  ///< derivative of the log probability by d
  double by_reliability = 0;
  double by_logit = 0;  ///< the same by log(om / (1 − om))
};

[[nodiscard]] inline CrowdTerm crowd_term(double difference, double reliability) noexcept {
  const double p = sigmoid(difference), q = sigmoid(-difference);
  CrowdTerm term;
  term.probability = reliability * p + (1 - reliability) * q;
  const double safe = term.probability > kProbabilityFloor ? term.probability : kProbabilityFloor;
  term.by_difference = (2 * reliability - 1) * p * q / safe;
  term.by_reliability = (p - q) / safe;
  term.by_logit = term.by_reliability * reliability * (1 - reliability);
  return term;
}

}  // namespace wisecrowd::comparisons
