#include "aggregate/numbers/shared/spread.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/intervals.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::numbers {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kTasksPerBlock = 4096;
/// Answers like the crowd's that are added to a worker's own before it is judged.
constexpr double kCrowdAnswers = 2;

/// Sums over some tasks of one dimension.
struct SpreadSums {
  double squares = 0;   // around the mean of the task
  double absolute = 0;  // from the middle of the others
  double degrees = 0, compared = 0;
};

/// The answers of one task in one dimension, sorted, with where each stood.
class SortedTask {
 public:
  void take(const NumberAnswers& answers, std::size_t task, std::size_t dimension) {
    const auto offsets = answers.task_offsets();
    order_.clear();
    values_.clear();
    for (AnswerIndex a = offsets[task]; a < offsets[task + 1]; ++a) order_.push_back(a);
    std::sort(order_.begin(), order_.end(), [&](AnswerIndex a, AnswerIndex b) {
      const double x = answers.value(a)[dimension], y = answers.value(b)[dimension];
      return x != y ? x < y : a < b;
    });
    for (const AnswerIndex a : order_) values_.push_back(answers.value(a)[dimension]);
  }
  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] AnswerIndex answer(std::size_t rank) const { return order_[rank]; }

 private:
  std::vector<AnswerIndex> order_;
  std::vector<double> values_;
};

/// One task: its estimate, and the distance of each answer from the middle of the others.
void locate_task(const SortedTask& task, const Middle& middle, double& estimate, std::span<double> distance,
                 std::size_t dimension, std::size_t dimensions, SpreadSums& sums) {
  const auto values = task.values();
  if (values.empty()) return;
  estimate = middle(values, values.size());
  const double mean = mean_of(values, values.size());
  for (std::size_t r = 0; r < values.size(); ++r) {
    if (values.size() < 2) continue;
    const double off = values[r] - middle(values, r);
    distance[task.answer(r) * dimensions + dimension] = off;
    sums.squares += (values[r] - mean) * (values[r] - mean);
    sums.absolute += std::abs(off);
    sums.compared += 1;
  }
  sums.degrees += static_cast<double>(values.size()) - 1;  // 0 for a single answer
}

/// From distances to the others to bias and scale. The others' own scatter is taken off: a distance from the middle of
/// m − 1 answers has deviation² s² (1 + 1 / (m − 1)) if all are alike.
void judge_workers(const NumberAnswers& answers, std::span<const double> distance, const Spread& spread,
                   NumberFit& fit) {
  const std::size_t dimensions = fit.dimensions;
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    const auto own = answers.answers_of(WorkerId(w));
    const auto tasks = answers.tasks_of(WorkerId(w));
    for (std::size_t d = 0; d < dimensions; ++d) {
      double sum = 0, squares = 0, others = 0, count = 0;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const double off = distance[own[i] * dimensions + d];
        if (std::isnan(off)) continue;
        sum += off;
        squares += off * off;
        others += 1 / (static_cast<double>(answers.workers_of(tasks[i]).size()) - 1);
        count += 1;
      }
      const double typical = spread.deviation[d] * spread.deviation[d];
      if (count == 0 || std::isnan(typical)) {
        fit.scale[w * dimensions + d] = spread.deviation[d];
        fit.bias[w * dimensions + d] = std::isnan(typical) ? kUnknown : 0;
        continue;
      }
      const double bias = sum / (count + kCrowdAnswers);
      const double around = squares - 2 * bias * sum + count * bias * bias - others * typical;
      fit.bias[w * dimensions + d] = bias;
      fit.scale[w * dimensions + d] =
          std::sqrt((std::max(around, 0.0) + kCrowdAnswers * typical) / (count + kCrowdAnswers));
    }
  }
}

}  // namespace

