#include "base/matrix_product.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

template <class Real>
std::vector<Real> drawn(std::size_t size, Rng& rng) {
  std::vector<Real> values(size);
  for (Real& value : values) value = static_cast<Real>(rng.normal());
  return values;
}

/// Cell by cell, in the order of depth: what every way of cutting has to equal bit for bit.
template <class Real>
void check(std::size_t rows, std::size_t columns, std::size_t depth) {
  Rng rng(rows * 10007 + columns * 101 + depth);
  const auto a = drawn<Real>(rows * depth, rng), b = drawn<Real>(depth * columns, rng);
  const auto start = drawn<Real>(rows * columns, rng);
  std::vector<Real> turned(rows * depth), expected = start;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < depth; ++k) turned[k * rows + i] = a[i * depth + k];
    for (std::size_t j = 0; j < columns; ++j) {
      volatile Real sum = start[i * columns + j];
      for (std::size_t k = 0; k < depth; ++k) {
        const volatile Real product = a[i * depth + k] * b[k * columns + j];
        sum = sum + product;
      }
      expected[i * columns + j] = sum;
    }
  }
  std::vector<Real> c = start;
  add_product<Real>(rows, columns, depth, {a.data(), depth}, b.data(), columns, c.data());
  EXPECT_EQ(c, expected) << rows << " × " << columns << " × " << depth;
  c = start;
  add_product<Real>(rows, columns, depth, {turned.data(), 1, rows}, b.data(), columns, c.data());
  EXPECT_EQ(c, expected) << rows << " × " << columns << " × " << depth << ", turned";
}

TEST(MatrixProduct, EqualsTheSumsByTheBook) {
  for (const std::size_t rows : {0, 1, 3, 8, 13}) {
    for (const std::size_t columns : {0, 1, 2, 7, 8, 16, 31, 50}) {
      for (const std::size_t depth : {0, 1, 5, 256, 300}) {
        check<float>(rows, columns, depth);
        check<double>(rows, columns, depth);
      }
    }
  }
}

}  // namespace
}  // namespace wisecrowd
