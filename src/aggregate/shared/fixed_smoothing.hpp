#pragma once

#include <algorithm>
#include <vector>

#include "aggregate/shared/confusion_em.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

/// th_j[k][l] ∝ n_jkl + c_kl with the same pseudo-counts for every worker.
class FixedSmoothing final : public CrowdModel {
 public:
  FixedSmoothing(std::size_t classes, std::size_t stride, double everywhere, double on_diagonal)
      : classes_(classes), stride_(stride), pseudo_(classes * stride, everywhere) {
    for (std::size_t k = 0; k < classes; ++k) pseudo_[k * stride + k] += on_diagonal;
    // Padding must stay positive for the logarithm.
    for (std::size_t l = 0; l < classes; ++l) {
      std::fill_n(pseudo_.begin() + static_cast<std::ptrdiff_t>(l * stride + classes), stride - classes, 1.0);
    }
  }

  double update(std::size_t, const double* counts, double* log_rows) const override {
    const std::size_t cells = classes_ * stride_;
    thread_local std::vector<double> total;
    total.assign(stride_, 0.0);
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < stride_; ++k) {
        const double mass = std::max(counts[l * stride_ + k] + pseudo_[l * stride_ + k], kProbabilityFloor);
        log_rows[l * stride_ + k] = mass;
        total[k] += mass;
      }
    }
#pragma omp simd
    for (std::size_t c = 0; c < cells; ++c) log_rows[c] = log_positive(log_rows[c]);
#pragma omp simd
    for (std::size_t k = 0; k < stride_; ++k) total[k] = log_positive(total[k]);
    double objective = 0;
    for (std::size_t l = 0; l < classes_; ++l) {
      for (std::size_t k = 0; k < stride_; ++k) log_rows[l * stride_ + k] -= total[k];
      for (std::size_t k = 0; k < classes_; ++k) objective += pseudo_[l * stride_ + k] * log_rows[l * stride_ + k];
    }
    return objective;
  }

 private:
  std::size_t classes_;
  std::size_t stride_;
  std::vector<double> pseudo_;  // c_kl, labels × stride
};

}  // namespace wisecrowd
