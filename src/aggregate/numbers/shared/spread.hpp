#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::numbers {

/// Sizes, and the warnings that hold for any method.
[[nodiscard]] NumberFit start_number_fit(const NumberData& data);

/// A middle and the standard deviation around it; NaN where unknown.
struct Around {
  double middle = std::numeric_limits<double>::quiet_NaN();
  double deviation = std::numeric_limits<double>::quiet_NaN();
};

/// How answers scatter around what the others say of the same task, one entry per dimension. All is measured on tasks
/// with at least two answers; NaN where there is none.
struct Spread {
  std::vector<double> deviation;  ///< pooled standard deviation of one answer around its task
  std::vector<double> absolute;   ///< mean absolute distance of an answer from the middle of the others
  double degrees = 0;             ///< of freedom behind `deviation`
  double answers_per_task = 0;    ///< of the tasks with at least two
  std::vector<Around> all;        ///< all answers, whatever their task
};

/// The middle of some answers of a task (its mean or median), given sorted values, without the one at `left_out` if
/// that is below their number.
using Middle = std::function<double(std::span<const double> sorted, std::size_t left_out)>;

[[nodiscard]] double mean_of(std::span<const double> sorted, std::size_t left_out);
[[nodiscard]] double median_of(std::span<const double> sorted, std::size_t left_out);

/// Fills estimate (the middle of each task's answers), bias and scale of `fit`, and measures the spread. A worker's
/// bias is its mean distance from the middle of the others' answers to the same tasks, its scale the deviation around
/// that, both shrunk by two answers that are like the crowd's.
[[nodiscard]] Spread locate(const NumberData& data, const Middle& middle, NumberFit& fit, const RunContext& context);

/// Mean and standard deviation of all answers, whatever their task.
[[nodiscard]] Around all_answers(const NumberAnswers& answers, std::size_t dimension);

/// What a density can stand on, always finite: what is known of a task, else all answers, else 0. Where answers do not
/// scatter at all, the deviation is a billionth of their size; where nothing is known of it, their size.
[[nodiscard]] Around usable(const Around& known, const Around& all);

// Log densities of an answer that is `off` from the middle.
using LogDensity = double (*)(double off, double deviation);
[[nodiscard]] double normal_log_density(double off, double deviation);
[[nodiscard]] double laplace_log_density(double off, double deviation);
/// Student's t, of which `scale` is the width and not the deviation.
[[nodiscard]] double student_log_density(double off, double scale, double degrees);

/// The deviation of one answer by its mean absolute distance from the others' median, so that far answers count less:
/// for normal errors that is √(2/π) of the deviation, and the median of m − 1 others scatters, too.
[[nodiscard]] double robust_deviation(const Spread& spread, std::size_t dimension);

/// A standard deviation in one dimension of a task with so many answers (infinitely many where gold is known).
using DeviationOf = std::function<double(const Spread& spread, std::size_t dimension, double answers)>;

/// Ends a fit that `locate` began: deviations, Student's 95 % intervals, gold, status.
void finish_fit(const NumberData& data, const Spread& spread, const DeviationOf& deviation_of_estimate, NumberFit& fit,
                const RunContext& context);

/// Log densities of answers that were not seen: around the task's middle, or around all answers where the task has
/// none.
[[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                 const Middle& middle, const DeviationOf& deviation_of_answer,
                                                 LogDensity log_density, const RunContext& context);

/// Gold is known: its tasks have it as estimate, with no deviation.
void pin_gold(const NumberData& data, NumberFit& fit);

}  // namespace wisecrowd::numbers
