#include "aggregate/numbers/mean/mean.hpp"

#include <cmath>
#include <numbers>

#include "aggregate/method.hpp"
#include "aggregate/numbers/shared/spread.hpp"
#include "base/intervals.hpp"

namespace wisecrowd::mean {

NumberMethod method() {
  MethodInfo info;
  info.title = "Mean";
  info.summary = "The mean of each task's answers; every worker counts the same.";
  info.when_to_use = "As a baseline, or when errors are small, symmetric and alike for all workers.";
  info.reference = "folklore";
  info.assumptions = "Errors are independent, without a bias that workers share, and about equally large everywhere.";
  info.cost = "time S; memory S·D";
  info.uses_gold = true;
  return NumberMethod::of<Mean>(std::move(info));
}

NumberFit Mean::fit(const NumberData& data, const RunContext& context, const NumberStart&) const {
  NumberFit fit = numbers::start_number_fit(data);
  const numbers::Spread spread = numbers::locate(data, numbers::mean_of, fit, context);
  const double quantile = student_quantile(spread.degrees);
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const auto answers = static_cast<double>(data.answers.workers_of(TaskId(t)).size());
    if (answers == 0) continue;
    for (std::size_t d = 0; d < fit.dimensions; ++d) {
      const std::size_t at = t * fit.dimensions + d;
      fit.deviation[at] = spread.deviation[d] / std::sqrt(answers);
      fit.low[at] = fit.estimate[at] - quantile * fit.deviation[at];
      fit.high[at] = fit.estimate[at] + quantile * fit.deviation[at];
    }
  }
  numbers::pin_gold(data, fit);
  fit.iterations = 1;
  if (context.cancelled()) fit.status = Status::cancelled;
  return fit;
}

std::vector<double> Mean::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                         const RunContext& context) const {
  NumberFit fit = numbers::start_number_fit(data);
  const numbers::Spread spread = numbers::locate(data, numbers::mean_of, fit, context);
  numbers::pin_gold(data, fit);
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const NumberAnswer& answer : answers) {
    const auto seen = static_cast<double>(data.answers.workers_of(answer.task).size());
    double sum = 0;
    for (std::size_t d = 0; d < fit.dimensions; ++d) {
      const double estimate = fit.estimate[index(answer.task) * fit.dimensions + d];
      const bool known = !std::isnan(estimate) && spread.deviation[d] > 0;
      const double middle = known ? estimate : spread.all_mean[d];
      const double share = data.has_gold(answer.task) || seen == 0 ? 0 : 1 / seen;
      const double scale = known ? spread.deviation[d] * std::sqrt(1 + share) : spread.all_deviation[d];
      const double off = (answer.value[d] - middle) / numbers::usable_scale(scale, middle);
      sum -= std::log(numbers::usable_scale(scale, middle) * std::sqrt(2 * std::numbers::pi)) + off * off / 2;
    }
    logs.push_back(sum);
  }
  return logs;
}

}  // namespace wisecrowd::mean
