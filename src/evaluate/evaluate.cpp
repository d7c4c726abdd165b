#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/intervals.hpp"
#include "base/parallel.hpp"
#include "base/permutation.hpp"
#include "base/rng.hpp"
#include "evaluate/scores.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Beyond so many tasks, groups of tasks are resampled instead of single ones. The width of an interval is then known
/// from so many groups: a relative error of 1/√(2 · groups).
constexpr std::size_t kMostGroups = 16384;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::bad_input, message); }

void check(const Predictions& predictions, std::size_t classes, const EvaluateOptions& options) {
  const std::size_t tasks = predictions.gold.size();
  if (predictions.predicted.size() != tasks) {
    refuse(fmt::format("{} predictions for {} tasks of gold: give one each, in the same order",
                       predictions.predicted.size(), tasks));
  }
  if (!predictions.posterior.empty() && predictions.posterior.size() != tasks * classes) {
    refuse(fmt::format("{} probabilities; {} tasks × {} classes need {}", predictions.posterior.size(), tasks, classes,
                       tasks * classes));
  }
  if (predictions.fractional && predictions.posterior.empty()) {
    throw Error(ErrorCode::bad_parameter,
                "fractional ties need the probabilities of all classes: give them, or choose another tie rule");
  }
  if (!(options.confidence_level > 0 && options.confidence_level < 1)) {
    throw Error(ErrorCode::bad_parameter, fmt::format("a confidence level of {} is not between 0 and 1: 0.95 is usual",
                                                      options.confidence_level));
  }
  if (options.calibration_bins == 0) {
    throw Error(ErrorCode::bad_parameter, "calibration needs at least one bin: 15 are usual");
  }
}

/// Tasks with both a prediction and gold; checks each.
std::vector<std::uint32_t> scored_tasks(const Predictions& predictions, std::size_t classes, ThreadPool& pool) {
  const Blocks blocks{predictions.gold.size(), 65536};
  std::vector<std::vector<std::uint32_t>> found(blocks.count());
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
      const ClassId label = predictions.predicted[t];
      const ClassId gold = predictions.gold[t];
      if (label == kNoClass || gold == kNoClass) continue;
      if (index(label) >= classes || index(gold) >= classes) {
        refuse(fmt::format("task {} has class {}, but there are only {} classes", t,
                           std::max(index(label), index(gold)), classes));
      }
      if (!predictions.posterior.empty()) {
        double sum = 0;
        bool in_range = true;
        for (const double p : predictions.posterior.subspan(t * classes, classes)) {
          in_range = in_range && p >= 0 && p <= 1 + 1e-6;
          sum += p;
        }
        if (!in_range || std::abs(sum - 1) > 1e-3) {
          refuse(fmt::format("the probabilities of task {} sum to {}: they must be from 0 to 1 and sum to 1", t, sum));
        }
      }
      found[b].push_back(static_cast<std::uint32_t>(t));
    }
  });
  std::vector<std::uint32_t> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// The terms of each group, without repeated slots.
using Groups = std::vector<std::vector<ScoreTerm>>;

Groups score_groups(const ScoreLayout& layout, const Predictions& predictions, std::span<const std::uint32_t> tasks,
                    const RunContext& context) {
  const std::size_t count = std::min(tasks.size(), kMostGroups);
  Groups groups(count);
  const Permutation shuffled(tasks.size(), context.rng("bootstrap groups"));
  const Blocks blocks{count, 64};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    std::vector<ScoreTerm> terms;
    std::vector<double> sums(layout.slots(), 0.0);
    for (std::size_t g = blocks.begin(b); g < blocks.end(b); ++g) {
      terms.clear();
      // Group g holds places [g·n/G, (g+1)·n/G) of a random order.
      for (std::size_t i = g * tasks.size() / count; i < (g + 1) * tasks.size() / count; ++i) {
        score_task(layout, predictions, tasks[shuffled(i)], terms);
      }
      std::vector<std::uint32_t> touched;
      for (const ScoreTerm& term : terms) {
        touched.push_back(term.slot);
        sums[term.slot] += term.value;
      }
      std::sort(touched.begin(), touched.end());
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      groups[g].reserve(touched.size());
      for (const std::uint32_t slot : touched) {
        groups[g].push_back({slot, sums[slot]});
        sums[slot] = 0;
      }
    }
  });
  return groups;
}

