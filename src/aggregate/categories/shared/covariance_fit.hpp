#pragma once

#include <span>
#include <vector>

#include "aggregate/categories/shared/table_model.hpp"
#include "aggregate/categories/shared/worker_links.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// Two classes coded as −1 and +1. Given the truth answers are independent, so the covariance of two workers is a
/// product, Q_jj' = v_j v_j' with v_j = √(1 − b²) (2 β_j − 1), β_j the mean of sensitivity and specificity and
/// b = P(+1) − P(−1). The v that fit all observed products best, each pair with the weight n_jj', minimise
///   Σ_i Σ_{j<j' in M_i} (x_ij x_ij' − v_j v_j')²,   x_ij = y_ij − mean of worker j,
/// whose sums over pairs factor into sums over workers: nothing needs a list of pairs, a sweep costs one look at each
/// answer.
struct CovarianceFit {
  std::vector<double> mean;  ///< μ_j; gold, if there is any, is the last worker here and below
  std::vector<double> v;
  std::vector<double> answers;  ///< n_j
  WorkerLinks links;
  std::vector<double> trace;  ///< minus the mean squared error of the products, up to a constant; never falls
  std::size_t iterations = 0;
  double seconds = 0;
  Status status = Status::iteration_limit;
};

struct CovarianceOptions {
  std::size_t max_iterations = 1000;
  double tolerance = 1e-9;  ///< stop when no v moves by more
};

[[nodiscard]] CovarianceFit fit_covariances(const CategoryData& data, const RunContext& context,
                                            const CovarianceOptions& options, const CategoryStart& start);

/// Least squares for α in the third moments, E x_j x_j' x_j'' = α v_j v_j' v_j'' over all triples, each with its weight
/// n_jj'j''. `known` is false when no task has three answers.
struct ThirdMoment {
  double alpha = 0;
  bool known = false;
};
[[nodiscard]] ThirdMoment fit_third_moment(const CategoryData& data, const CovarianceFit& fit);
/// α = −2b/√(1 − b²), solved for b.
[[nodiscard]] double balance_from(double alpha) noexcept;

/// Sensitivity (1 + μ + v √((1−b)/(1+b)))/2 and specificity (1 − μ + v √((1+b)/(1−b)))/2 of every worker, kept away
/// from 0 and 1 by 1/(n_j + 2); the class prior is (1 ∓ b)/2.
[[nodiscard]] TableModel tables_from_balance(const CovarianceFit& fit, std::size_t workers, double balance);

}  // namespace wisecrowd
