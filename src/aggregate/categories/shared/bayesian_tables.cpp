#include "aggregate/categories/shared/bayesian_tables.hpp"

#include <algorithm>

#include "base/lanes.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

double BayesianModel::update_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options,
                                         std::vector<double>& prior, std::vector<double>& log_prior) const {
  if (options.class_prior == EmOptions::ClassPrior::uniform) {
    return CrowdModel::update_class_prior(sums, options, prior, log_prior);
  }
  const double pseudo = options.class_pseudo_count;
  const auto classes = static_cast<double>(prior.size());
  const double total = sums.answered_tasks + pseudo * classes;
  double objective = log_gamma(pseudo * classes) - log_gamma(total);
  for (std::size_t k = 0; k < prior.size(); ++k) {
    const double mass = sums.class_mass[k] + pseudo;
    prior[k] = mass / total;
    log_prior[k] = digamma(mass) - digamma(total);
    objective += log_gamma(mass) - log_gamma(pseudo) - sums.class_mass[k] * log_prior[k];
  }
  return objective;
}

void BayesianModel::finish(CategoryFit& result) const {
  result.objective_name = "evidence lower bound";
  // The E-step works with exp(E ln th), whose rows do not sum to 1: its sums are no likelihood.
  result.has_log_likelihood = false;
  result.log_likelihood = 0;
}

BayesianTables::BayesianTables(const ConfusionPass& pass, double diagonal, double off_diagonal)
    : classes_(pass.class_count()),
      stride_(pass.stride()),
      row_prior_(diagonal + off_diagonal * static_cast<double>(classes_ - 1)),
      prior_(classes_ * stride_, off_diagonal) {
  for (std::size_t l = 0; l < classes_; ++l) {
    prior_[l * stride_ + l] = diagonal;
    // Padding is never read, but must be a possible argument.
    for (std::size_t k = classes_; k < stride_; ++k) prior_[l * stride_ + k] = 1;
  }
  const auto rows = static_cast<double>(classes_);
  prior_log_beta_ = rows * (log_gamma(diagonal) + (rows - 1) * log_gamma(off_diagonal)) - rows * log_gamma(row_prior_);
}

double BayesianTables::update(std::size_t, const double* counts, double* log_rows) const {
  const std::size_t cells = classes_ * stride_;
  thread_local std::vector<double> smooth, product, totals, merged;
  smooth.resize(cells);
  product.resize(cells);
  totals.assign(stride_, row_prior_);
  merged.resize(stride_);
  double* const smooth_part = smooth.data();
  double* const products = product.data();
#pragma omp simd
  for (std::size_t c = 0; c < cells; ++c) {
    const GammaPair pair = gamma_pair(counts[c] + prior_[c]);
    log_rows[c] = pair.digamma;
    smooth_part[c] = pair.smooth;
    products[c] = pair.product;
  }
  double objective = -prior_log_beta_;
  for (std::size_t first = 0; first < classes_; first += kProductsPerLogarithm) {
    std::fill(merged.begin(), merged.end(), 1.0);
    for (std::size_t l = first; l < std::min(first + kProductsPerLogarithm, classes_); ++l) {
      for (std::size_t k = 0; k < stride_; ++k) merged[k] *= products[l * stride_ + k];
    }
#pragma omp simd
    for (std::size_t k = 0; k < stride_; ++k) merged[k] = log_positive(merged[k]);
    for (std::size_t k = 0; k < classes_; ++k) objective -= merged[k];
  }
  for (std::size_t l = 0; l < classes_; ++l) {
    for (std::size_t k = 0; k < stride_; ++k) totals[k] += counts[l * stride_ + k];
  }
  for (std::size_t k = 0; k < stride_; ++k) {
    const GammaPair pair = gamma_pair(totals[k]);
    totals[k] = pair.digamma;
    if (k < classes_) objective -= pair.smooth - log_positive(pair.product);
  }
  for (std::size_t l = 0; l < classes_; ++l) {
    double* const row = log_rows + l * stride_;
    for (std::size_t k = 0; k < stride_; ++k) row[k] -= totals[k];
    objective += lane_sum<double>(
        classes_, [&](std::size_t k) { return smooth_part[l * stride_ + k] - counts[l * stride_ + k] * row[k]; });
  }
  return objective;
}

bool BayesianTables::estimate_table(std::size_t, double* counts) const {
  for (std::size_t c = 0; c < prior_.size(); ++c) counts[c] += prior_[c];
  return true;
}

}  // namespace wisecrowd
