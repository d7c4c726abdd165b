#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::mace {

struct Options {
  enum class Inference { em, variational };
  enum class Guesses { own, uniform };

  EmOptions em{.max_iterations = 500, .tolerance = 1e-8};
  Inference inference = Inference::variational;
  Guesses guesses = Guesses::own;
  double pseudo_count = 0;   ///< EM: added to every count; 0 stands for 0.1/K
  double trust_prior = 0.5;  ///< VB: both parameters of the Beta prior of t_j
  double guess_prior = 10;   ///< VB: Dirichlet mass of xi_j, split over the classes
};

/// MACE: a worker either knows the truth and says it, or ignores the task and draws from a habit of its own.
class Mace final : public CategoryAggregator {
 public:
  explicit Mace(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::mace
