#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::gibbs {

struct Options {
  enum class Sampler { collapsed, uncollapsed };
  enum class Align { automatic, always, never };

  Sampler sampler = Sampler::collapsed;
  std::size_t chains = 4;
  std::size_t burn_in = 200;
  std::size_t sweeps = 500;  ///< per chain, after burn-in
  std::size_t thin = 1;
  double diagonal_prior = 4;
  double off_diagonal_prior = 1;
  double class_pseudo_count = 1;
  bool learn_class_prior = true;
  Align align = Align::automatic;
  TieRule ties = TieRule::lowest;
};

/// Draws from the posterior of Bayesian Dawid–Skene: what mean field approximates, this gets right.
class Gibbs final : public CategoryAggregator {
 public:
  explicit Gibbs(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::gibbs
