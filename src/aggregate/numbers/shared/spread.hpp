#pragma once

#include <vector>

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::numbers {

/// Sizes, and the warnings that hold for any method.
[[nodiscard]] NumberFit start_number_fit(const NumberData& data);

/// How answers scatter around what the others say of the same task, one entry per dimension. All is measured on tasks
/// with at least two answers; NaN where there is none.
struct Spread {
  std::vector<double> deviation;                ///< pooled standard deviation of one answer around its task
  std::vector<double> absolute;                 ///< mean absolute distance of an answer from the middle of the others
  double degrees = 0;                           ///< of freedom behind `deviation`
  double answers_per_task = 0;                  ///< of the tasks with at least two
  std::vector<double> all_mean, all_deviation;  ///< of all answers, whatever their task
};

/// The middle of some answers of a task (its mean or median), given sorted values, without the one at `left_out` if
/// that is below their number.
using Middle = double (*)(std::span<const double> sorted, std::size_t left_out);

[[nodiscard]] double mean_of(std::span<const double> sorted, std::size_t left_out);
[[nodiscard]] double median_of(std::span<const double> sorted, std::size_t left_out);

/// Fills estimate (the middle of each task's answers), bias and scale of `fit`, and measures the spread. A worker's
/// bias is its mean distance from the middle of the others' answers to the same tasks, its scale the deviation around
/// that, both shrunk by two answers that are like the crowd's.
[[nodiscard]] Spread locate(const NumberData& data, Middle middle, NumberFit& fit, const RunContext& context);

/// A scale that a density can stand on: where answers do not scatter at all, a billionth of their size.
[[nodiscard]] double usable_scale(double scale, double size);

/// Gold is known: its tasks have it as estimate, with no deviation.
void pin_gold(const NumberData& data, NumberFit& fit);

}  // namespace wisecrowd::numbers
