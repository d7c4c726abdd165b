#include "aggregate/numbers/trimmed_mean/trimmed_mean.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "aggregate/method.hpp"
#include "aggregate/numbers/shared/spread.hpp"

namespace wisecrowd::trimmed_mean {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("share", o.share, 0, 0.49, "share of a task's answers that is left away at either end");
}

numbers::Middle middle_with(double share) {
  return [share](std::span<const double> sorted, std::size_t left_out) { return trimmed(sorted, left_out, share); };
}

}  // namespace

double trimmed(std::span<const double> sorted, std::size_t left_out, double share) {
  const bool all = left_out >= sorted.size();
  const std::size_t count = sorted.size() - (all ? 0 : 1);
  const auto at = [&](std::size_t rank) { return sorted[!all && rank >= left_out ? rank + 1 : rank]; };
  const double cut = share * static_cast<double>(count);
  double sum = 0, weight = 0;
  for (std::size_t r = 0; r < count; ++r) {
    const double from_end = static_cast<double>(std::min(r, count - 1 - r)) + 1;
    // The one in the middle may be cut from both sides.
    const double cuts = count % 2 == 1 && r == count / 2 ? 2 : 1;
    const double own = std::clamp(from_end - cut, 0.0, 1.0);
    const double kept = cuts == 2 ? std::max(2 * own - 1, 0.0) : own;
    sum += kept * at(r);
    weight += kept;
  }
  return sum / weight;
}

NumberMethod method() {
  MethodInfo info;
  info.title = "Trimmed mean";
  info.summary = "The mean of each task's answers without the lowest and the highest ones.";
  info.when_to_use = "Between mean and median: few wild answers, and many answers to a task.";
  info.reference = "folklore; J. W. Tukey, A survey of sampling from contaminated distributions, 1960";
  info.assumptions = "Wild answers are fewer than the share that is left away.";
  info.cost = "time S log(S/N); memory S·D";
  info.uses_gold = true;
  return NumberMethod::of<TrimmedMean, parameters>(std::move(info));
}

NumberFit TrimmedMean::fit(const NumberData& data, const RunContext& context, const NumberStart&) const {
  NumberFit fit = numbers::start_number_fit(data);
  const numbers::Spread spread = numbers::locate(data, middle_with(options_.share), fit, context);
  // For normal errors, a trimmed mean is as good as the mean of this share of the answers, from all of them for the
  // mean to 2/π for the median.
  const double worth = 1 - 2 * options_.share * (1 - 2 / std::numbers::pi);
  numbers::finish_fit(
      data, spread,
      [&](const numbers::Spread& s, std::size_t dimension, double answers) {
        return numbers::robust_deviation(s, dimension) / std::sqrt(answers * worth);
      },
      fit, context);
  return fit;
}

std::vector<double> TrimmedMean::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                const RunContext& context) const {
  const auto deviation = [](const numbers::Spread& spread, std::size_t dimension, double) {
    return spread.absolute[dimension] * std::numbers::sqrt2;
  };
  return numbers::log_predictive(data, answers, middle_with(options_.share), deviation, numbers::laplace_log_density,
                                 context);
}

}  // namespace wisecrowd::trimmed_mean
