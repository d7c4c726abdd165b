#include "wisecrowd/evaluate_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/intervals.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kNotDefined = std::numeric_limits<double>::quiet_NaN();

/// Mean of what was added, and its standard error.
class MeanError {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
    ++count_;
  }
  [[nodiscard]] double mean() const { return count_ == 0 ? kNotDefined : sum_ / static_cast<double>(count_); }
  [[nodiscard]] double error() const {
    if (count_ < 2) return kNotDefined;
    const auto n = static_cast<double>(count_);
    return std::sqrt(std::max(squares_ / n - mean() * mean(), 0.0) / (n - 1));
  }

 private:
  double sum_ = 0, squares_ = 0;
  std::size_t count_ = 0;
};

NumberScore score_dimension(std::span<const double> estimate, std::span<const double> low, std::span<const double> high,
                            std::span<const double> gold, std::size_t dimensions, std::size_t dimension) {
  MeanError absolute, square, signed_error, truth, truth_square, held;
  for (std::size_t at = dimension; at < gold.size(); at += dimensions) {
    if (std::isnan(gold[at]) || std::isnan(estimate[at])) continue;
    const double off = estimate[at] - gold[at];
    absolute.add(std::abs(off));
    square.add(off * off);
    signed_error.add(off);
    truth.add(gold[at]);
    if (!low.empty() && !std::isnan(low[at])) held.add(low[at] <= gold[at] && gold[at] <= high[at] ? 1 : 0);
  }
  double spread = 0;
  for (std::size_t at = dimension; at < gold.size(); at += dimensions) {
    if (std::isnan(gold[at]) || std::isnan(estimate[at])) continue;
    spread += (gold[at] - truth.mean()) * (gold[at] - truth.mean());
    truth_square.add((gold[at] - truth.mean()) * (gold[at] - truth.mean()));
  }
  NumberScore score;
  score.absolute_error = {absolute.mean(), std::max(absolute.mean() - kNormal95 * absolute.error(), 0.0),
                          absolute.mean() + kNormal95 * absolute.error()};
  score.squared_error = {std::sqrt(square.mean()), std::sqrt(std::max(square.mean() - kNormal95 * square.error(), 0.0)),
                         std::sqrt(square.mean() + kNormal95 * square.error())};
  score.r_squared = spread > 0 ? 1 - square.mean() / truth_square.mean() : kNotDefined;
  score.bias = signed_error.mean();
  score.coverage = held.mean();
  return score;
}

}  // namespace

NumberEvaluation evaluate_numbers(std::span<const double> estimate, std::span<const double> low,
                                  std::span<const double> high, std::span<const double> gold, std::size_t dimensions) {
  if (dimensions == 0 || estimate.size() != gold.size() || gold.size() % dimensions != 0 || low.size() != high.size() ||
      (!low.empty() && low.size() != gold.size())) {
    throw Error(ErrorCode::bad_parameter, "estimates, intervals and gold must have one number per task and dimension");
  }
  NumberEvaluation evaluation;
  for (std::size_t at = 0; at < gold.size(); at += dimensions) {
    if (std::isnan(gold[at])) continue;
    ++(std::isnan(estimate[at]) ? evaluation.missing : evaluation.tasks);
  }
  if (evaluation.tasks == 0) {
    throw Error(ErrorCode::bad_input, "no task has both an estimate and gold, so there is nothing to score");
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    evaluation.dimensions.push_back(score_dimension(estimate, low, high, gold, dimensions, d));
  }
  return evaluation;
}

}  // namespace wisecrowd
