#include "learn/stal/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::stal {
namespace {

constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kRowsPerBlock = 1024;

/// The points of all rows, in double precision.
std::vector<double> points_of(const Regions& regions, const Features& features, std::size_t columns) {
  std::vector<double> points(features.rows * columns);
  for (std::size_t row = 0; row < features.rows; ++row) {
    regions.point_of(features, static_cast<std::uint32_t>(row), std::span(points).subspan(row * columns, columns));
  }
  return points;
}

double squared_distance(const double* a, const double* b, std::size_t columns) {
  double sum = 0;
  for (std::size_t d = 0; d < columns; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

/// Centres far from each other: each next one drawn by its squared distance from those chosen (k-means++). Variances
/// are those of all rows.
void start(Regions& mixture, const std::vector<double>& points, std::size_t columns,
           std::span<const std::uint32_t> rows, std::size_t components, double floor, Rng rng) {
  mixture.log_weight.assign(components, -math::log(static_cast<double>(components)));
  mixture.mean.resize(components * columns);
  mixture.variance.resize(components * columns);
  std::vector<double> distance(rows.size(), std::numeric_limits<double>::infinity());
  std::size_t chosen = rng.below(rows.size());
  for (std::size_t c = 0; c < components; ++c) {
    std::copy_n(points.begin() + static_cast<std::ptrdiff_t>(rows[chosen] * columns), columns,
                mixture.mean.begin() + static_cast<std::ptrdiff_t>(c * columns));
    double total = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      distance[n] = std::min(
          distance[n], squared_distance(points.data() + rows[n] * columns, mixture.mean.data() + c * columns, columns));
      total += distance[n];
    }
    chosen = total > 0 ? rng.categorical(distance) : rng.below(rows.size());
  }
  for (std::size_t d = 0; d < columns; ++d) {
    double sum = 0, squares = 0;
    for (const std::uint32_t row : rows) {
      sum += points[row * columns + d];
      squares += points[row * columns + d] * points[row * columns + d];
    }
    const double count = static_cast<double>(rows.size()), mean = sum / count;
    const double spread = std::max(squares / count - mean * mean, floor);
    for (std::size_t c = 0; c < components; ++c) mixture.variance[c * columns + d] = spread;
  }
}

}  // namespace

Regions find_regions(const Features& features, std::span<const std::uint32_t> fit_to, std::size_t components,
                     std::size_t iterations, double floor, Rng rng, ThreadPool& pool) {
  Regions mixture;
  std::size_t columns = features.columns();
  if (features.is_sparse() || columns > kMostColumns) {
    // The signs of a column are the bits of its own draw.
    for (std::size_t column = 0; column < columns; ++column) {
      mixture.signs.push_back(rng.fork("projection", column).next());
    }
    columns = kProjectedColumns;
  }
  const std::vector<double> points = points_of(mixture, features, columns);
  components = std::min(components, fit_to.size());
  start(mixture, points, columns, fit_to, components, floor, rng.fork("centres"));

  const Blocks blocks{fit_to.size(), kRowsPerBlock};
  struct Sums {
    std::vector<double> weight, first, second;
  };
  std::vector<Sums> parts(blocks.count());
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    pool.for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      Sums& part = parts[block];
      part.weight.assign(components, 0.0);
      part.first.assign(components * columns, 0.0);
      part.second.assign(components * columns, 0.0);
      std::vector<double> share(components);
      for (std::size_t n = blocks.begin(block); n < blocks.end(block); ++n) {
        const auto point = std::span(points).subspan(fit_to[n] * columns, columns);
        mixture.log_joint(point, share);
        softmax(share);
        for (std::size_t c = 0; c < components; ++c) {
          part.weight[c] += share[c];
          for (std::size_t d = 0; d < columns; ++d) {
            part.first[c * columns + d] += share[c] * point[d];
            part.second[c * columns + d] += share[c] * point[d] * point[d];
          }
        }
      }
    });
    for (std::size_t c = 0; c < components; ++c) {
      double weight = 0;
      for (const Sums& part : parts) weight += part.weight[c];
      if (weight < 1e-6) continue;  // nobody there: it stays where it is
      mixture.log_weight[c] = math::log(weight / static_cast<double>(fit_to.size()));
      for (std::size_t d = 0; d < columns; ++d) {
        double first = 0, second = 0;
        for (const Sums& part : parts) {
          first += part.first[c * columns + d];
          second += part.second[c * columns + d];
        }
        const double mean = first / weight;
        mixture.mean[c * columns + d] = mean;
        mixture.variance[c * columns + d] = std::max(second / weight - mean * mean, floor);
      }
    }
  }

  return mixture;
}

Features memberships_of(const Regions& regions, const Features& features, ThreadPool& pool) {
  Features memberships;
  memberships.rows = features.rows;
  memberships.shape = {regions.count()};
  memberships.dense.resize(features.rows * regions.count());
  const Blocks all{features.rows, kRowsPerBlock};
  pool.for_each_block(all.count(), [&](std::size_t block, unsigned) {
    std::vector<double> share(regions.count());
    for (std::size_t row = all.begin(block); row < all.end(block); ++row) {
      regions.memberships(features, static_cast<std::uint32_t>(row), share);
      for (std::size_t c = 0; c < share.size(); ++c) {
        memberships.dense[row * share.size() + c] = static_cast<float>(share[c]);
      }
    }
  });
  return memberships;
}

}  // namespace wisecrowd::stal
