#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::zero_based_skill {

struct Options {
  std::size_t max_iterations = 100;
  double learning_rate = 1;
  std::size_t halve_every = 20;
  double tolerance = 1e-6;
  TieRule ties = TieRule::lowest;
};

/// Starts every worker near chance and moves skills toward agreement with the weighted vote.
class ZeroBasedSkill final : public CategoryAggregator {
 public:
  explicit ZeroBasedSkill(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::zero_based_skill
