#include "aggregate/comparisons/shared/ranking.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/intervals.hpp"
#include "base/linear_algebra.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
/// Answers like the crowd's that are added to a worker's own before its rate of ties is judged.
constexpr double kCrowdTies = 4;

/// Covariance of the scores, each against the mean of its component.
RowMatrix score_covariance(const ItemGraph& graph, std::span<const double> information, std::span<const double> own,
                           const Connectivity& found) {
  const std::size_t items = graph.items();
  RowMatrix bend = RowMatrix::Zero(static_cast<Eigen::Index>(items), static_cast<Eigen::Index>(items));
  double mean = 0;
  for (const double h : information) mean += h / static_cast<double>(std::max<std::size_t>(items, 1));
  mean = std::max(mean, 1e-9);
  std::vector<std::vector<Eigen::Index>> members(found.components);
  for (std::size_t i = 0; i < items; ++i) members[found.component_of[i]].push_back(static_cast<Eigen::Index>(i));
  // Only differences within a component are known; how its sum is fixed makes no difference to them.
  for (const auto& part : members) {
    for (const Eigen::Index i : part) {
      for (const Eigen::Index j : part) bend(i, j) = mean / static_cast<double>(part.size());
    }
  }
  for (std::size_t i = 0; i < items; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    bend(row, row) += own[i];
    for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      bend(row, row) += information[e];
      bend(row, static_cast<Eigen::Index>(graph.other[e])) -= information[e];
    }
  }
  RowMatrix covariance = inverse_of(bend);
  for (const auto& part : members) {
    const auto size = static_cast<double>(part.size());
    for (Eigen::Index row = 0; row < covariance.rows(); ++row) {
      double sum = 0;
      for (const Eigen::Index j : part) sum += covariance(row, j);
      for (const Eigen::Index j : part) covariance(row, j) -= sum / size;
    }
    for (Eigen::Index column = 0; column < covariance.cols(); ++column) {
      double sum = 0;
      for (const Eigen::Index i : part) sum += covariance(i, column);
      for (const Eigen::Index i : part) covariance(i, column) -= sum / size;
    }
  }
  return covariance;
}

/// Rank intervals from all differences.
void rank_by_differences(const RowMatrix& covariance, ComparisonFit& fit) {
  const std::size_t items = fit.item_count;
  for (std::size_t i = 0; i < items; ++i) {
    std::size_t above = 0, below = 0;
    const auto a = static_cast<Eigen::Index>(i);
    for (std::size_t j = 0; j < items && std::isfinite(fit.deviation[i]); ++j) {
      const auto b = static_cast<Eigen::Index>(j);
      if (i == j || !std::isfinite(fit.deviation[j])) continue;
      const double variance = covariance(a, a) + covariance(b, b) - 2 * covariance(a, b);
      const double clear = kNormal95 * std::sqrt(std::max(variance, 0.0));
      above += fit.score[j] - fit.score[i] > clear ? 1 : 0;
      below += fit.score[i] - fit.score[j] > clear ? 1 : 0;
    }
    fit.rank_low[i] = static_cast<double>(1 + above);
    fit.rank_high[i] = static_cast<double>(items - below);
  }
}

/// Rank intervals from intervals that do not overlap, for many items.
void rank_by_intervals(ComparisonFit& fit) {
  std::vector<double> lows, highs;
  for (std::size_t i = 0; i < fit.item_count; ++i) {
    if (!std::isfinite(fit.deviation[i])) continue;
    lows.push_back(fit.low[i]);
    highs.push_back(fit.high[i]);
  }
  std::sort(lows.begin(), lows.end());
  std::sort(highs.begin(), highs.end());
  for (std::size_t i = 0; i < fit.item_count; ++i) {
    const bool known = std::isfinite(fit.deviation[i]);
    const auto above = known ? lows.end() - std::upper_bound(lows.begin(), lows.end(), fit.high[i]) : 0;
    const auto below = known ? std::lower_bound(highs.begin(), highs.end(), fit.low[i]) - highs.begin() : 0;
    fit.rank_low[i] = static_cast<double>(1 + above);
    fit.rank_high[i] = static_cast<double>(fit.item_count) - static_cast<double>(below);
  }
}

}  // namespace

void warn_of_connectivity(const Connectivity& found, bool has_prior, double fallback_ridge, ComparisonFit& fit) {
  if (found.components > 1) {
    fit.warnings.push_back(
        {"comparisons_apart",
         fmt::format("the items fall into {} groups that were never compared with one another: scores and ranks mean "
                     "something within a group only, and the mean of each group is 0{}.",
                     found.components, has_prior ? "" : fmt::format(" (a ridge of {} holds it there)", fallback_ridge)),
         "Ask for comparisons between the groups.", Severity::caution});
  }
  if (found.strong > found.components && !has_prior) {
    fit.warnings.push_back(
        {"no_finite_scores",
         fmt::format("some items have won, or lost, every comparison with all others of their group ({} strongly "
                     "connected parts in {}), so no finite scores are the most probable ones: a ridge of {} keeps them "
                     "finite.",
                     found.strong, found.components == 1 ? "1 group" : fmt::format("{} groups", found.components),
                     fallback_ridge),
         "More comparisons of these items would tell how far they are ahead or behind.", Severity::note});
  }
}

