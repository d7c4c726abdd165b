#include "learn/shared/volume.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/linear_algebra.hpp"

namespace wisecrowd {
namespace {

constexpr double kRidge = 1e-6;
/// Beyond this a volume is as good as none, and its gradient would drown everything else.
constexpr double kFlat = 100;

}  // namespace

std::optional<LogDeterminant> log_determinant(std::span<const double> matrix, std::size_t size) {
  const auto n = static_cast<Eigen::Index>(size);
  const auto factor = cholesky_inverse(Eigen::Map<const RowMatrix>(matrix.data(), n, n));
  if (!factor || !std::isfinite(factor->log_determinant) || std::abs(factor->log_determinant) > kFlat) {
    return std::nullopt;
  }
  const double* const cells = factor->inverse.data();
  return LogDeterminant{factor->log_determinant, std::vector<double>(cells, cells + matrix.size())};
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
       fmt::format("{} of {} steps went without the volume penalty because some class had next to no share of it",
                   collapsed, steps),
       "give it less strength, larger batches, or check that every class occurs", Severity::serious});
}

}  // namespace wisecrowd
