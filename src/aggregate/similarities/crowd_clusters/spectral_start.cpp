#include "aggregate/similarities/crowd_clusters/spectral_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"

namespace wisecrowd::crowd_clusters {
namespace {

constexpr std::size_t kSpareColumns = 4;  ///< they let the wanted ones settle sooner
constexpr std::size_t kPowerIterations = 24;
constexpr std::size_t kCentreIterations = 30;
constexpr std::size_t kItemsPerBlock = 256;

/// Per pair: answers "same" above the mean of all, scaled by how often its items were compared.
std::vector<double> pair_matrix(const Crowd& crowd) {
  const SimilarityAnswers& answers = crowd.data.answers;
  const auto offsets = answers.task_offsets();
  const auto seen = [&](std::size_t p) { return crowd.hidden.empty() || crowd.hidden[p] == 0; };
  double said_same = 0, all = 0;
  std::vector<double> degree(crowd.graph.item_count(), 0);
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    if (!seen(p)) continue;
    const double count = offsets[p + 1] - offsets[p];
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) said_same += answers.same()[a];
    all += count;
    degree[answers.pairs()[p].left] += count;
    degree[answers.pairs()[p].right] += count;
  }
  const double mean = all > 0 ? said_same / all : 0;
  std::vector<double> entries(crowd.graph.pair_count(), 0);
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    if (!seen(p) || offsets[p + 1] == offsets[p]) continue;
    double sum = 0;
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) sum += answers.same()[a] - mean;
    const SimilarPair pair = answers.pairs()[p];
    entries[p] = sum / std::sqrt(degree[pair.left] * degree[pair.right]);
  }
  return entries;
}

RowMatrix times(const Crowd& crowd, std::span<const double> entries, const RowMatrix& columns,
                const RunContext& context) {
  RowMatrix product = RowMatrix::Zero(columns.rows(), columns.cols());
  const Blocks blocks{crowd.graph.item_count(), kItemsPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      auto row = product.row(static_cast<Eigen::Index>(i));
      for (const auto& link : crowd.graph.links_of(i)) {
        if (entries[link.pair] != 0) row += entries[link.pair] * columns.row(static_cast<Eigen::Index>(link.other));
      }
    }
  });
  return product;
}

}  // namespace

RowMatrix spectral_coordinates(const Crowd& crowd, std::size_t dimensions, const RunContext& context) {
  const auto items = static_cast<Eigen::Index>(crowd.graph.item_count());
  const auto width = std::min<Eigen::Index>(items, static_cast<Eigen::Index>(dimensions + kSpareColumns));
  const std::vector<double> entries = pair_matrix(crowd);
  Rng rng = context.rng("spectral start");
  RowMatrix basis(items, width);
  for (Eigen::Index i = 0; i < items; ++i) {
    for (Eigen::Index c = 0; c < width; ++c) basis(i, c) = rng.normal();
  }
  basis = orthonormal_columns(basis);
  for (std::size_t t = 0; t < kPowerIterations && !context.cancelled(); ++t) {
    basis = orthonormal_columns(times(crowd, entries, basis, context));
  }
  const RowMatrix small = basis.transpose() * times(crowd, entries, basis, context);
  const auto eigen = symmetric_eigen(RowMatrix((small + small.transpose()) / 2));
  const auto wanted = std::min<Eigen::Index>(width, static_cast<Eigen::Index>(dimensions));
  RowMatrix coordinates = RowMatrix::Zero(items, wanted);
  for (Eigen::Index c = 0; c < wanted; ++c) {
    const Eigen::Index from = width - 1 - c;  // values rise
    coordinates.col(c) = basis * eigen.vectors.col(from) * std::max(eigen.values[from], 0.0);
  }
  return coordinates;
}

std::vector<std::uint32_t> nearest_centres(const RowMatrix& rows, std::size_t clusters, Rng rng) {
  const auto items = static_cast<std::size_t>(rows.rows());
  std::vector<std::uint32_t> cluster(items, 0);
  if (items == 0) return cluster;
  RowMatrix centres(static_cast<Eigen::Index>(clusters), rows.cols());
  std::vector<double> distance(items, std::numeric_limits<double>::infinity());
  for (std::size_t c = 0; c < clusters; ++c) {
    double all = 0;
    for (const double d : distance) all += std::isfinite(d) ? d : 0;
    const std::size_t pick = c == 0 || !(all > 0) ? rng.below(items) : rng.categorical(distance);
    centres.row(static_cast<Eigen::Index>(c)) = rows.row(static_cast<Eigen::Index>(pick));
    for (std::size_t i = 0; i < items; ++i) {
      distance[i] =
          std::min(distance[i],
                   (rows.row(static_cast<Eigen::Index>(i)) - centres.row(static_cast<Eigen::Index>(c))).squaredNorm());
    }
  }
  for (std::size_t t = 0; t < kCentreIterations; ++t) {
    bool moved = false;
    for (std::size_t i = 0; i < items; ++i) {
      Eigen::Index nearest = 0;
      (centres.rowwise() - rows.row(static_cast<Eigen::Index>(i))).rowwise().squaredNorm().minCoeff(&nearest);
      moved = moved || cluster[i] != nearest;
      cluster[i] = static_cast<std::uint32_t>(nearest);
    }
    if (!moved && t > 0) break;
    RowMatrix sums = RowMatrix::Zero(centres.rows(), centres.cols());
    std::vector<double> sizes(clusters, 0);
    for (std::size_t i = 0; i < items; ++i) {
      sums.row(cluster[i]) += rows.row(static_cast<Eigen::Index>(i));
      ++sizes[cluster[i]];
    }
    for (std::size_t c = 0; c < clusters; ++c) {
      if (sizes[c] > 0) centres.row(static_cast<Eigen::Index>(c)) = sums.row(static_cast<Eigen::Index>(c)) / sizes[c];
    }
  }
  return cluster;
}

}  // namespace wisecrowd::crowd_clusters
