#pragma once

namespace wisecrowd {

/// The normal distribution has 95 % of its mass within so many standard deviations.
inline constexpr double kNormal95 = 1.959963984540054;

struct Interval {
  double low = 0;
  double high = 0;
};

/// 95 % interval of a rate of which `right` of `count` answers are expected to be right: quantiles of
/// Beta(1/2 + right, 1/2 + count − right), the posterior under Jeffreys' prior. `right` need not be whole.
[[nodiscard]] Interval beta_interval(double right, double count);

/// 95 % interval of the rate at which a worker is right, when `right` of `count` answers are expected to be right and
/// that number has the given variance, because the truth of the tasks is not known for sure. By Louis' rule the
/// variance is information that is missing: the interval is beta_interval with the answers that remain, count (1 −
/// variance / (count m (1 − m))), m the rate, one at least. A rate of which less than half an answer speaks against 1
/// (or 0) reaches to 1 (or 0), where equal tails would leave it out.
[[nodiscard]] Interval rate_interval(double right, double variance, double count);

/// The normal distribution has this share of its mass within so many standard deviations.
[[nodiscard]] double normal_half_width(double confidence_level);

/// The share of the normal distribution below so many standard deviations.
[[nodiscard]] double normal_below(double deviations);

/// Wilson's score interval of a rate; count > 0. The one interval of every counted share: where all are right, or all
/// wrong, it still knows that few prove little.
[[nodiscard]] Interval wilson_interval(double right, double count, double confidence_level = 0.95);

/// Half the width of a 95 % interval in standard deviations: the .975 quantile of Student's t with so many degrees of
/// freedom; NaN without any.
[[nodiscard]] double student_quantile(double degrees);

}  // namespace wisecrowd
