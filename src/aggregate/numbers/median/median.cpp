#include "aggregate/numbers/median/median.hpp"

#include <cmath>
#include <numbers>

#include "aggregate/method.hpp"
#include "aggregate/numbers/shared/spread.hpp"

namespace wisecrowd::median {
namespace {

/// Deviation of the median of m normal answers over that of their mean: 1 for one and two, nearly √(π/2) for many.
double over_mean(double answers) { return answers < 3 ? 1 : std::sqrt(std::numbers::pi / 2); }

double deviation_of_median(const numbers::Spread& spread, std::size_t dimension, double answers) {
  return numbers::robust_deviation(spread, dimension) * over_mean(answers) / std::sqrt(answers);
}

/// Laplace with the mean absolute distance, which holds the scatter of the others' median already.
double deviation_of_answer(const numbers::Spread& spread, std::size_t dimension, double) {
  return spread.absolute[dimension] * std::numbers::sqrt2;
}

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
  numbers::finish_fit(data, spread, deviation_of_median, fit, context);
  return fit;
}

std::vector<double> Median::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                           const RunContext& context) const {
  return numbers::log_predictive(data, answers, numbers::median_of, deviation_of_answer, numbers::laplace_log_density,
                                 context);
}

}  // namespace wisecrowd::median
