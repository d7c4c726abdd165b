#pragma once

#include "aggregate/comparisons/shared/worker_em.hpp"

namespace wisecrowd::crowd_bt {

using Options = comparisons::WorkerEmOptions;

/// P(j says i > i') = om_j σ(s_i − s_i') + (1 − om_j) σ(s_i' − s_i).
class CrowdBt final : public ComparisonAggregator {
 public:
  explicit CrowdBt(Options options = {}) : options_(options) {}
  [[nodiscard]] ComparisonFit fit(const ComparisonData& data, const RunContext& context,
                                  const ComparisonStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const ComparisonData& data,
                                                   std::span<const ComparisonAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::crowd_bt