/// Percentile with linear interpolation between order statistics; `sorted` is not empty.
double percentile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// The measures of resamples; empty when cancelled.
std::vector<Measures> resample(const ScoreLayout& layout, const Groups& groups, std::size_t resamples,
                               const RunContext& context) {
  std::vector<Measures> drawn(resamples);
  context.pool().for_each_block(resamples, [&](std::size_t r, unsigned thread) {
    if (context.cancelled()) return;
    Rng rng = context.rng("bootstrap", r);
    std::vector<std::uint32_t> times(groups.size(), 0);
    for (std::size_t i = 0; i < groups.size(); ++i) ++times[rng.below(groups.size())];
    std::vector<double> sums(layout.slots(), 0.0);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (times[g] == 0) continue;
      for (const ScoreTerm& term : groups[g]) sums[term.slot] += times[g] * term.value;
    }
    drawn[r] = measures_of(layout, sums);
    if (thread == 0) {
      context.report({.stage = "bootstrap", .done = static_cast<double>(r), .total = static_cast<double>(resamples)});
    }
  });
  if (context.cancelled()) drawn.clear();
  return drawn;
}

/// Tasks of the same probability are kept or left together in expectation: each counts with their mean accuracy.
std::vector<CoveragePoint> coverage_curve(const Predictions& predictions, std::span<const std::uint32_t> tasks,
                                          std::size_t classes) {
  struct Scored {
    double probability;
    double right;
  };
  std::vector<Scored> scored;
  scored.reserve(tasks.size());
  for (const std::uint32_t t : tasks) {
    scored.push_back({predictions.posterior[t * classes + index(predictions.predicted[t])],
                      predictions.predicted[t] == predictions.gold[t] ? 1.0 : 0.0});
  }
  std::sort(scored.begin(), scored.end(),
            [](const Scored& a, const Scored& b) { return a.probability > b.probability; });
  for (std::size_t first = 0; first < scored.size();) {
    std::size_t last = first;
    double right = 0;
    for (; last < scored.size() && scored[last].probability == scored[first].probability; ++last) {
      right += scored[last].right;
    }
    for (std::size_t i = first; i < last; ++i) scored[i].right = right / static_cast<double>(last - first);
    first = last;
  }
  std::vector<CoveragePoint> curve;
  double right = 0;
  std::size_t kept = 0;
  for (const double share : {0.5, 0.7, 0.8, 0.9, 0.95, 1.0}) {
    const auto wanted =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(share * static_cast<double>(scored.size()))));
    for (; kept < wanted; ++kept) right += scored[kept].right;
    curve.push_back({static_cast<double>(kept) / static_cast<double>(scored.size()), right / static_cast<double>(kept),
                     scored[kept - 1].probability});
  }
  return curve;
}

}  // namespace

Evaluation evaluate(std::span<const ClassId> predicted, std::span<const double> posterior,
                    std::span<const ClassId> gold, std::size_t class_count, const EvaluateOptions& options,
                    const RunContext& context) {
  const Predictions predictions{predicted, posterior, gold, options.tie_rule == TieRule::fractional};
  check(predictions, class_count, options);
  const auto tasks = scored_tasks(predictions, class_count, context.pool());
  if (tasks.empty()) {
    refuse("no task has both a prediction and gold: check that both name the same tasks");
  }
  const ScoreLayout layout(class_count, options.calibration_bins);
  const Groups groups = score_groups(layout, predictions, tasks, context);
  std::vector<double> sums(layout.slots(), 0.0);
  for (const auto& group : groups) {
    for (const ScoreTerm& term : group) sums[term.slot] += term.value;
  }
  const Measures point = measures_of(layout, sums);
  const auto drawn = resample(layout, groups, options.bootstrap, context);

  const auto estimate = [&](double Measures::*measure) {
    Estimate result{point.*measure, kNone, kNone};
    if (drawn.empty()) return result;
    std::vector<double> values;
    for (const Measures& m : drawn) values.push_back(m.*measure);
    std::sort(values.begin(), values.end());
    result.low = percentile(values, (1 - options.confidence_level) / 2);
    result.high = percentile(values, (1 + options.confidence_level) / 2);
    return result;
  };
  Evaluation evaluation;
  evaluation.tasks = tasks.size();
  for (std::size_t t = 0; t < gold.size(); ++t) {
    evaluation.abstained += predicted[t] == kNoClass && gold[t] != kNoClass ? 1 : 0;
  }
  evaluation.accuracy = {point.accuracy, kNone, kNone};
  if (!drawn.empty()) {
    const auto count = static_cast<double>(tasks.size());
    const Interval interval = wilson_interval(point.accuracy * count, count, options.confidence_level);
    evaluation.accuracy = {point.accuracy, interval.low, interval.high};
  }
  evaluation.macro_f1 = estimate(&Measures::macro_f1);
  // Resamples of tasks that are all right, or all wrong, are all the same; F1 is then as sure as accuracy is.
  if (evaluation.macro_f1.low == evaluation.macro_f1.high && point.macro_f1 == point.accuracy) {
    evaluation.macro_f1 = evaluation.accuracy;
  }
  if (!posterior.empty()) {
    evaluation.log_loss = estimate(&Measures::log_loss);
    evaluation.brier = estimate(&Measures::brier);
    evaluation.ece = estimate(&Measures::ece);
    evaluation.curve = coverage_curve(predictions, tasks, class_count);
  }
  return evaluation;
}

}  // namespace wisecrowd
