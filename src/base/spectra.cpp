#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "base/linear_algebra.hpp"

namespace wisecrowd {

SingularValues singular_value_decomposition(const RowMatrix& a) {
  const Eigen::JacobiSVD<RowMatrix> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

RowMatrix solve(const SingularValues& a, const RowMatrix& b) {
  Eigen::MatrixXd turned = a.u.transpose() * b;
  turned = a.values.asDiagonal().inverse() * turned;
  return a.v * turned;
}

Eigen::VectorXd singular_values(const RowMatrix& a) { return Eigen::JacobiSVD<RowMatrix>(a).singularValues(); }

SymmetricEigen<RowMatrix> symmetric_eigen(const RowMatrix& a) {
  const Eigen::SelfAdjointEigenSolver<RowMatrix> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen<Eigen::MatrixXd> symmetric_eigen(const Eigen::MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace wisecrowd
