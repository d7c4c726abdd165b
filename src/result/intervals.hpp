#pragma once

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

}  // namespace wisecrowd
