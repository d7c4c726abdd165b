#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "aggregate/categories/shared/decision.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::latent_ordinal {

struct Options {
  Decision decision = Decision::median;
  double bias_spread = 1;         ///< deviation of the prior of b_j
  double noise_spread = 0.5;      ///< the same for log σ_j around its mean
  double class_pseudo_count = 1;  ///< tasks added to every class when cuts are estimated
  std::size_t max_iterations = 300;
  double tolerance = 1e-7;
  TieRule ties = TieRule::lowest;
};

/// A continuous truth behind ordered classes: workers see it with a bias and a noise of their own, and say between
/// which of the common cuts it lies.
class LatentOrdinal final : public CategoryAggregator {
 public:
  explicit LatentOrdinal(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;
  /// Σ over nodes of the posterior of the latent truth × P_j(y | node): classes are too coarse for it.
  [[nodiscard]] std::vector<double> log_predictive(const CategoryData& data, std::span<const CategoryAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::latent_ordinal
