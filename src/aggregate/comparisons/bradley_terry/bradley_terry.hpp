#pragma once

#include "aggregate/comparisons/shared/bootstrap.hpp"
#include "aggregate/comparisons/shared/plain_scores.hpp"
#include "wisecrowd/comparison_aggregator.hpp"

namespace wisecrowd::bradley_terry {

struct Options {
  double ridge = 0;
  comparisons::IntervalOptions intervals;
  comparisons::Algorithm algorithm = comparisons::Algorithm::newton;
  std::size_t max_iterations = 100;
  double tolerance = 1e-9;
};

/// P(i beats i') = σ(s_i − s_i'); every worker counts the same.
class BradleyTerry final : public ComparisonAggregator {
 public:
  explicit BradleyTerry(Options options = {}) : options_(options) {}
  [[nodiscard]] ComparisonFit fit(const ComparisonData& data, const RunContext& context,
                                  const ComparisonStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::bradley_terry
