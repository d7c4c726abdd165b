#include "aggregate/categories/shared/separable.hpp"

#include <algorithm>
#include <cmath>

#include "base/assignment.hpp"
#include "base/linear_algebra.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd {
namespace {

using Matrix = RowMatrix;
using ConstTable = Eigen::Map<const Matrix>;

constexpr std::size_t kWorkersPerBlock = 8;
/// A residual below this share of the largest column is noise of the arithmetic.
constexpr double kVanished = 1e-10;
constexpr double kFloor = 1e-9;

ConstTable table_of(const TableModel& model, std::size_t worker) {
  const auto k = static_cast<Eigen::Index>(model.classes);
  return {model.table(worker).data(), k, k};
}

/// Clips, normalises the rows (truth) of a table.
void to_stochastic(std::span<double> table, std::size_t classes) {
  for (double& p : table) p = std::max(p, kFloor);
  for (std::size_t k = 0; k < classes; ++k) normalise(table.subspan(k * classes, classes));
}

/// Solves one worker by successive projections; false if its columns do not span K dimensions.
bool solve_separately(const PairMoments& pairs, std::size_t worker, std::span<const double> guide,
                      double column_shrinkage, std::span<double> table) {
  const std::size_t classes = pairs.class_count();
  const auto partners = pairs.partners(worker);
  if (partners.empty()) return false;
  std::vector<double> mean(pairs.label_counts(worker).begin(), pairs.label_counts(worker).end());
  normalise(mean);
  std::vector<double> block(classes * classes), columns;
  columns.reserve(partners.size() * classes * classes);
  for (const auto& partner : partners) {
    pairs.joint_shares(worker, partner, block);
    const double common = pairs.pairs()[partner.pair].common;
    for (std::size_t m = 0; m < classes; ++m) {
      double total = 0;
      for (std::size_t l = 0; l < classes; ++l) total += block[l * classes + m];
      total *= common;
      if (total < 1e-10 * common) continue;
      for (std::size_t l = 0; l < classes; ++l) {
        columns.push_back((common * block[l * classes + m] + column_shrinkage * mean[l]) / (total + column_shrinkage));
      }
    }
  }
  const auto chosen = extreme_columns(columns, classes, classes);
  if (chosen.size() < classes) return false;
  // The order of the columns is unknown: the one nearest to the guide (Σ|a − g|² is least where Σ a·g is largest).
  std::vector<double> gain(classes * classes, 0.0);
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t c = 0; c < classes; ++c) {
      for (std::size_t l = 0; l < classes; ++l) {
        gain[k * classes + c] += guide[k * classes + l] * columns[chosen[c] * classes + l];
      }
    }
  }
  const auto column_of = best_assignment(gain, classes);
  for (std::size_t k = 0; k < classes; ++k) {
    std::copy_n(columns.data() + chosen[column_of[k]] * classes, classes, table.data() + k * classes);
  }
  to_stochastic(table, classes);
  return true;
}

/// R_jj' = (th_jᵀ D) th_j' for all solved partners at once, by weighted least squares.
bool solve_with_partners(const PairMoments& pairs, std::size_t worker, const TableModel& model,
                         const std::vector<Solved>& how, std::span<double> table) {
  const auto classes = static_cast<Eigen::Index>(pairs.class_count());
  Matrix normal = Matrix::Zero(classes, classes), right = Matrix::Zero(classes, classes), block(classes, classes);
  for (const auto& partner : pairs.partners(worker)) {
    if (how[partner.worker] != Solved::separately) continue;
    pairs.joint_shares(worker, partner, {block.data(), static_cast<std::size_t>(block.size())});
    const double weight = pairs.pairs()[partner.pair].common;
    const ConstTable other = table_of(model, partner.worker);
    normal.noalias() += weight * other * other.transpose();
    right.noalias() += weight * block * other.transpose();
  }
  // (th_jᵀ D) N = R̃, and N is symmetric.
  const auto solution = solve_if_regular(normal, right.transpose(), 1e-8);
  if (!solution) return false;
  const Matrix product = *solution;  // truth × label
  for (Eigen::Index c = 0; c < product.size(); ++c) table[static_cast<std::size_t>(c)] = product.data()[c];
  to_stochastic(table, pairs.class_count());
  return true;
}

}  // namespace

