#pragma once

#include <vector>

namespace wisecrowd::bp {

/// Σ_c P_{−e}(c) h(c+1) and Σ_c P_{−e}(c) h(c) for each e, with P_{−e} the law of the number of successes among
/// independent trials of chances p, trial e left out; and Σ_c P(c) h(c) over all trials.
struct LeaveOneOut {
  std::vector<long double> with, without;
  long double total = 0;
};

/// Forward polynomials and one backward vector: O(n²), all terms positive, no division.
[[nodiscard]] inline LeaveOneOut leave_one_out(const std::vector<long double>& p, std::vector<long double> h) {
  const std::size_t n = p.size();
  LeaveOneOut sums{std::vector<long double>(n), std::vector<long double>(n), 0};
  std::vector<std::vector<long double>> forward(n + 1);
  forward[0] = {1};
  for (std::size_t t = 0; t < n; ++t) {
    forward[t + 1].assign(t + 2, 0);
    for (std::size_t c = 0; c <= t; ++c) {
      forward[t + 1][c] += (1 - p[t]) * forward[t][c];
      forward[t + 1][c + 1] += p[t] * forward[t][c];
    }
  }
  for (std::size_t c = 0; c <= n; ++c) sums.total += forward[n][c] * h[c];
  for (std::size_t t = n; t-- > 0;) {
    for (std::size_t c = 0; c <= t; ++c) {
      sums.with[t] += forward[t][c] * h[c + 1];
      sums.without[t] += forward[t][c] * h[c];
    }
    for (std::size_t c = 0; c <= t; ++c) h[c] = (1 - p[t]) * h[c] + p[t] * h[c + 1];
  }
  return sums;
}

}  // namespace wisecrowd::bp
