#include "aggregate/numbers/median/median.hpp"

#include <cmath>
#include <numbers>

#include "aggregate/method.hpp"
#include "aggregate/numbers/shared/spread.hpp"
#include "base/intervals.hpp"

namespace wisecrowd::median {
namespace {

/// The deviation of one answer by its mean absolute distance from the others' median, so that far answers count less:
/// for normal errors that is √(2/π) of the deviation, and the median of m − 1 others scatters, too.
double deviation_of_one(const numbers::Spread& spread, std::size_t dimension) {
  return spread.absolute[dimension] * std::sqrt(std::numbers::pi / 2 / (1 + 1 / (spread.answers_per_task - 1)));
}

/// Deviation of the median of m normal answers over that of their mean: 1 for one and two, nearly √(π/2) for many.
double over_mean(double answers) { return answers < 3 ? 1 : std::sqrt(std::numbers::pi / 2); }

}  // namespace

NumberMethod method() {
  MethodInfo info;
  info.title = "Median";
  info.summary = "The median of each task's answers: half of the workers may err as far as they like.";
  info.when_to_use = "As a robust baseline: typing errors, other units, people who guess.";
  info.reference = "folklore";
  info.assumptions = "More than half of the answers to a task are near the truth, and as many lie above as below.";
  info.cost = "time S log(S/N); memory S·D";
  info.uses_gold = true;
  return NumberMethod::of<Median>(std::move(info));
}

NumberFit Median::fit(const NumberData& data, const RunContext& context, const NumberStart&) const {
  NumberFit fit = numbers::start_number_fit(data);
  const numbers::Spread spread = numbers::locate(data, numbers::median_of, fit, context);
  const double quantile = student_quantile(spread.degrees);
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const auto answers = static_cast<double>(data.answers.workers_of(TaskId(t)).size());
    if (answers == 0) continue;
    for (std::size_t d = 0; d < fit.dimensions; ++d) {
      const std::size_t at = t * fit.dimensions + d;
      fit.deviation[at] = deviation_of_one(spread, d) * over_mean(answers) / std::sqrt(answers);
      fit.low[at] = fit.estimate[at] - quantile * fit.deviation[at];
      fit.high[at] = fit.estimate[at] + quantile * fit.deviation[at];
    }
  }
  numbers::pin_gold(data, fit);
  fit.iterations = 1;
  if (context.cancelled()) fit.status = Status::cancelled;
  return fit;
}

std::vector<double> Median::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                           const RunContext& context) const {
  NumberFit fit = numbers::start_number_fit(data);
  const numbers::Spread spread = numbers::locate(data, numbers::median_of, fit, context);
  numbers::pin_gold(data, fit);
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const NumberAnswer& answer : answers) {
    double sum = 0;
    for (std::size_t d = 0; d < fit.dimensions; ++d) {
      const double estimate = fit.estimate[index(answer.task) * fit.dimensions + d];
      const bool known = !std::isnan(estimate) && spread.absolute[d] > 0;
      const double middle = known ? estimate : spread.all_mean[d];
      const double scale =
          numbers::usable_scale(known ? spread.absolute[d] : spread.all_deviation[d] / std::numbers::sqrt2, middle);
      sum -= std::log(2 * scale) + std::abs(answer.value[d] - middle) / scale;
    }
    logs.push_back(sum);
  }
  return logs;
}

}  // namespace wisecrowd::median
