#pragma once

#include "wisecrowd/evaluate.hpp"

namespace wisecrowd {

struct Interval {
  double low = 0;
  double high = 0;
};

/// 95 % interval of a rate of which `right` of `count` answers are expected to be right: quantiles of
/// Beta(1/2 + right, 1/2 + count − right), the posterior under Jeffreys' prior. `right` need not be whole.
[[nodiscard]] Interval beta_interval(double right, double count);

/// Wilson's 95 % score interval of a rate; count > 0.
[[nodiscard]] Interval wilson_interval(double right, double count);

/// A measured share whose bootstrap interval has no width, because all tasks are right or all are wrong, with Wilson's
/// interval instead: it knows that few tasks prove little.
[[nodiscard]] Estimate with_width(const Estimate& share, std::size_t tasks);

}  // namespace wisecrowd
