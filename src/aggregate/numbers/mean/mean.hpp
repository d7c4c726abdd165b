#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::mean {

/// The mean of each task's answers; every worker counts the same.
class Mean final : public Aggregator<Numbers> {
 public:
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  /// Normal around the task's mean, with the pooled deviation of one answer and that of the mean.
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;
};

}  // namespace wisecrowd::mean
