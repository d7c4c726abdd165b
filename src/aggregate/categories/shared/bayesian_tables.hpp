#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"

namespace wisecrowd {

/// What models by mean-field variational Bayes share: π ~ Dirichlet(ν0), and a trace that is a lower bound.
class BayesianModel : public CrowdModel {
 public:
  double update_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options, std::vector<double>& prior,
                            std::vector<double>& log_prior) const override;
  void finish(CategoryFit& result) const override;
};

/// th_j[k] ~ Dirichlet(b0_k), the same prior for every worker.
class BayesianTables : public BayesianModel {
 public:
  BayesianTables(const ConfusionPass& pass, double diagonal, double off_diagonal);

  /// Expected logarithms under the posterior b = n + b0; the worker's part of the bound is
  /// Σ_k [ln B(b_k) − ln B(b0_k) − Σ_l n_kl E ln th_kl].
  double update(std::size_t worker, const double* counts, double* log_rows) const override;
  /// The posterior mean b / Σ b, but for the sum.
  bool estimate_table(std::size_t worker, double* counts) const override;

 protected:
  [[nodiscard]] std::size_t classes() const noexcept { return classes_; }
  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }

 private:
  std::size_t classes_;
  std::size_t stride_;
  double row_prior_;
  std::vector<double> prior_;  // b0, labels × stride
  double prior_log_beta_ = 0;  // Σ_k ln B(b0_k)
};

}  // namespace wisecrowd
