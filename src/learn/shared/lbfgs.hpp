#pragma once

#include <functional>
#include <span>

namespace wisecrowd {

/// Value of a smooth function at a point, and its gradient there, which is overwritten.
using Objective = std::function<double(std::span<const double> point, std::span<double> gradient)>;

struct LbfgsOptions {
  std::size_t iterations = 20;
  std::size_t memory = 5;   ///< pairs of steps and changes of the gradient that are remembered
  double tolerance = 1e-6;  ///< of the largest entry of the gradient
};

/// Minimises from where `point` is, by limited-memory BFGS with a line search that never goes up; returns the value
/// reached.
double lbfgs(std::span<double> point, const Objective& objective, const LbfgsOptions& options = {});

}  // namespace wisecrowd
