#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>

#include "base/linear_algebra.hpp"
#include "base/math.hpp"

namespace wisecrowd {

RowMatrix cholesky_solve(const RowMatrix& a, const RowMatrix& b) { return a.llt().solve(b); }

Eigen::MatrixXd cholesky_solve(const RowMatrix& a, const Eigen::MatrixXd& b) { return a.llt().solve(b); }

Eigen::MatrixXd cholesky_solve(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return a.llt().solve(b); }

Eigen::VectorXd cholesky_solve(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) { return a.llt().solve(b); }

std::optional<CholeskyInverse> cholesky_inverse(const RowMatrix& a) {
  const Eigen::LLT<RowMatrix> factor(a);
  if (factor.info() != Eigen::Success) return std::nullopt;
  CholeskyInverse result;
  for (Eigen::Index k = 0; k < a.rows(); ++k) result.log_determinant += 2 * math::log(factor.matrixLLT()(k, k));
  result.inverse = factor.solve(RowMatrix::Identity(a.rows(), a.cols()));
  return result;
}

RowMatrix inverse_of(const RowMatrix& a) { return a.inverse(); }

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a) { return a.inverse(); }

std::optional<Eigen::MatrixXd> solve_if_regular(const RowMatrix& a, const Eigen::MatrixXd& b, double least_condition) {
  const Eigen::FullPivLU<RowMatrix> factor(a);
  if (factor.rank() < a.rows() || factor.rcond() < least_condition) return std::nullopt;
  return factor.solve(b);
}

RowMatrix least_squares(const RowMatrix& a, const Eigen::MatrixXd& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

Eigen::VectorXd least_squares(const RowMatrix& a, const Eigen::VectorXd& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

RowMatrix orthonormal_columns(const RowMatrix& a) {
  const Eigen::HouseholderQR<RowMatrix> factor(a);
  return factor.householderQ() * RowMatrix::Identity(a.rows(), a.cols());
}

RowMatrix orthogonal_factor(const RowMatrix& a) {
  const Eigen::HouseholderQR<RowMatrix> factor(a);
  return factor.householderQ();
}

}  // namespace wisecrowd
