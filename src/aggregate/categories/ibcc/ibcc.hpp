#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::ibcc {

struct Options {
  enum class Coins { full, one_coin };

  EmOptions em{.class_pseudo_count = 1, .max_iterations = 500, .tolerance = 1e-8};
  Coins coins = Coins::full;
  double diagonal_prior = 4;      ///< Dirichlet parameter of the right answer
  double off_diagonal_prior = 1;  ///< and of each wrong one (one_coin: of all wrong ones together)
};

/// Independent Bayesian classifier combination: Dawid and Skene's model with Dirichlet priors, by mean-field
/// variational Bayes.
class Ibcc final : public CategoryAggregator {
 public:
  explicit Ibcc(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::ibcc
