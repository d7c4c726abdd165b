#include "trust/covariance/low_rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd::trust {
namespace {

constexpr std::size_t kRowsPerBlock = 64;
/// Up to here the eigenvectors are found exactly.
constexpr Eigen::Index kDenseWorkers = 256;
constexpr Eigen::Index kMoreColumns = 8;
constexpr int kSubspaceSteps = 4;

/// Z = V Vᵀ + w (C − V Vᵀ) on the pairs that are there, w = n/(n + thin): times a block of columns.
class FilledCovariance {
 public:
  FilledCovariance(const PairCovariances& pairs, double thin, const RunContext& context)
      : pairs_(pairs), thin_(thin), context_(context), correction_(pairs.covariance.size()) {}

  void fill_from(const RowMatrix& v) {
    v_ = &v;
    const Blocks blocks{pairs_.worker_count(), kRowsPerBlock};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
        const auto row = v.row(static_cast<Eigen::Index>(j));
        for (std::uint64_t e = pairs_.first[j]; e < pairs_.first[j + 1]; ++e) {
          const double n = pairs_.common[e];
          correction_[e] = n / (n + thin_) * (pairs_.covariance[e] - row.dot(v.row(pairs_.partner[e])));
        }
      }
    });
  }

  [[nodiscard]] RowMatrix times(const RowMatrix& x) const {
    const RowMatrix inner = v_->transpose() * x;
    RowMatrix y = *v_ * inner;
    const Blocks blocks{pairs_.worker_count(), kRowsPerBlock};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
        auto row = y.row(static_cast<Eigen::Index>(j));
        for (std::uint64_t e = pairs_.first[j]; e < pairs_.first[j + 1]; ++e) {
          row += correction_[e] * x.row(pairs_.partner[e]);
        }
      }
    });
    return y;
  }

 private:
  const PairCovariances& pairs_;
  double thin_;
  const RunContext& context_;
  std::vector<double> correction_;
  const RowMatrix* v_ = nullptr;
};

/// The largest eigenvalues of a symmetric matrix, as V with V Vᵀ ≈ it; negative ones count as 0.
RowMatrix root_of(const SymmetricEigen<RowMatrix>& eigen, const RowMatrix& basis, Eigen::Index rank) {
  const Eigen::Index size = eigen.values.size();
  RowMatrix v = RowMatrix::Zero(basis.rows(), rank);
  for (Eigen::Index r = 0; r < std::min(rank, size); ++r) {
    const double value = eigen.values[size - 1 - r];
    if (value > 0) v.col(r) = std::sqrt(value) * (basis * eigen.vectors.col(size - 1 - r));
  }
  return v;
}

RowMatrix first_columns(Eigen::Index rows, Eigen::Index columns) {
  Rng rng(0x5EED);  // any start serves; results must not depend on the seed of the run
  RowMatrix x(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index c = 0; c < columns; ++c) x(i, c) = rng.normal();
  }
  return x;
}

}  // namespace

RowMatrix low_rank_of(const PairCovariances& pairs, std::size_t rank, double thin_pair, std::size_t max_iterations,
                      double tolerance, const RunContext& context) {
  const auto workers = static_cast<Eigen::Index>(pairs.worker_count());
  const auto columns = std::min(workers, static_cast<Eigen::Index>(rank));
  FilledCovariance filled(pairs, thin_pair, context);
  RowMatrix v = RowMatrix::Zero(workers, columns);
  const bool dense = workers <= kDenseWorkers;
  RowMatrix basis = dense ? RowMatrix(RowMatrix::Identity(workers, workers))
                          : orthonormal_columns(first_columns(workers, std::min(workers, 2 * columns + kMoreColumns)));
  for (std::size_t iteration = 0; iteration < max_iterations && !context.cancelled(); ++iteration) {
    const RowMatrix before = v;
    filled.fill_from(before);
    if (!dense) {
      for (int step = 0; step < kSubspaceSteps; ++step) basis = orthonormal_columns(filled.times(basis));
    }
    RowMatrix inside = basis.transpose() * filled.times(basis);
    inside = (0.5 * (inside + RowMatrix(inside.transpose()))).eval();
    v = root_of(symmetric_eigen(inside), basis, columns);
    // ‖VVᵀ − BBᵀ‖² by products of few columns.
    const RowMatrix vv = v.transpose() * v, bb = before.transpose() * before, vb = v.transpose() * before;
    const double size = vv.squaredNorm();
    const double change = size + bb.squaredNorm() - 2 * vb.squaredNorm();
    if (change <= tolerance * tolerance * size) break;
  }
  return v;
}