void centre_by_component(std::span<double> scores, const Connectivity& found) {
  std::vector<double> sum(found.components, 0), count(found.components, 0);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    sum[found.component_of[i]] += scores[i];
    count[found.component_of[i]] += 1;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i] -= sum[found.component_of[i]] / count[found.component_of[i]];
  }
}

void rank_items(const ItemGraph& graph, std::span<const double> information, std::span<const double> own,
                const Connectivity& found, ComparisonFit& fit) {
  const std::size_t items = graph.items();
  fit.deviation.assign(items, kNotKnown);
  fit.rank_low.assign(items, 1);
  fit.rank_high.assign(items, static_cast<double>(items));
  fit.rank = ranks_of(fit.score);
  std::vector<double> total(items, 0);
  for (std::size_t i = 0; i < items; ++i) {
    for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) total[i] += information[e];
  }
  const bool exact = items <= kMostExactItems;
  RowMatrix covariance;
  if (exact && items > 0) covariance = score_covariance(graph, information, own, found);
  for (std::size_t i = 0; i < items; ++i) {
    if (!(total[i] > 0)) continue;  // compared with none
    const double diagonal = total[i] + own[i];
    double variance = 0;
    if (exact) {
      variance = covariance(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i));
    } else {
      double near = 0;
      for (std::uint32_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
        const std::uint32_t j = graph.other[e];
        if (information[e] > 0) near += information[e] * information[e] / (diagonal * (total[j] + own[j]));
      }
      variance = (1 + near) / diagonal;
    }
    fit.deviation[i] = std::sqrt(std::max(variance, 0.0));
  }
  fit.low.resize(items);
  fit.high.resize(items);
  for (std::size_t i = 0; i < items; ++i) {
    fit.low[i] = fit.score[i] - kNormal95 * fit.deviation[i];
    fit.high[i] = fit.score[i] + kNormal95 * fit.deviation[i];
  }
  if (exact) {
    rank_by_differences(covariance, fit);
  } else {
    rank_by_intervals(fit);
  }
}

double plain_dispersion(const ComparisonAnswers& answers, std::span<const double> scores) {
  return dispersion(answers, [&](std::size_t t, AnswerIndex) {
    const ItemPair pair = answers.pairs()[t];
    return sigmoid(scores[index(pair.first)] - scores[index(pair.second)]);
  });
}

double moderated_sigmoid(double difference, double variance) {
  if (!(variance > 0)) return sigmoid(difference);
  return sigmoid(difference / std::sqrt(1 + std::numbers::pi * variance / 8));
}

std::vector<double> smoothed_tie_rates(const ComparisonAnswers& answers) {
  std::vector<double> ties(answers.worker_count(), 0), all(answers.worker_count(), 0);
  double all_ties = 0;
  for (AnswerIndex a = 0; a < answers.answer_count(); ++a) {
    const bool tie = ComparisonAnswers::outcome_of(answers.codes()[a]) == Outcome::tie;
    ties[index(answers.workers()[a])] += tie ? 1 : 0;
    all[index(answers.workers()[a])] += 1;
    all_ties += tie ? 1 : 0;
  }
  // One tie and one decisive answer more, so that neither is ever impossible.
  const double crowd = (all_ties + 1) / (static_cast<double>(answers.answer_count()) + 2);
  for (std::size_t w = 0; w < ties.size(); ++w) ties[w] = (ties[w] + kCrowdTies * crowd) / (all[w] + kCrowdTies);
  return ties;
}

double log_answer(Outcome outcome, double left, double tie_rate) {
  if (outcome == Outcome::tie) return math::log(std::max(tie_rate, kProbabilityFloor));
  const double p = outcome == Outcome::left ? left : 1 - left;
  return math::log(std::max((1 - tie_rate) * p, kProbabilityFloor));
}

}  // namespace wisecrowd::comparisons

namespace wisecrowd {

template <>
std::vector<double> Aggregator<Comparisons>::log_predictive(const ComparisonData& data,
                                                            std::span<const ComparisonAnswer> answers,
                                                            const RunContext& context) const {
  const ComparisonFit fitted = fit(data, context);
  return comparisons::log_answers(data.answers, answers, [&](const ComparisonAnswer& a) {
    const double left = fitted.deviation[index(a.left)], right = fitted.deviation[index(a.right)];
    const double variance = std::isfinite(left) && std::isfinite(right) ? left * left + right * right : 0;
    return comparisons::moderated_sigmoid(fitted.score[index(a.left)] - fitted.score[index(a.right)], variance);
  });
}

}  // namespace wisecrowd