NumberFit start_number_fit(const NumberData& data) {
  NumberFit fit;
  fit.task_count = data.answers.task_count();
  fit.worker_count = data.answers.worker_count();
  fit.dimensions = data.answers.dimensions();
  fit.estimate.assign(fit.task_count * fit.dimensions, kUnknown);
  fit.deviation = fit.low = fit.high = fit.estimate;
  fit.bias.assign(fit.worker_count * fit.dimensions, kUnknown);
  fit.scale = fit.bias;
  const auto offsets = data.answers.task_offsets();
  std::size_t unanswered = 0, single = 0;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    unanswered += offsets[t + 1] == offsets[t] ? 1 : 0;
    single += offsets[t + 1] == offsets[t] + 1 ? 1 : 0;
  }
  if (unanswered > 0) {
    fit.warnings.push_back(
        {"unanswered_tasks",
         fmt::format("{} of {} tasks have no answer, so there is no estimate for them.", unanswered, fit.task_count),
         "Ask for answers, or drop these tasks.", Severity::note});
  }
  if (single > 0 && single + unanswered == fit.task_count) {
    fit.warnings.push_back({"one_answer_per_task",
                            "no task has more than one answer, so nothing is known of how far answers scatter.",
                            "Ask for a second answer to some tasks.", Severity::serious});
  }
  return fit;
}

double mean_of(std::span<const double> sorted, std::size_t left_out) {
  double sum = 0;
  for (std::size_t r = 0; r < sorted.size(); ++r) sum += r == left_out ? 0 : sorted[r];
  return sum / static_cast<double>(sorted.size() - (left_out < sorted.size() ? 1 : 0));
}

double median_of(std::span<const double> sorted, std::size_t left_out) {
  const bool all = left_out >= sorted.size();
  const std::size_t count = sorted.size() - (all ? 0 : 1);
  const auto at = [&](std::size_t rank) { return sorted[!all && rank >= left_out ? rank + 1 : rank]; };
  return count % 2 == 1 ? at(count / 2) : at(count / 2 - 1) / 2 + at(count / 2) / 2;
}

Spread locate(const NumberData& data, const Middle& middle, NumberFit& fit, const RunContext& context) {
  const NumberAnswers& answers = data.answers;
  const std::size_t dimensions = fit.dimensions;
  std::vector<double> distance(answers.answer_count() * dimensions, kUnknown);
  const Blocks blocks{fit.task_count, kTasksPerBlock};
  std::vector<SpreadSums> parts(blocks.count() * dimensions);
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    SortedTask task;
    for (std::size_t t = blocks.begin(b); t < blocks.end(b) && !context.cancelled(); ++t) {
      for (std::size_t d = 0; d < dimensions; ++d) {
        task.take(answers, t, d);
        locate_task(task, middle, fit.estimate[t * dimensions + d], distance, d, dimensions, parts[b * dimensions + d]);
      }
    }
  });
  Spread spread;
  for (std::size_t d = 0; d < dimensions; ++d) {
    SpreadSums sum;
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      const SpreadSums& part = parts[b * dimensions + d];
      sum.squares += part.squares;
      sum.absolute += part.absolute;
      sum.degrees += part.degrees;
      sum.compared += part.compared;
    }
    spread.deviation.push_back(sum.degrees > 0 ? std::sqrt(sum.squares / sum.degrees) : kUnknown);
    spread.absolute.push_back(sum.compared > 0 ? sum.absolute / sum.compared : kUnknown);
    spread.all.push_back(all_answers(answers, d));
    spread.degrees = sum.degrees;
    spread.answers_per_task = sum.compared > 0 ? sum.compared / (sum.compared - sum.degrees) : 0;
  }
  judge_workers(answers, distance, spread, fit);
  return spread;
}

Around all_answers(const NumberAnswers& answers, std::size_t dimension) {
  const auto count = static_cast<double>(answers.answer_count());
  Around all;
  if (count == 0) return all;
  const auto values = answers.values();
  double sum = 0, squares = 0;
  for (std::size_t at = dimension; at < values.size(); at += answers.dimensions()) sum += values[at];
  all.middle = sum / count;
  for (std::size_t at = dimension; at < values.size(); at += answers.dimensions()) {
    squares += (values[at] - all.middle) * (values[at] - all.middle);
  }
  if (count > 1) all.deviation = std::sqrt(squares / (count - 1));
  return all;
}

