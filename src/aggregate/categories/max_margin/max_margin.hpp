#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::max_margin {

struct Options {
  double cost = 1.0 / 32;   ///< c: what a violated margin costs against moving the weights
  double margin = 3;        ///< by how much the winner shall lead
  double usual_weight = 1;  ///< η0, where weights are drawn to
  std::size_t max_iterations = 50;
  std::size_t passes = 20;  ///< of dual coordinate ascent per iteration, at most
  TieRule ties = TieRule::lowest;
};

/// Weighted majority vote whose weights make the winner win by a margin.
class MaxMargin final : public CategoryAggregator {
 public:
  explicit MaxMargin(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::max_margin
