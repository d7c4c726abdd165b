#pragma once

#include "wisecrowd/comparison_aggregator.hpp"

namespace wisecrowd::davidson {

struct Options {
  double ridge = 0;
  std::size_t max_iterations = 200;
  double tolerance = 1e-9;
};

/// P(left), P(right), P(tie) in proportion to e^(d/2), e^(−d/2), ν.
class Davidson final : public ComparisonAggregator {
 public:
  explicit Davidson(Options options = {}) : options_(options) {}
  [[nodiscard]] ComparisonFit fit(const ComparisonData& data, const RunContext& context,
                                  const ComparisonStart& start = {}) const override;
  /// With a ν of each worker's own, from how many ties it has and how many it should have.
  [[nodiscard]] std::vector<double> log_predictive(const ComparisonData& data,
                                                   std::span<const ComparisonAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::davidson