namespace {

struct Partition {
  std::vector<std::uint32_t> cluster;
  RowMatrix centres;
  double spread = std::numeric_limits<double>::infinity();
};

/// k-means++: each further centre is a row, the farther from the others the likelier.
RowMatrix scattered_centres(const RowMatrix& rows, Eigen::Index groups, Rng& rng) {
  RowMatrix centres(groups, rows.cols());
  std::vector<double> distance(static_cast<std::size_t>(rows.rows()), std::numeric_limits<double>::infinity());
  auto chosen = static_cast<Eigen::Index>(rng.below(static_cast<std::uint64_t>(rows.rows())));
  for (Eigen::Index g = 0; g < groups; ++g) {
    centres.row(g) = rows.row(chosen);
    double sum = 0;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      double& d = distance[static_cast<std::size_t>(i)];
      d = std::min(d, (rows.row(i) - centres.row(g)).squaredNorm());
      sum += d;
    }
    if (sum > 0) chosen = static_cast<Eigen::Index>(rng.categorical(distance));
  }
  return centres;
}

Partition lloyd(const RowMatrix& rows, RowMatrix centres) {
  constexpr int kMostRounds = 300;
  const Eigen::Index groups = centres.rows();
  Partition partition{std::vector<std::uint32_t>(static_cast<std::size_t>(rows.rows()), 0), std::move(centres), 0};
  for (int round = 0; round < kMostRounds; ++round) {
    bool moved = false;
    partition.spread = 0;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      Eigen::Index nearest = 0;
      double best = std::numeric_limits<double>::infinity();
      for (Eigen::Index g = 0; g < groups; ++g) {
        const double d = (rows.row(i) - partition.centres.row(g)).squaredNorm();
        if (d < best) {
          best = d;
          nearest = g;
        }
      }
      partition.spread += best;
      auto& own = partition.cluster[static_cast<std::size_t>(i)];
      moved = moved || own != static_cast<std::uint32_t>(nearest);
      own = static_cast<std::uint32_t>(nearest);
    }
    if (!moved && round > 0) break;
    RowMatrix sums = RowMatrix::Zero(groups, rows.cols());
    std::vector<double> sizes(static_cast<std::size_t>(groups), 0);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const auto own = partition.cluster[static_cast<std::size_t>(i)];
      sums.row(own) += rows.row(i);
      ++sizes[own];
    }
    for (Eigen::Index g = 0; g < groups; ++g) {
      const double size = sizes[static_cast<std::size_t>(g)];
      if (size > 0) partition.centres.row(g) = sums.row(g) / size;  // an empty one keeps its place
    }
  }
  return partition;
}

}  // namespace

Clusters cluster_rows(const RowMatrix& rows, std::size_t groups, std::size_t starts) {
  Partition best;
  const Rng base(0xC105);
  for (std::size_t start = 0; start < starts; ++start) {
    Rng rng = base.fork("start", start);
    Partition partition = lloyd(rows, scattered_centres(rows, static_cast<Eigen::Index>(groups), rng));
    if (partition.spread < best.spread) best = std::move(partition);
  }
  return {std::move(best.cluster), std::move(best.centres)};
}

}  // namespace wisecrowd::trust
