#include "base/intervals.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>

namespace wisecrowd {
namespace {

constexpr double kTail = 0.025;

// No promotion to long double (slow, and not needed), and no exceptions out of the root finder.
using Policy =
    boost::math::policies::policy<boost::math::policies::promote_double<false>,
                                  boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
                                  boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;

}  // namespace

Interval beta_interval(double right, double count) {
  const double a = 0.5 + std::clamp(right, 0.0, count);
  const double b = 0.5 + count - std::clamp(right, 0.0, count);
  return {boost::math::ibeta_inv(a, b, kTail, Policy()), boost::math::ibetac_inv(a, b, kTail, Policy())};
}

Interval rate_interval(double right, double variance, double count) {
  right = std::clamp(right, 0.0, count);
  const double rate = (right + 0.5) / (count + 1);
  const double missing = std::clamp(variance / (count * rate * (1 - rate)), 0.0, 1.0);
  const double known = std::max(count * (1 - missing), std::min(count, 1.0));
  Interval interval = beta_interval(known * right / count, known);
  if (count - right < 0.5) interval.high = 1;
  if (right < 0.5) interval.low = 0;
  return interval;
}

double normal_half_width(double confidence_level) {
  return confidence_level == 1 - 2 * kTail ? kNormal95
                                           : std::sqrt(2.0) * boost::math::erf_inv(confidence_level, Policy());
}

double normal_below(double deviations) { return boost::math::erfc(-deviations / std::sqrt(2.0), Policy()) / 2; }

Interval wilson_interval(double right, double count, double confidence_level) {
  const double z = normal_half_width(confidence_level);
  const double z2 = z * z;
  const double rate = right / count;
  const double centre = (rate + z2 / (2 * count)) / (1 + z2 / count);
  const double half = z / (1 + z2 / count) * std::sqrt(rate * (1 - rate) / count + z2 / (4 * count * count));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

double student_quantile(double degrees) {
  if (!(degrees > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (degrees > 1e7) return kNormal95;
  // t² is (1 − x) / x degrees, where x is Beta(degrees / 2, 1 / 2).
  const double x = boost::math::ibeta_inv(degrees / 2, 0.5, 2 * kTail, Policy());
  return std::sqrt(degrees * (1 - x) / x);
}

}  // namespace wisecrowd