Around usable(const Around& known, const Around& all) {
  Around usable = known;
  if (!std::isfinite(known.middle) || !std::isfinite(known.deviation)) usable = all;
  if (!std::isfinite(usable.middle)) usable.middle = 0;
  const double size = std::abs(usable.middle);
  if (!std::isfinite(usable.deviation)) usable.deviation = size > 0 ? size : 1;
  usable.deviation = std::max(usable.deviation, 1e-9 * std::max(size, 1e-3));
  return usable;
}

double normal_log_density(double off, double deviation) {
  const double steps = off / deviation;
  return -math::log(deviation * std::sqrt(2 * std::numbers::pi)) - steps * steps / 2;
}

double laplace_log_density(double off, double deviation) {
  const double scale = deviation / std::numbers::sqrt2;
  return -math::log(2 * scale) - std::abs(off) / scale;
}

double student_log_density(double off, double scale, double degrees) {
  const double steps = off / scale;
  return log_gamma((degrees + 1) / 2) - log_gamma(degrees / 2) -
         math::log(scale * std::sqrt(degrees * std::numbers::pi)) -
         (degrees + 1) / 2 * math::log1p(steps * steps / degrees);
}

double robust_deviation(const Spread& spread, std::size_t dimension) {
  return spread.absolute[dimension] * std::sqrt(std::numbers::pi / 2 / (1 + 1 / (spread.answers_per_task - 1)));
}

void finish_fit(const NumberData& data, const Spread& spread, const DeviationOf& deviation_of_estimate, NumberFit& fit,
                const RunContext& context) {
  const double quantile = student_quantile(spread.degrees);
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const auto answers = static_cast<double>(data.answers.workers_of(TaskId(t)).size());
    if (answers == 0) continue;
    for (std::size_t d = 0; d < fit.dimensions; ++d) {
      const std::size_t at = t * fit.dimensions + d;
      fit.deviation[at] = deviation_of_estimate(spread, d, answers);
      fit.low[at] = fit.estimate[at] - quantile * fit.deviation[at];
      fit.high[at] = fit.estimate[at] + quantile * fit.deviation[at];
    }
  }
  pin_gold(data, fit);
  fit.iterations = 1;
  if (context.cancelled()) fit.status = Status::cancelled;
}

std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers, const Middle& middle,
                                   const DeviationOf& deviation_of_answer, LogDensity log_density,
                                   const RunContext& context) {
  NumberFit fit = start_number_fit(data);
  const Spread spread = locate(data, middle, fit, context);
  pin_gold(data, fit);
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const NumberAnswer& answer : answers) {
    const double seen = data.has_gold(answer.task) ? std::numeric_limits<double>::infinity()
                                                   : static_cast<double>(data.answers.workers_of(answer.task).size());
    double sum = 0;
    for (std::size_t d = 0; d < fit.dimensions; ++d) {
      const double estimate = fit.estimate[index(answer.task) * fit.dimensions + d];
      const Around around = usable({estimate, deviation_of_answer(spread, d, seen)}, spread.all[d]);
      sum += log_density(answer.value[d] - around.middle, around.deviation);
    }
    logs.push_back(sum);
  }
  return logs;
}

void pin_gold(const NumberData& data, NumberFit& fit) {
  if (!data.has_gold()) return;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    if (!data.has_gold(TaskId(t))) continue;
    for (std::size_t d = 0; d < fit.dimensions; ++d) {
      const std::size_t at = t * fit.dimensions + d;
      fit.estimate[at] = fit.low[at] = fit.high[at] = data.gold[at];
      fit.deviation[at] = 0;
    }
  }
}

}  // namespace wisecrowd::numbers
