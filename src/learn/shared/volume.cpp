#include "learn/shared/volume.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>

namespace wisecrowd {
namespace {

constexpr double kRidge = 1e-6;
/// Beyond this a volume is as good as none, and its gradient would drown everything else.
constexpr double kFlat = 100;

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

std::optional<LogDeterminant> log_determinant(std::span<const double> matrix, std::size_t size) {
  const auto n = static_cast<Eigen::Index>(size);
  const Eigen::Map<const Rows> view(matrix.data(), n, n);
  const Eigen::LLT<Rows> factor(view);
  if (factor.info() != Eigen::Success) return std::nullopt;
  LogDeterminant result;
  for (Eigen::Index k = 0; k < n; ++k) result.value += 2 * std::log(factor.matrixLLT()(k, k));
  if (!std::isfinite(result.value) || std::abs(result.value) > kFlat) return std::nullopt;
  result.inverse.resize(matrix.size());
  Eigen::Map<Rows>(result.inverse.data(), n, n) = factor.solve(Rows::Identity(n, n));
  return result;
}

std::optional<double> volume_penalty(MatrixView<const double> probabilities, double strength,
                                     MatrixView<double> gradients) {
  const std::size_t classes = probabilities.columns, batch = probabilities.rows;
  if (batch < classes) return std::nullopt;
  std::vector<double> gram(classes * classes, 0.0);
  const double share = 1 / static_cast<double>(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    const auto f = probabilities.row(b);
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) gram[k * classes + l] += share * f[k] * f[l];
    }
  }
  for (std::size_t k = 0; k < classes; ++k) gram[k * classes + k] += kRidge;
  const auto determinant = log_determinant(gram, classes);
  if (!determinant) return std::nullopt;
  for (std::size_t b = 0; b < batch; ++b) {
    const auto f = probabilities.row(b);
    const auto g = gradients.row(b);
    for (std::size_t k = 0; k < classes; ++k) {
      double sum = 0;
      for (std::size_t l = 0; l < classes; ++l) sum += determinant->inverse[k * classes + l] * f[l];
      g[k] -= 2 * strength * share * sum;
    }
  }
  return -strength * determinant->value;
}

void warn_of_collapse(Learned& learned, std::size_t collapsed, std::size_t steps) {
  learned.crowd.learned.emplace_back("collapsed_steps", static_cast<double>(collapsed));
  if (collapsed == 0) return;
  learned.crowd.warnings.push_back(
      {"volume_collapsed",
       fmt::format("{} of {} steps went without the volume penalty because some class had next to no share of it: give "
                   "it less strength, larger batches, or check that every class occurs",
                   collapsed, steps)});
}

}  // namespace wisecrowd
