#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::spammer_mixture {

struct Options {
  EmOptions em{.class_pseudo_count = 1, .max_iterations = 500, .tolerance = 1e-8};
  double diagonal_prior = 4;      ///< Dirichlet parameter of an honest worker's right answer
  double off_diagonal_prior = 1;  ///< and of each wrong one
  double spammer_prior = 1;       ///< of each answer of a spammer
  double honest_before = 8;       ///< honest workers believed beforehand
  double spammers_before = 2;
};

/// Every worker is honest, with a table of its own, or a spammer, who answers alike whatever the truth. Mean-field
/// variational Bayes; `skill` is the probability that a worker is honest.
class SpammerMixture final : public CategoryAggregator {
 public:
  explicit SpammerMixture(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::spammer_mixture
