#pragma once

#include <span>

#include "aggregate/comparisons/shared/score_solver.hpp"
#include "data/item_graph.hpp"
#include "data/score_fit.hpp"
#include "wisecrowd/comparison_aggregator.hpp"

namespace wisecrowd::comparisons {

/// Warns of items that nothing connects, and of scores that have no finite maximum without a prior.
void warn_of_connectivity(const Connectivity& found, bool has_prior, double fallback_ridge, ComparisonFit& fit);

/// Scores become deviations from the mean of their component: only those that comparisons join can be told apart.
void centre_by_component(std::span<double> scores, const Connectivity& found);

/// How much the scores differ by chance, from the information in the comparisons: deviations, 95 % intervals, ranks and
/// their intervals. `information` is per edge of the graph, `own` what an item has beside its edges (a prior). Exact
/// for up to kMostExactItems; beyond, an expansion that leaves out ways of more than two steps.
inline constexpr std::size_t kMostExactItems = 1200;
void rank_items(const ItemGraph& graph, std::span<const double> information, std::span<const double> own,
                const Connectivity& found, ComparisonFit& fit);

/// How much answers vary, against what an answer without ties would: Σ (y − p)² / Σ p (1 − p), y = ½ for a tie. Ties
/// vary less, so that they tell more; `first` is the probability that an answer to a pair names its first item.
template <class FirstProbability>
[[nodiscard]] double dispersion(const ComparisonAnswers& answers, const FirstProbability& first) {
  double seen = 0, expected = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      const Outcome said = ComparisonAnswers::outcome_of(answers.codes()[a]);
      const double y = said == Outcome::left ? 1 : said == Outcome::tie ? 0.5 : 0, p = first(t, a);
      seen += (y - p) * (y - p);
      expected += p * (1 - p);
    }
  }
  return seen > 0 && expected > 0 ? seen / expected : 1;
}
/// The same by scores alone.
[[nodiscard]] double plain_dispersion(const ComparisonAnswers& answers, std::span<const double> scores);

/// Half-way between the logistic of a difference and ½, as far as its variance asks for: E σ(N(d, v)), nearly.
[[nodiscard]] double moderated_sigmoid(double difference, double variance);

/// A worker's rate of ties, shrunk by a few answers like the crowd's.
[[nodiscard]] std::vector<double> smoothed_tie_rates(const ComparisonAnswers& answers);

/// Log probabilities of answers, given the probability that a decisive one names the left item.
template <class LeftProbability>
[[nodiscard]] std::vector<double> log_answers(const ComparisonAnswers& seen, std::span<const ComparisonAnswer> answers,
                                              const LeftProbability& left);
[[nodiscard]] double log_answer(Outcome outcome, double left, double tie_rate);

template <class LeftProbability>
std::vector<double> log_answers(const ComparisonAnswers& seen, std::span<const ComparisonAnswer> answers,
                                const LeftProbability& left) {
  const std::vector<double> ties = smoothed_tie_rates(seen);
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const ComparisonAnswer& a : answers) logs.push_back(log_answer(a.outcome, left(a), ties[index(a.worker)]));
  return logs;
}

}  // namespace wisecrowd::comparisons
