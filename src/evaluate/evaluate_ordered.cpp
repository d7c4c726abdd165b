#include "wisecrowd/evaluate_ordered.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kResamples = 1000;

/// How often each pair of label and gold occurs, classes × classes.
using RankCounts = std::vector<double>;

struct RankMeasures {
  double error = 0, kappa = 0;
};

RankMeasures rank_measures_of(const RankCounts& counts, std::size_t classes) {
  double tasks = 0, error = 0, square = 0;
  double labels = 0, label_squares = 0, golds = 0, gold_squares = 0;
  for (std::size_t l = 0; l < classes; ++l) {
    for (std::size_t g = 0; g < classes; ++g) {
      const double n = counts[l * classes + g];
      if (n == 0) continue;
      const auto label = static_cast<double>(l), gold = static_cast<double>(g);
      tasks += n;
      error += n * std::abs(label - gold);
      square += n * (label - gold) * (label - gold);
      labels += n * label;
      label_squares += n * label * label;
      golds += n * gold;
      gold_squares += n * gold * gold;
    }
  }
  // By chance, (label − gold)² has the mean E l² − 2 E l E g + E g².
  const double chance = label_squares / tasks - 2 * (labels / tasks) * (golds / tasks) + gold_squares / tasks;
  return {error / tasks, chance > 0 ? 1 - square / tasks / chance : 0};
}

Estimate percentiles(double value, std::vector<double> drawn) {
  if (drawn.empty()) return {value, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  std::sort(drawn.begin(), drawn.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(drawn.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, drawn.size() - 1);
    return drawn[below] + (place - static_cast<double>(below)) * (drawn[above] - drawn[below]);
  };
  return {value, at(0.025), at(0.975)};
}

/// Σ over classes c, k of left_c right_k d(c, k)², for a distance that is a difference of places.
double spread(std::span<const double> places, std::span<const double> left, std::span<const double> right) {
  double l = 0, l1 = 0, l2 = 0, r = 0, r1 = 0, r2 = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double x = places[k];
    l += left[k];
    l1 += left[k] * x;
    l2 += left[k] * x * x;
    r += right[k];
    r1 += right[k] * x;
    r2 += right[k] * x * x;
  }
  return l2 * r - 2 * l1 * r1 + l * r2;
}

}  // namespace

RankScores evaluate_ranks(std::span<const ClassId> labels, std::span<const ClassId> gold, std::size_t class_count,
                          const RunContext& context) {
  RankCounts counts(class_count * class_count, 0.0);
  std::uint64_t tasks = 0;
  for (std::size_t t = 0; t < std::min(labels.size(), gold.size()); ++t) {
    if (labels[t] == kNoClass || gold[t] == kNoClass) continue;
    counts[index(labels[t]) * class_count + index(gold[t])] += 1;
    ++tasks;
  }
  if (tasks == 0) {
    throw Error(ErrorCode::bad_input, "no task has both a label and gold: check that both name the same tasks");
  }
  const RankMeasures point = rank_measures_of(counts, class_count);
  // A resample of tasks is a draw of as many pairs by their shares.
  std::vector<double> until(counts.size());
  std::partial_sum(counts.begin(), counts.end(), until.begin());
  std::vector<double> errors(kResamples), kappas(kResamples);
  context.pool().for_each_block(kResamples, [&](std::size_t r, unsigned) {
    if (context.cancelled()) return;
    Rng rng = context.rng("rank bootstrap", r);
    RankCounts drawn(counts.size(), 0.0);
    for (std::uint64_t t = 0; t < tasks; ++t) {
      const auto place = static_cast<double>(rng.below(tasks)) + 0.5;
      drawn[static_cast<std::size_t>(std::upper_bound(until.begin(), until.end(), place) - until.begin())] += 1;
    }
    const RankMeasures measures = rank_measures_of(drawn, class_count);
    errors[r] = measures.error;
    kappas[r] = measures.kappa;
  });
  if (context.cancelled()) errors.clear(), kappas.clear();
  return {percentiles(point.error, std::move(errors)), percentiles(point.kappa, std::move(kappas))};
}

RankAgreement describe_ranks(const CategoryAnswers& answers) {
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  const std::size_t classes = answers.class_count();
  std::vector<double> pairable(classes, 0.0);  // answers to tasks with at least two
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto labels = answers.labels_of(TaskId(t));
    if (labels.size() < 2) continue;
    for (const ClassId k : labels) pairable[index(k)] += 1;
  }
  const double all = std::accumulate(pairable.begin(), pairable.end(), 0.0);
  if (std::count_if(pairable.begin(), pairable.end(), [](double n) { return n > 0; }) < 2) {
    return {kUndefined, kUndefined};
  }
  // Krippendorff's ordinal distance between two classes is the number of answers that lie between them, half of both
  // ends counted: a difference of mid-ranks, whose unit does not matter.
  std::vector<double> mid_ranks(classes), ranks(classes);
  double below = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    mid_ranks[k] = (below + pairable[k] / 2) / all;
    ranks[k] = static_cast<double>(k);
    below += pairable[k];
  }
  double by_answer = 0;  // Σ over tasks of Σ over ordered pairs of mid-rank distance² / (m − 1)
  double by_task = 0;    // Σ over tasks of the mean over pairs of rank distance²
  double tasks = 0;
  std::vector<double> said(classes);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto labels = answers.labels_of(TaskId(t));
    if (labels.size() < 2) continue;
    std::fill(said.begin(), said.end(), 0.0);
    for (const ClassId k : labels) said[index(k)] += 1;
    const auto others = static_cast<double>(labels.size() - 1);
    by_answer += spread(mid_ranks, said, said) / others;
    by_task += spread(ranks, said, said) / (others * (others + 1));
    tasks += 1;
  }
  return {1 - by_answer / all / (spread(mid_ranks, pairable, pairable) / (all * (all - 1))),
          1 - by_task / tasks / (spread(ranks, pairable, pairable) / (all * all))};
}

}  // namespace wisecrowd
