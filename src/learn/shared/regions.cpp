#include "learn/shared/regions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/feature_rows.hpp"

namespace wisecrowd {
namespace {

/// Smaller ones are never made, and squares over them could overflow.
constexpr double kLeastVariance = 1e-13;

}  // namespace

bool Regions::fits(std::size_t feature_columns) const {
  const std::size_t wanted = signs.empty() ? feature_columns : kProjectedColumns;
  // In double precision, which does not wrap: these sizes may come from a damaged file.
  const double cells = static_cast<double>(count()) * static_cast<double>(wanted);
  return count() > 0 && (signs.empty() || signs.size() == feature_columns) &&
         static_cast<double>(mean.size()) == cells && variance.size() == mean.size() &&
         std::all_of(variance.begin(), variance.end(), [](double v) { return v >= kLeastVariance; });
}

void Regions::point_of(const Features& features, std::uint32_t row, std::span<double> point) const {
  std::fill(point.begin(), point.end(), 0.0);
  const double scale = 1 / std::sqrt(static_cast<double>(point.size()));
  for_each_entry(features, row, [&](std::size_t column, double value) {
    if (signs.empty()) {
      point[column] = value;
      return;
    }
    for (std::size_t c = 0; c < point.size(); ++c) {
      point[c] += (signs[column] >> c & 1U) != 0 ? scale * value : -scale * value;
    }
  });
}

void Regions::log_joint(std::span<const double> point, std::span<double> out) const {
  for (std::size_t c = 0; c < count(); ++c) {
    double sum = log_weight[c];
    for (std::size_t d = 0; d < point.size(); ++d) {
      const double v = variance[c * point.size() + d], away = point[d] - mean[c * point.size() + d];
      sum -= 0.5 * (math::log(2 * std::numbers::pi * v) + away * away / v);
    }
    out[c] = sum;
  }
}

void Regions::memberships(const Features& features, std::uint32_t row, std::span<double> out) const {
  std::vector<double> point(columns());
  point_of(features, row, point);
  log_joint(point, out);
  softmax(out);
  for (double& share : out) share = static_cast<double>(static_cast<float>(share));
}

}  // namespace wisecrowd
