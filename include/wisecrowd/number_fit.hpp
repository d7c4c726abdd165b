#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/ids.hpp"

namespace wisecrowd {

/// Two workers whose errors go together in one dimension, beyond what the truth explains.
struct CorrelatedWorkers {
  WorkerId first{}, second{};
  std::size_t dimension = 0;
  double correlation = 0;   ///< of their errors
  std::uint64_t tasks = 0;  ///< that both answered
  friend bool operator==(const CorrelatedWorkers&, const CorrelatedWorkers&) = default;
};

/// What an aggregator of numbers returns: a value, complete, never half-fitted.
struct NumberFit : FitSummary {
  std::size_t task_count = 0;
  std::size_t worker_count = 0;
  std::size_t dimensions = 0;

  std::vector<double> estimate;   ///< tasks × dimensions; NaN where nobody answered
  std::vector<double> deviation;  ///< tasks × dimensions: how far the estimate is off, as a standard deviation
  std::vector<double> low, high;  ///< tasks × dimensions: the 95 % interval

  std::vector<double> bias;   ///< workers × dimensions: how much too high a worker answers on average; where it has
                              ///< a slope, at the mean of all answers
  std::vector<double> scale;  ///< workers × dimensions: standard deviation of its errors around that

  std::vector<double> slope;  ///< workers × dimensions: its answers rise so much with the truth; empty if all by 1

  std::vector<CorrelatedWorkers> correlated;  ///< the strongest first; of methods that look for such pairs

  [[nodiscard]] std::span<const double> estimate_of(TaskId task) const {
    return std::span(estimate).subspan(index(task) * dimensions, dimensions);
  }
};

/// Where a fit begins: what another method found out, or nothing.
struct NumberStart {
  std::span<const double> estimate;  ///< tasks × dimensions; empty for the method's own start
  [[nodiscard]] bool empty() const noexcept { return estimate.empty(); }
};

}  // namespace wisecrowd
