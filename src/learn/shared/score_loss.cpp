#include "learn/shared/score_loss.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "data/crowd_likelihood.hpp"

namespace wisecrowd {
namespace {

/// ln P of naming the first item, and its derivative by the difference.
struct NamedFirst {
  double log_probability = 0, by_difference = 0;
};

NamedFirst named_first(double difference, double reliability) noexcept {
  const comparisons::CrowdTerm term = comparisons::crowd_term(difference, reliability);
  return {math::log(std::max(term.probability, kProbabilityFloor)), term.by_difference};
}

double share_that_follows(double difference, double reliability) noexcept {
  const double with = reliability * sigmoid(difference), against = (1 - reliability) * sigmoid(-difference);
  return with / std::max(with + against, kProbabilityFloor);
}

}  // namespace

double score_loss(std::span<const double> scores, std::span<const ScoreAnswer> answers, std::span<double> gradient) {
  double loss = 0;
  for (const ScoreAnswer& answer : answers) {
    const double d = scores[answer.first] - scores[answer.second];
    double by_difference = 0;
    const double first = answer.outcome == Outcome::left ? 1 : answer.outcome == Outcome::tie ? 0.5 : 0;
    if (first > 0) {
      const NamedFirst term = named_first(d, answer.reliability);
      loss -= first * term.log_probability;
      by_difference -= first * term.by_difference;
    }
    if (first < 1) {
      const NamedFirst term = named_first(-d, answer.reliability);
      loss -= (1 - first) * term.log_probability;
      by_difference += (1 - first) * term.by_difference;
    }
    if (gradient.empty()) continue;
    gradient[answer.first] += by_difference;
    gradient[answer.second] -= by_difference;
  }
  return loss;
}

double follows(double difference, Outcome outcome, double reliability) noexcept {
  if (outcome == Outcome::left) return share_that_follows(difference, reliability);
  if (outcome == Outcome::right) return share_that_follows(-difference, reliability);
  return (share_that_follows(difference, reliability) + share_that_follows(-difference, reliability)) / 2;
}

}  // namespace wisecrowd
