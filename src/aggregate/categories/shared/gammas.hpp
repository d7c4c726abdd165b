#pragma once

#include <cstddef>

#include "base/numeric.hpp"

namespace wisecrowd {

// ψ and ln Γ of many positive numbers. Functions of their own, because inside of large ones the compiler leaves the
// call for each number in the loop, and then there are no vectors.

inline void digammas(const double* x, double* out, std::size_t count) noexcept {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) out[i] = digamma_positive(x[i]);
}

inline void log_gammas(const double* x, double* out, std::size_t count) noexcept {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) out[i] = log_gamma_positive(x[i]);
}

/// out = ψ(x + y).
inline void digammas_of_sums(const double* x, const double* y, double* out, std::size_t count) noexcept {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) out[i] = digamma_positive(x[i] + y[i]);
}

/// out = ln Γ(x + y) − ln Γ(y).
inline void log_gamma_gains(const double* x, const double* y, double* out, std::size_t count) noexcept {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) out[i] = log_gamma_positive(x[i] + y[i]) - log_gamma_positive(y[i]);
}

}  // namespace wisecrowd
