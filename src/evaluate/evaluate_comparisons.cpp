#include "wisecrowd/evaluate_comparisons.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/intervals.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double pairs_among(std::size_t n) { return static_cast<double>(n) * (static_cast<double>(n) - 1) / 2; }

/// Pairs of equal neighbours in a sorted list.
template <class Same>
double tied_pairs(std::size_t count, const Same& same) {
  double tied = 0;
  std::size_t run = 1;
  for (std::size_t i = 1; i <= count; ++i) {
    if (i < count && same(i - 1, i)) {
      ++run;
    } else {
      tied += pairs_among(run);
      run = 1;
    }
  }
  return tied;
}

/// Sorts and counts the exchanges that neighbours would need.
double sort_and_count(std::vector<double>& values, std::vector<double>& scratch, std::size_t begin, std::size_t end) {
  if (end - begin < 2) return 0;
  const std::size_t middle = begin + (end - begin) / 2;
  double exchanges = sort_and_count(values, scratch, begin, middle) + sort_and_count(values, scratch, middle, end);
  std::size_t left = begin, right = middle;
  for (std::size_t at = begin; at < end; ++at) {
    if (right == end || (left < middle && values[left] <= values[right])) {
      scratch[at] = values[left++];
    } else {
      exchanges += static_cast<double>(middle - left);
      scratch[at] = values[right++];
    }
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(begin), scratch.begin() + static_cast<std::ptrdiff_t>(end),
            values.begin() + static_cast<std::ptrdiff_t>(begin));
  return exchanges;
}

std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return ranks;
}

Estimate share_with_interval(double right, std::size_t count) {
  const Interval interval = wilson_interval(right, static_cast<double>(count));
  return {right / static_cast<double>(count), interval.low, interval.high};
}

}  // namespace

double kendall_tau(std::span<const double> a, std::span<const double> b) {
  const std::size_t count = a.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  std::vector<double> second(count), scratch(count);
  for (std::size_t i = 0; i < count; ++i) second[i] = b[order[i]];
  const double tied_a = tied_pairs(count, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]]; });
  const double tied_both = tied_pairs(
      count, [&](std::size_t i, std::size_t j) { return a[order[i]] == a[order[j]] && b[order[i]] == b[order[j]]; });
  const double exchanges = sort_and_count(second, scratch, 0, count);
  const double tied_b = tied_pairs(count, [&](std::size_t i, std::size_t j) { return second[i] == second[j]; });
  const double all = pairs_among(count);
  const double scale = std::sqrt((all - tied_a) * (all - tied_b));
  if (!(scale > 0)) return kUndefined;
  return (all - tied_a - tied_b + tied_both - 2 * exchanges) / scale;
}

double spearman_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = mean_ranks(a), y = mean_ranks(b);
  const double middle = (static_cast<double>(a.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kUndefined;
}

ComparisonEvaluation evaluate_comparisons(std::span<const double> scores, std::span<const double> posterior,
                                          const ComparisonData& gold) {
  const ComparisonAnswers& answers = gold.answers;
  if (scores.size() != answers.item_count() || (!posterior.empty() && posterior.size() != 3 * answers.task_count())) {
    throw Error(ErrorCode::bad_parameter, "there must be one score per item and three probabilities per pair");
  }
  ComparisonEvaluation evaluation;
  double right = 0, ordered = 0;
  for (std::size_t t = 0; t < gold.gold.size(); ++t) {
    if (!gold.gold[t]) continue;
    const Outcome truth = *gold.gold[t];
    ++evaluation.pairs;
    if (!posterior.empty()) {
      const auto p = posterior.subspan(t * 3, 3);
      const Outcome label = p[0] > p[1] && p[0] > p[2]   ? Outcome::left
                            : p[1] > p[0] && p[1] > p[2] ? Outcome::right
                                                         : Outcome::tie;
      right += label == truth ? 1 : 0;
    }
    if (truth == Outcome::tie) continue;
    ++evaluation.decisive_pairs;
    const ItemPair pair = answers.pairs()[t];
    const double ahead = (scores[index(pair.first)] - scores[index(pair.second)]) * (truth == Outcome::left ? 1 : -1);
    ordered += ahead > 0 ? 1 : ahead == 0 ? 0.5 : 0;
  }
  if (evaluation.pairs > 0 && !posterior.empty()) evaluation.accuracy = share_with_interval(right, evaluation.pairs);
  if (evaluation.decisive_pairs > 0) evaluation.ordered = share_with_interval(ordered, evaluation.decisive_pairs);
  std::vector<double> known, estimated;
  for (std::size_t i = 0; i < gold.gold_scores.size(); ++i) {
    if (std::isnan(gold.gold_scores[i])) continue;
    known.push_back(gold.gold_scores[i]);
    estimated.push_back(scores[i]);
  }
  evaluation.items = known.size();
  if (known.size() > 1) {
    evaluation.kendall = kendall_tau(estimated, known);
    evaluation.spearman = spearman_correlation(estimated, known);
  }
  if (evaluation.pairs == 0 && evaluation.items == 0) {
    throw Error(ErrorCode::bad_input, "no pair and no item has both answers and gold, so there is nothing to score");
  }
  return evaluation;
}

}  // namespace wisecrowd
