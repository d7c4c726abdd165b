#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::median {

/// The median of each task's answers: half of the workers may err as far as they like.
class Median final : public Aggregator<Numbers> {
 public:
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  /// Laplace around the task's median, with the mean absolute distance of an answer from the median of the others.
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;
};

}  // namespace wisecrowd::median
