#pragma once

#include <algorithm>
#include <vector>

#include "aggregate/categories/shared/confusion_em.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

/// th_j[k][l] ∝ n_jkl + c_kl with the same pseudo-counts for every worker.
class FixedSmoothing final : public CrowdModel {
 public:
  FixedSmoothing(std::size_t classes, std::size_t stride, double everywhere, double on_diagonal)
      : classes_(classes), stride_(stride), pseudo_(classes * stride, everywhere) {
    for (std::size_t k = 0; k < classes; ++k) pseudo_[k * stride + k] += on_diagonal;
    // Padding counts nothing; the floor keeps its logarithm finite.
    for (std::size_t l = 0; l < classes; ++l) {
      std::fill_n(pseudo_.begin() + static_cast<std::ptrdiff_t>(l * stride + classes), stride - classes, 0.0);
    }
  }

  double update(std::size_t, const double* counts, double* log_rows) const override {
    thread_local std::vector<double> sums;
    sums.assign(2 * stride_, 0.0);
    double* __restrict const total = sums.data();
    double* __restrict const objective = sums.data() + stride_;
    const double* __restrict const pseudo = pseudo_.data();
    double* __restrict const log_row = log_rows;
    for (std::size_t l = 0; l < classes_; ++l) {
#pragma omp simd
      for (std::size_t k = 0; k < stride_; ++k) {
        const double sum = counts[l * stride_ + k] + pseudo[l * stride_ + k];
        const double mass = sum > kProbabilityFloor ? sum : kProbabilityFloor;
        log_row[l * stride_ + k] = mass;
        total[k] += mass;
      }
    }
    const std::size_t cells = classes_ * stride_;
#pragma omp simd
    for (std::size_t c = 0; c < cells; ++c) log_row[c] = log_positive(log_row[c]);
#pragma omp simd
    for (std::size_t k = 0; k < stride_; ++k) total[k] = log_positive(total[k]);
    for (std::size_t l = 0; l < classes_; ++l) {
#pragma omp simd
      for (std::size_t k = 0; k < stride_; ++k) {
        const double log_share = log_row[l * stride_ + k] - total[k];
        log_row[l * stride_ + k] = log_share;
        objective[k] += pseudo[l * stride_ + k] * log_share;
      }
    }
    double sum = 0;
    for (std::size_t k = 0; k < classes_; ++k) sum += objective[k];
    return sum;
  }

 private:
  std::size_t classes_;
  std::size_t stride_;
  std::vector<double> pseudo_;  // c_kl, labels × stride
};

}  // namespace wisecrowd
