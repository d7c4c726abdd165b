#include "base/linear_algebra.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wisecrowd {
namespace {

RowMatrix some_matrix(Eigen::Index rows, Eigen::Index columns) {
  RowMatrix a(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r) {
    for (Eigen::Index c = 0; c < columns; ++c) {
      const auto place = static_cast<double>(r * columns + c);
      a(r, c) = std::sin(1 + place * place);
    }
  }
  return a;
}

RowMatrix positive_definite(Eigen::Index size) {
  const RowMatrix a = some_matrix(size, size);
  return a * a.transpose() + RowMatrix::Identity(size, size);
}

constexpr double kTiny = 1e-12;

TEST(LinearAlgebra, CholeskySolvesInEveryStorageOrder) {
  const RowMatrix a = positive_definite(5), b = some_matrix(5, 3);
  EXPECT_LT((a * cholesky_solve(a, b) - b).norm(), kTiny);
  EXPECT_LT((a * cholesky_solve(a, Eigen::MatrixXd(b)) - b).norm(), kTiny);
  EXPECT_LT((a * cholesky_solve(Eigen::MatrixXd(a), Eigen::MatrixXd(b)) - b).norm(), kTiny);
  const Eigen::VectorXd column = b.col(1);
  EXPECT_LT((a * cholesky_solve(Eigen::MatrixXd(a), column) - column).norm(), kTiny);
}

TEST(LinearAlgebra, CholeskyInverseKnowsTheDeterminantAndRefusesTheIndefinite) {
  RowMatrix a(2, 2);
  a << 4, 2, 2, 3;
  const auto found = cholesky_inverse(a);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->log_determinant, std::log(8.0), kTiny);
  EXPECT_NEAR(found->inverse(0, 1), -2.0 / 8, kTiny);
  a(1, 1) = 0;
  EXPECT_FALSE(cholesky_inverse(a));
}

TEST(LinearAlgebra, InverseAndRegularSystems) {
  const RowMatrix a = some_matrix(4, 4), identity = RowMatrix::Identity(4, 4);
  EXPECT_LT((a * inverse_of(a) - identity).norm(), 1e-10);
  EXPECT_LT((a * inverse_of(Eigen::MatrixXd(a)) - identity).norm(), 1e-10);
  RowMatrix b = positive_definite(4);
  const auto solved = solve_if_regular(b, Eigen::MatrixXd(a), 1e-8);
  ASSERT_TRUE(solved);
  EXPECT_LT((b * *solved - a).norm(), kTiny * 100);
  b.row(2) = b.row(1);
  EXPECT_FALSE(solve_if_regular(b, Eigen::MatrixXd(a), 1e-8));
}

TEST(LinearAlgebra, LeastSquaresOfADeficientMatrixIsTheShortest) {
  RowMatrix a(2, 2);
  a << 1, 1, 1, 1;
  const Eigen::VectorXd b = Eigen::VectorXd::Constant(2, 3.0);
  EXPECT_LT((least_squares(a, b) - Eigen::VectorXd::Constant(2, 1.5)).norm(), kTiny);
  EXPECT_LT((least_squares(a, Eigen::MatrixXd(b)) - RowMatrix::Constant(2, 1, 1.5)).norm(), kTiny);
}

TEST(LinearAlgebra, OrthogonalFactorsSpanTheColumns) {
  const RowMatrix a = some_matrix(6, 3), q = orthonormal_columns(a);
  ASSERT_EQ(q.cols(), 3);
  EXPECT_LT((q.transpose() * q - RowMatrix::Identity(3, 3)).norm(), kTiny);
  EXPECT_LT((q * (q.transpose() * a) - a).norm(), kTiny);
  const RowMatrix whole = orthogonal_factor(a);
  ASSERT_EQ(whole.cols(), 6);
  EXPECT_LT((whole.leftCols(3) - q).norm(), kTiny);
}

TEST(LinearAlgebra, SingularValuesComposeTheMatrixAndSolveIt) {
  const RowMatrix a = positive_definite(4), b = some_matrix(4, 2);
  const SingularValues svd = singular_value_decomposition(a);
  EXPECT_LT((svd.u * svd.values.asDiagonal() * svd.v.transpose() - a).norm(), kTiny * 100);
  EXPECT_LT((singular_values(a) - svd.values).norm(), kTiny);
  EXPECT_GE(svd.values[0], svd.values[3]);
  EXPECT_LT((a * solve(svd, b) - b).norm(), kTiny * 100);
}

TEST(LinearAlgebra, SymmetricEigenvaluesRise) {
  const RowMatrix a = positive_definite(4);
  const auto rows = symmetric_eigen(a);
  EXPECT_LT((a * rows.vectors - rows.vectors * rows.values.asDiagonal()).norm(), kTiny * 100);
  EXPECT_LE(rows.values[0], rows.values[3]);
  const auto columns = symmetric_eigen(Eigen::MatrixXd(a));
  EXPECT_LT((rows.values - columns.values).norm(), kTiny * 100);
}

}  // namespace
}  // namespace wisecrowd