std::vector<std::size_t> extreme_columns(std::vector<double> columns, std::size_t rows, std::size_t count) {
  Eigen::Map<Eigen::MatrixXd> residual(columns.data(), static_cast<Eigen::Index>(rows),
                                       static_cast<Eigen::Index>(columns.size() / std::max<std::size_t>(rows, 1)));
  std::vector<std::size_t> chosen;
  double largest = 0;
  while (chosen.size() < count && residual.cols() > 0) {
    Eigen::Index best = 0;
    const double norm = std::sqrt(residual.colwise().squaredNorm().maxCoeff(&best));
    largest = std::max(largest, norm);
    if (!(norm > kVanished * largest)) break;
    chosen.push_back(static_cast<std::size_t>(best));
    const Eigen::VectorXd direction = residual.col(best) / norm;
    residual -= direction * (direction.transpose() * residual).eval();
  }
  return chosen;
}

std::vector<double> class_prior_from_pairs(const PairMoments& pairs, const TableModel& model,
                                           const std::vector<bool>& use) {
  const std::size_t classes = pairs.class_count();
  const auto k = static_cast<Eigen::Index>(classes);
  Matrix normal = Matrix::Zero(k, k), block(k, k);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(k);
  for (std::size_t p = 0; p < pairs.pairs().size(); ++p) {
    const auto& pair = pairs.pairs()[p];
    if (!use[pair.first] || !use[pair.second]) continue;
    const ConstTable first = table_of(model, pair.first), second = table_of(model, pair.second);
    const ConstTable joint(pairs.joint(p).data(), k, k);
    normal += pair.common * (first * first.transpose()).cwiseProduct(second * second.transpose());
    right += (first * joint).cwiseProduct(second).rowwise().sum();
  }
  for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
    if (!use[w]) continue;
    const ConstTable table = table_of(model, w);
    const Eigen::Map<const Eigen::VectorXd> counts(pairs.label_counts(w).data(), k);
    normal += counts.sum() * table * table.transpose();
    right += table * counts;
  }
  std::vector<double> prior(classes, 0.0);
  const Eigen::VectorXd solution = least_squares(normal, right);
  for (std::size_t c = 0; c < classes; ++c) {
    const double value = solution[static_cast<Eigen::Index>(c)];
    prior[c] = std::isfinite(value) ? std::max(value, kFloor) : kFloor;
  }
  normalise(prior);
  return prior;
}

SeparableFit separable_tables(const PairMoments& pairs, const RunContext& context, const TableModel& guide,
                              double column_shrinkage) {
  const std::size_t workers = pairs.worker_count();
  SeparableFit fit{guide, std::vector<Solved>(workers, Solved::not_at_all)};
  const Blocks blocks{workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      if (pairs.has_gold_worker() && w + 1 == workers) {
        fit.how[w] = Solved::separately;  // its table, the identity, is known
        continue;
      }
      std::vector<double> table(guide.classes * guide.classes);
      if (!solve_separately(pairs, w, guide.table(w), column_shrinkage, table)) continue;
      std::copy(table.begin(), table.end(), fit.model.table(w).begin());
      fit.how[w] = Solved::separately;
    }
  });
  const std::vector<Solved> alone = fit.how;
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      if (alone[w] != Solved::not_at_all) continue;
      std::vector<double> table(guide.classes * guide.classes);
      if (!solve_with_partners(pairs, w, fit.model, alone, table)) continue;
      std::copy(table.begin(), table.end(), fit.model.table(w).begin());
      fit.how[w] = Solved::with_partners;
    }
  });
  std::vector<bool> use(workers);
  bool any = false;
  for (std::size_t w = 0; w < workers; ++w) {
    use[w] = fit.how[w] == Solved::separately;
    any = any || use[w];
  }
  if (any) fit.model.class_prior = class_prior_from_pairs(pairs, fit.model, use);
  return fit;
}

}  // namespace wisecrowd
