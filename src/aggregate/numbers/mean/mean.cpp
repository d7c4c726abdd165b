#include "aggregate/numbers/mean/mean.hpp"

#include <cmath>

#include "aggregate/method.hpp"
#include "aggregate/numbers/shared/spread.hpp"

namespace wisecrowd::mean {
namespace {

double deviation_of_mean(const numbers::Spread& spread, std::size_t dimension, double answers) {
  return spread.deviation[dimension] / std::sqrt(answers);
}

/// Its own, and that of the mean of the others.
double deviation_of_answer(const numbers::Spread& spread, std::size_t dimension, double answers) {
  return spread.deviation[dimension] * std::sqrt(1 + 1 / answers);
}

}  // namespace

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
  numbers::finish_fit(data, spread, deviation_of_mean, fit, context);
  return fit;
}

std::vector<double> Mean::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                         const RunContext& context) const {
  return numbers::log_predictive(data, answers, numbers::mean_of, deviation_of_answer, numbers::normal_log_density,
                                 context);
}

}  // namespace wisecrowd::mean
