#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::crh {

struct Options {
  std::size_t max_iterations = 100;
  double tolerance = 1e-6;
  TieRule ties = TieRule::lowest;
};

/// Weighted votes, and weights by how often a worker disagrees with them, in turn.
class Crh final : public CategoryAggregator {
 public:
  explicit Crh(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::crh
