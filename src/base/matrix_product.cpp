#include "base/matrix_product.hpp"

#include <algorithm>
#include <array>

namespace wisecrowd {
namespace {

// How a product is cut follows the registers; the bits do not depend on it.
#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64, kTileRows = 8, kTileVectors = 3;
#elif defined(__AVX__)
constexpr std::size_t kVectorBytes = 32, kTileRows = 4, kTileVectors = 2;
#else
constexpr std::size_t kVectorBytes = 16, kTileRows = 4, kTileVectors = 2;
#endif
/// As many rows of B as stay in a second-level cache beside the rest.
constexpr std::size_t kDepthAtOnce = 256;

/// A part of a product, small enough for the registers: `Rows` by `Vectors` vectors of `Lanes` numbers.
template <class Real, std::size_t Rows, std::size_t Vectors, std::size_t Lanes>
inline void add_tile(std::size_t depth, MatrixView<Real> a, const Real* b, std::size_t b_row_step, Real* c,
                     std::size_t c_row_step) noexcept {
  using Vector [[gnu::vector_size(Lanes * sizeof(Real)), gnu::aligned(alignof(Real)), gnu::may_alias]] = Real;
  const auto vector = [](const Real* at) { return *reinterpret_cast<const Vector*>(at); };
  Vector sums[Rows][Vectors];
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t v = 0; v < Vectors; ++v) sums[i][v] = vector(c + i * c_row_step + v * Lanes);
  }
  for (std::size_t k = 0; k < depth; ++k) {
    Vector of_b[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) of_b[v] = vector(b + k * b_row_step + v * Lanes);
    for (std::size_t i = 0; i < Rows; ++i) {
      const Real x = a.data[i * a.row_step + k * a.column_step];
      for (std::size_t v = 0; v < Vectors; ++v) sums[i][v] += x * of_b[v];
    }
  }
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t v = 0; v < Vectors; ++v) *reinterpret_cast<Vector*>(c + i * c_row_step + v * Lanes) = sums[i][v];
  }
}

/// The columns from `first` on: as many as possible in wide tiles, the rest in ever narrower ones.
template <class Real, std::size_t Rows, std::size_t Vectors, std::size_t Lanes>
void add_columns(std::size_t first, std::size_t columns, std::size_t depth, MatrixView<Real> a, const Real* b,
                 std::size_t b_row_step, Real* c) noexcept {
  for (; first + Vectors * Lanes <= columns; first += Vectors * Lanes) {
    add_tile<Real, Rows, Vectors, Lanes>(depth, a, b + first, b_row_step, c + first, columns);
  }
  if (first == columns) return;
  if constexpr (Vectors > 1) {
    add_columns<Real, Rows, Vectors - 1, Lanes>(first, columns, depth, a, b, b_row_step, c);
  } else if constexpr (Lanes > 1) {
    add_columns<Real, Rows, 1, Lanes / 2>(first, columns, depth, a, b, b_row_step, c);
  }
}

/// The rows from `first` on, in the same way.
template <class Real, std::size_t Rows>
void add_rows(std::size_t first, std::size_t rows, std::size_t columns, std::size_t depth, MatrixView<Real> a,
              const Real* b, std::size_t b_row_step, Real* c) noexcept {
  for (; first + Rows <= rows; first += Rows) {
    const MatrixView<Real> part{a.data + first * a.row_step, a.row_step, a.column_step};
    add_columns<Real, Rows, kTileVectors, kVectorBytes / sizeof(Real)>(0, columns, depth, part, b, b_row_step,
                                                                       c + first * columns);
  }
  if constexpr (Rows > 1) add_rows<Real, Rows / 2>(first, rows, columns, depth, a, b, b_row_step, c);
}

}  // namespace

template <class Real>
void add_product(std::size_t rows, std::size_t columns, std::size_t depth, MatrixView<Real> a, const Real* b,
                 std::size_t b_row_step, Real* c) noexcept {
  for (std::size_t k = 0; k < depth; k += kDepthAtOnce) {
    const MatrixView<Real> part{a.data + k * a.column_step, a.row_step, a.column_step};
    add_rows<Real, kTileRows>(0, rows, columns, std::min(kDepthAtOnce, depth - k), part, b + k * b_row_step, b_row_step,
                              c);
  }
}

template void add_product(std::size_t, std::size_t, std::size_t, MatrixView<float>, const float*, std::size_t,
                          float*) noexcept;
template void add_product(std::size_t, std::size_t, std::size_t, MatrixView<double>, const double*, std::size_t,
                          double*) noexcept;

}  // namespace wisecrowd
