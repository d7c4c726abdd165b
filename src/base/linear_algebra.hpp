#pragma once

#include <Eigen/Core>
#include <optional>

// Decompositions of dense matrices. Eigen's are templates that take many seconds to compile, so they are compiled here
// alone; everybody else includes this header and sees vectors, matrices and their products. Where there are overloads,
// they keep to the storage order of their argument.
namespace wisecrowd {

/// Rows lie one after the other, as in our own tables.
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A X = B for a positive definite A, of which the lower triangle is read; not checked.
[[nodiscard]] RowMatrix cholesky_solve(const RowMatrix& a, const RowMatrix& b);
[[nodiscard]] Eigen::MatrixXd cholesky_solve(const RowMatrix& a, const Eigen::MatrixXd& b);
[[nodiscard]] Eigen::MatrixXd cholesky_solve(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
[[nodiscard]] Eigen::VectorXd cholesky_solve(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

struct CholeskyInverse {
  double log_determinant = 0;
  RowMatrix inverse;
};
/// Nothing unless A is positive definite.
[[nodiscard]] std::optional<CholeskyInverse> cholesky_inverse(const RowMatrix& a);

[[nodiscard]] RowMatrix inverse_of(const RowMatrix& a);
[[nodiscard]] Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a);

/// A X = B, or nothing if A is singular or its reciprocal condition number is below `least_condition`.
[[nodiscard]] std::optional<Eigen::MatrixXd> solve_if_regular(const RowMatrix& a, const Eigen::MatrixXd& b,
                                                              double least_condition);

/// The shortest X among those with the least |A X − B|².
[[nodiscard]] RowMatrix least_squares(const RowMatrix& a, const Eigen::MatrixXd& b);
[[nodiscard]] Eigen::VectorXd least_squares(const RowMatrix& a, const Eigen::VectorXd& b);

/// Q of A = Q R: as many columns as A has, or square.
[[nodiscard]] RowMatrix orthonormal_columns(const RowMatrix& a);
[[nodiscard]] RowMatrix orthogonal_factor(const RowMatrix& a);

/// A = U diag(values) Vᵀ with square U and V, values falling.
struct SingularValues {
  RowMatrix u;
  Eigen::VectorXd values;
  RowMatrix v;
};
[[nodiscard]] SingularValues singular_value_decomposition(const RowMatrix& a);
/// A X = B by the decomposition of an A without singular values of 0.
[[nodiscard]] RowMatrix solve(const SingularValues& a, const RowMatrix& b);
[[nodiscard]] Eigen::VectorXd singular_values(const RowMatrix& a);

/// A V = V diag(values) for a symmetric A, of which the lower triangle is read; values rising.
template <class Matrix>
struct SymmetricEigen {
  Eigen::VectorXd values;
  Matrix vectors;
};
[[nodiscard]] SymmetricEigen<RowMatrix> symmetric_eigen(const RowMatrix& a);
[[nodiscard]] SymmetricEigen<Eigen::MatrixXd> symmetric_eigen(const Eigen::MatrixXd& a);

}  // namespace wisecrowd
