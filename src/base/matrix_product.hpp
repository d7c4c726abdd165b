#pragma once

#include <cstddef>

namespace wisecrowd {

/// Where the numbers of a matrix lie: the distance from a row to the next, and from a column to the next.
template <class Real>
struct MatrixView {
  const Real* data;
  std::size_t row_step;
  std::size_t column_step = 1;
};

/// C += A B, with C of rows × columns (its rows `columns` apart) and B of depth × columns, its rows as far apart as
/// told. Every cell is a sum in the order of `depth`, each product and sum rounded by itself, so its bits depend
/// neither on the processor nor on how the work is cut, which those of a general library do.
template <class Real>
void add_product(std::size_t rows, std::size_t columns, std::size_t depth, MatrixView<Real> a, const Real* b,
                 std::size_t b_row_step, Real* c) noexcept;

extern template void add_product(std::size_t, std::size_t, std::size_t, MatrixView<float>, const float*, std::size_t,
                                 float*) noexcept;
extern template void add_product(std::size_t, std::size_t, std::size_t, MatrixView<double>, const double*, std::size_t,
                                 double*) noexcept;

}  // namespace wisecrowd
