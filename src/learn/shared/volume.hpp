#pragma once

#include <optional>
#include <span>
#include <vector>

#include "learn/shared/answer_model.hpp"

namespace wisecrowd {

/// log det of a symmetric positive definite matrix (size × size) and its inverse, by Cholesky.
struct LogDeterminant {
  double value = 0;
  std::vector<double> inverse;
};
/// Nothing when the matrix is not positive definite, not finite, or so flat that |log det| > 100.
[[nodiscard]] std::optional<LogDeterminant> log_determinant(std::span<const double> matrix, std::size_t size);

/// −strength · log det(F Fᵀ/B + εI) over a batch of class probabilities (rows of F): small when the classes are far
/// apart. Adds its gradient; nothing, and no gradient, when the batch is smaller than the number of classes or the
/// volume has collapsed.
[[nodiscard]] std::optional<double> volume_penalty(MatrixView<const double> probabilities, double strength,
                                                   MatrixView<double> gradients);

/// What a user should know when steps went without the penalty.
void warn_of_collapse(Learned& learned, std::size_t collapsed, std::size_t steps);

}  // namespace wisecrowd
