#pragma once

#include "aggregate/comparisons/shared/worker_em.hpp"

namespace wisecrowd::noisy_bradley_terry {

using Options = comparisons::WorkerEmOptions;

/// P(j names the left) = om_j σ(s_left − s_right) + (1 − om_j) β_j.
class NoisyBradleyTerry final : public ComparisonAggregator {
 public:
  explicit NoisyBradleyTerry(Options options = {}) : options_(options) {}
  [[nodiscard]] ComparisonFit fit(const ComparisonData& data, const RunContext& context,
                                  const ComparisonStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const ComparisonData& data,
                                                   std::span<const ComparisonAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::noisy_bradley_terry
