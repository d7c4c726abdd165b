#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/features.hpp"

namespace wisecrowd {

/// A Gaussian mixture with diagonal covariances over rows, or over a random projection of them to few columns.
struct Regions {
  /// Per column of the features, 32 bits: the signs with which it is added to each of the 32 projected ones. Empty:
  /// rows are taken as they are.
  std::vector<std::uint64_t> signs;
  std::vector<double> log_weight;      ///< per region
  std::vector<double> mean, variance;  ///< regions × columns

  [[nodiscard]] std::size_t count() const noexcept { return log_weight.size(); }
  /// Of the points that the mixture is over.
  [[nodiscard]] std::size_t columns() const noexcept { return log_weight.empty() ? 0 : mean.size() / count(); }
  /// Whether the sizes fit rows of so many columns, and all variances are positive.
  [[nodiscard]] bool fits(std::size_t feature_columns) const;

  /// The point of a row, columns() numbers.
  void point_of(const Features& features, std::uint32_t row, std::span<double> point) const;
  /// Log density of each region at a point, weighted; the softmax of it is the membership.
  void log_joint(std::span<const double> point, std::span<double> out) const;
  /// How probable each region is for a row, as exact as features are kept (single precision).
  void memberships(const Features& features, std::uint32_t row, std::span<double> out) const;
};

/// Columns after a projection.
inline constexpr std::size_t kProjectedColumns = 32;

}  // namespace wisecrowd
