#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "aggregate/categories/shared/confusion_em.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

/// A row of a confusion table that is given by its accuracy alone.
struct AccuracyLogs {
  double right;       ///< log w
  double each_wrong;  ///< log (1 − w)/(K − 1)
  double objective;   ///< a log w + b log(1 − w): the log density of Beta(a+1, b+1) up to a constant
};

/// w = (right + a) / (right + wrong + a + b), the maximum of likelihood times Beta(a+1, b+1).
[[nodiscard]] inline AccuracyLogs accuracy_logs(double right, double wrong, double a, double b, std::size_t classes) {
  if (classes < 2) return {0, 0, 0};
  const double mass_right = std::max(right + a, kProbabilityFloor);
  const double mass_wrong = std::max(wrong + b, kProbabilityFloor);
  const double log_total = math::log(mass_right + mass_wrong);
  const double log_right = math::log(mass_right) - log_total;
  const double log_wrong = math::log(mass_wrong) - log_total;
  return {log_right, log_wrong - math::log(static_cast<double>(classes - 1)), a * log_right + b * log_wrong};
}

/// The two pseudo-counts, then what all EM methods share.
inline void accuracy_parameters(ParameterVisitor& v, double& right, double& wrong, EmOptions& em) {
  v.real("right_pseudo_count", right, 0, 1e9, "right answers added before an accuracy is estimated");
  v.real("wrong_pseudo_count", wrong, 0, 1e9, "wrong answers added before an accuracy is estimated");
  em_parameters(v, em);
}

}  // namespace wisecrowd
