#include "active/summary.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace wisecrowd::dalc_loop {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kResamples = 2000;

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? kNaN : sum / static_cast<double>(values.size());
}

std::vector<double> mean_curve(const std::vector<std::vector<double>>& by_seed, std::span<const std::size_t> seeds,
                               std::size_t points) {
  std::vector<double> result(points, 0.0);
  for (const std::size_t seed : seeds) {
    for (std::size_t p = 0; p < points; ++p) result[p] += by_seed[seed][p] / static_cast<double>(seeds.size());
  }
  return result;
}

Estimate with_student(std::span<const double> values) {
  Estimate estimate{mean(values), kNaN, kNaN};
  if (values.size() < 2) return estimate;
  double squares = 0;
  for (const double v : values) squares += (v - estimate.value) * (v - estimate.value);
  const auto count = static_cast<double>(values.size());
  const double reach = student(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  estimate.low = estimate.value - reach;
  estimate.high = estimate.value + reach;
  return estimate;
}

}  // namespace

double first_reach(std::span<const std::size_t> answers, std::span<const double> values, double level) {
  for (std::size_t p = 0; p < answers.size(); ++p) {
    if (values[p] < level) continue;
    const auto here = static_cast<double>(answers[p]);
    if (p == 0 || values[p] == values[p - 1]) return here;
    const auto before = static_cast<double>(answers[p - 1]);
    return before + (here - before) * (level - values[p - 1]) / (values[p] - values[p - 1]);
  }
  return kNaN;
}

double mean_height(std::span<const std::size_t> answers, std::span<const double> values) {
  if (answers.empty()) return kNaN;
  if (answers.size() == 1) return values[0];
  double area = 0;
  for (std::size_t p = 1; p < answers.size(); ++p) {
    area += (values[p] + values[p - 1]) / 2 * static_cast<double>(answers[p] - answers[p - 1]);
  }
  return area / static_cast<double>(answers.back() - answers.front());
}

double student(std::size_t degrees) {
  if (degrees == 0) return kNaN;
  return boost::math::quantile(boost::math::students_t(static_cast<double>(degrees)), 0.975);
}

void summarise(DalcLoop& loop, Rng rng) {
  const std::size_t points = loop.answers.size();
  std::vector<std::size_t> all(loop.seeds);
  for (std::size_t s = 0; s < loop.seeds; ++s) all[s] = s;
  // The same resamples for every policy.
  std::vector<std::vector<std::size_t>> resamples;
  for (std::size_t r = 0; loop.seeds > 1 && r < kResamples; ++r) {
    auto& sample = resamples.emplace_back(loop.seeds);
    for (std::size_t& seed : sample) seed = rng.below(loop.seeds);
  }
  for (DalcCurve& curve : loop.curves) {
    for (auto& values : curve.accuracy) values.resize(points);
    for (auto& values : curve.auc) values.resize(points);
    if (loop.seeds == 0) continue;
    curve.mean_accuracy = mean_curve(curve.accuracy, all, points);
    curve.mean_auc = mean_curve(curve.auc, all, points);
    for (std::size_t p = 0; p < points; ++p) {
      std::vector<double> here;
      for (const auto& values : curve.accuracy) here.push_back(values[p]);
      curve.interval.push_back(with_student(here));
    }
    std::vector<double> areas;
    for (const auto& values : curve.accuracy) areas.push_back(mean_height(loop.answers, values));
    curve.area = with_student(areas);
    const auto saved = [&](std::span<const std::size_t> seeds) {
      double level = 0;
      for (const std::size_t s : seeds) level += loop.reference_accuracy[s] / static_cast<double>(seeds.size());
      return 1 - first_reach(loop.answers, mean_curve(curve.accuracy, seeds, points), level) / loop.all_answers;
    };
    curve.saved = {saved(all), kNaN, kNaN};
    curve.reaches = !std::isnan(curve.saved.value);
    curve.answers_to_reach = (1 - curve.saved.value) * loop.all_answers;
    std::vector<double> values;
    for (const auto& sample : resamples) {
      const double value = saved(sample);
      values.push_back(std::isnan(value) ? 0 : value);  // not reached: nothing saved
    }
    if (values.empty() || !curve.reaches) continue;
    std::sort(values.begin(), values.end());
    curve.saved.low = values[static_cast<std::size_t>(0.025 * kResamples)];
    curve.saved.high = values[static_cast<std::size_t>(0.975 * kResamples)];
  }
}

}  // namespace wisecrowd::dalc_loop
