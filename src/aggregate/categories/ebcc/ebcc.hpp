#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::ebcc {

struct Options {
  std::size_t subtypes = 10;      ///< G: kinds of tasks within a class
  double subtype_prior = 0.1;     ///< a_pi: Dirichlet mass of the subtypes of a class, split evenly
  double diagonal_prior = 4;      ///< Dirichlet parameter of the right answer
  double off_diagonal_prior = 1;  ///< and of each wrong one
  bool learn_row_prior = false;   ///< estimate the two, from these values on
  double class_pseudo_count = 1;  ///< Dirichlet parameter of every class
  bool learn_class_prior = true;
  std::size_t max_iterations = 500;
  double tolerance = 1e-3;      ///< stop when no probability has moved by more
  std::size_t restarts = 4;     ///< after the first; all are random
  bool average_starts = false;  ///< the mean over starts instead of the one with the best bound
  TieRule ties = TieRule::lowest;
};

/// Enhanced Bayesian classifier combination: tasks of one class come in hidden subtypes that all workers see, so that
/// their answers are correlated given the class.
class Ebcc final : public CategoryAggregator {
 public:
  explicit Ebcc(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;
  /// By the subtypes: Σ_kg q_i(k, g) E v_jkg[y].
  [[nodiscard]] std::vector<double> log_predictive(const CategoryData& data, std::span<const CategoryAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::ebcc
