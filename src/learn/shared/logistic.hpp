#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/features.hpp"

namespace wisecrowd {

class ThreadPool;

struct LogisticOptions {
  double penalty = 1;       ///< λ of −λ/2 ‖w‖², biases included, so that the maximum exists and is unique
  double tolerance = 1e-8;  ///< stop when the gradient is this much smaller than at w = 0
  std::size_t max_products = 250;  ///< with the Hessian, per Newton step
};

/// Multinomial logistic regression on soft targets: the maximum of
///   Σ_i Σ_k t_ik log f_k(x_i) − λ/2 ‖w‖²,   f = softmax(xᵀW + b),
/// by Newton steps whose systems are solved by conjugate gradients (the Hessian is only ever multiplied with), each
/// followed by a line search, so that no step lowers the objective. Double precision throughout; rows dense or sparse.
///
/// Weights lie as in a linear DenseNetwork: inputs × classes, row-major, then the biases.
class LogisticRegression {
 public:
  /// `inputs` outlive the object; `rows` are those that are trained on.
  LogisticRegression(const Features& inputs, std::span<const std::uint32_t> rows, std::size_t classes,
                     LogisticOptions options, ThreadPool& pool);

  struct Fit {
    double objective = 0;
    std::size_t steps = 0;
    bool converged = false;
  };
  /// At most `steps` Newton steps from the weights given. `targets` are rows × classes, none negative; a row may sum to
  /// any weight.
  Fit improve(std::span<const double> targets, std::size_t steps, std::span<double> weights) const;

  [[nodiscard]] std::size_t weight_count() const noexcept { return (columns_ + 1) * classes_; }
  /// −λ/2 ‖w‖².
  [[nodiscard]] double log_prior(std::span<const double> weights) const;
  /// Logits of the rows: rows × classes.
  void logits(std::span<const double> weights, std::span<double> out) const;

 private:
  struct Newton;

  /// out = Xᵀ R, with R rows × classes.
  void transposed_product(std::span<const double> r, std::span<double> out) const;
  /// Σ_i m_i f_ik (1 − f_ik) x_ic² + λ: the Hessian's diagonal.
  void diagonal(std::span<const double> curvature, std::span<double> out) const;
  [[nodiscard]] double likelihood(std::span<const double> targets, std::span<const double> scores) const;

  const Features* inputs_;
  std::vector<std::uint32_t> rows_;
  std::size_t columns_, classes_;
  LogisticOptions options_;
  ThreadPool* pool_;
};

}  // namespace wisecrowd
