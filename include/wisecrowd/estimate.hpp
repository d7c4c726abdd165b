#pragma once

namespace wisecrowd {

/// A value with its interval. Where the value has no interval, `low` and `high` are NaN.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

}  // namespace wisecrowd
