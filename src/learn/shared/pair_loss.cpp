#include "learn/shared/pair_loss.hpp"

#include <algorithm>
#include <cmath>

#include "base/linear_algebra.hpp"
#include "base/math.hpp"

namespace wisecrowd {
namespace {

constexpr double kLeastSame = 1e-6;
constexpr double kRidge = 1e-3;  ///< of the determinant: a cluster that is never used costs a finite amount

}  // namespace

double pair_loss(std::span<const double> f, std::size_t clusters, std::span<const PairAnswer> answers,
                 std::span<double> gradient, std::span<RateGradient> rates) {
  double loss = 0;
  for (std::size_t a = 0; a < answers.size(); ++a) {
    const PairAnswer& answer = answers[a];
    const double* const left = f.data() + answer.left * clusters;
    const double* const right = f.data() + answer.right * clusters;
    double dot = 0;
    for (std::size_t k = 0; k < clusters; ++k) dot += left[k] * right[k];
    const double s = std::clamp(dot, kLeastSame, 1 - kLeastSame);
    const double p = (1 - answer.false_different) * s + answer.false_same * (1 - s);
    const double slope = answer.same ? 1 / p : -1 / (1 - p);  // of ln P(answer) by p
    loss -= math::log(answer.same ? p : 1 - p);
    if (!rates.empty()) rates[a] = {slope * s, -slope * (1 - s)};
    if (s != dot) continue;  // at the clamp
    const double by_same = -(1 - answer.false_different - answer.false_same) * slope;
    for (std::size_t k = 0; k < clusters; ++k) {
      gradient[answer.left * clusters + k] += by_same * right[k];
      gradient[answer.right * clusters + k] += by_same * left[k];
    }
  }
  return loss;
}

double collapse_loss(std::span<const double> f, std::size_t clusters, double weight, std::span<double> gradient) {
  const auto rows = static_cast<Eigen::Index>(f.size() / clusters), k = static_cast<Eigen::Index>(clusters);
  const Eigen::Map<const RowMatrix> table(f.data(), rows, k);
  const auto n = static_cast<double>(rows);
  const RowMatrix second = table.transpose() * table / n + kRidge * RowMatrix::Identity(k, k);
  const auto inverse = cholesky_inverse(second);
  if (!inverse) return 0;  // not for finite rows: the ridge makes it positive definite
  Eigen::Map<RowMatrix>(gradient.data(), rows, k) -= (2 * weight / n) * (table * inverse->inverse);
  return -weight * inverse->log_determinant;
}

}  // namespace wisecrowd
