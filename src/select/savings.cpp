#include "select/savings.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "base/rng.hpp"

namespace wisecrowd::selecting {
namespace {

/// Means are compared with a target that is computed the same way; only rounding may part them.
constexpr double kRounding = 1e-12;

std::vector<double> mean_over(const std::vector<std::vector<double>>& by_seed, std::span<const std::size_t> seeds) {
  std::vector<double> mean(by_seed.front().size(), 0);
  for (const std::size_t s : seeds) {
    for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += by_seed[s][p];
  }
  for (double& x : mean) x /= static_cast<double>(seeds.size());
  return mean;
}

double mean_of(std::span<const double> by_seed, std::span<const std::size_t> seeds) {
  double sum = 0;
  for (const std::size_t s : seeds) sum += by_seed[s];
  return sum / static_cast<double>(seeds.size());
}

/// Answers until a height is reached; all that were bought if it is not.
double answers_until(const ReplayCurve& curve, std::span<const std::size_t> seeds, double height) {
  const auto answers = mean_over(curve.answers_by_seed, seeds);
  const double at = first_crossing(answers, mean_over(curve.by_seed, seeds), height);
  return std::isnan(at) ? answers.back() : at;
}

/// The share of `values` below which p of them lie, between neighbours in proportion; sorts.
double quantile(std::vector<double>& values, double p) {
  std::sort(values.begin(), values.end());
  const double place = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// Two-sided.
double student_quantile(double confidence, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), (1 + confidence) / 2);
}

}  // namespace

double first_crossing(std::span<const double> answers, std::span<const double> accuracy, double height) {
  for (std::size_t p = 0; p < accuracy.size(); ++p) {
    if (accuracy[p] < height - kRounding) continue;
    if (p == 0) return answers[0];
    const double rise = accuracy[p] - accuracy[p - 1];
    const double part = rise > 0 ? std::clamp((height - accuracy[p - 1]) / rise, 0.0, 1.0) : 1;
    return answers[p - 1] + part * (answers[p] - answers[p - 1]);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void summarise(ReplayCurve& curve, double confidence_level) {
  std::vector<std::size_t> seeds(curve.by_seed.size());
  for (std::size_t s = 0; s < seeds.size(); ++s) seeds[s] = s;
  curve.answers = mean_over(curve.answers_by_seed, seeds);
  curve.accuracy = mean_over(curve.by_seed, seeds);
  curve.low = curve.high = curve.accuracy;
  const auto n = static_cast<double>(seeds.size());
  const double t = n > 1 ? student_quantile(confidence_level, n - 1) : 0;
  for (std::size_t p = 0; p < curve.accuracy.size(); ++p) {
    double squares = 0;
    for (const auto& run : curve.by_seed) squares += (run[p] - curve.accuracy[p]) * (run[p] - curve.accuracy[p]);
    const double half = n > 1 ? t * std::sqrt(squares / (n - 1) / n) : 0;
    curve.low[p] -= half;
    curve.high[p] += half;
  }
  const double width = curve.answers.back() - curve.answers.front();
  curve.area = curve.accuracy.back();
  if (width <= 0) return;
  curve.area = 0;
  for (std::size_t p = 1; p < curve.accuracy.size(); ++p) {
    curve.area += (curve.answers[p] - curve.answers[p - 1]) / width * (curve.accuracy[p] + curve.accuracy[p - 1]) / 2;
  }
}

std::vector<Saving> savings_of(std::span<const ReplayCurve> curves, std::span<const double> targets,
                               const ReplayOptions& options, const RunContext& context) {
  std::vector<Saving> savings;
  const std::size_t seeds = curves.front().by_seed.size();
  std::vector<std::size_t> all(seeds);
  for (std::size_t s = 0; s < seeds; ++s) all[s] = s;
  const double tail = (1 - options.confidence_level) / 2;
  for (const double slack : options.slacks) {
    const double height = mean_of(targets, all) - slack;
    const double first = answers_until(curves.front(), all, height);
    std::vector<std::vector<double>> answers(curves.size()), saved(curves.size());
    Rng rng = context.rng("replay: bootstrap");
    std::vector<std::size_t> drawn(seeds);
    for (std::size_t b = 0; b < options.bootstrap; ++b) {
      for (std::size_t& s : drawn) s = rng.below(seeds);
      const double own = mean_of(targets, drawn) - slack;
      const double base = answers_until(curves.front(), drawn, own);
      for (std::size_t c = 0; c < curves.size(); ++c) {
        answers[c].push_back(answers_until(curves[c], drawn, own));
        saved[c].push_back(base > 0 ? 1 - answers[c].back() / base : 0);
      }
    }
    for (std::size_t c = 0; c < curves.size(); ++c) {
      Saving saving;
      saving.policy = curves[c].policy;
      saving.slack = slack;
      saving.reached = !std::isnan(first_crossing(curves[c].answers, curves[c].accuracy, height));
      saving.answers = saving.low = saving.high = answers_until(curves[c], all, height);
      saving.saved = saving.saved_low = saving.saved_high = first > 0 ? 1 - saving.answers / first : 0;
      if (!saved[c].empty()) {
        saving.low = quantile(answers[c], tail);
        saving.high = quantile(answers[c], 1 - tail);
        saving.saved_low = quantile(saved[c], tail);
        saving.saved_high = quantile(saved[c], 1 - tail);
      }
      savings.push_back(saving);
    }
  }
  return savings;
}

}  // namespace wisecrowd::selecting
