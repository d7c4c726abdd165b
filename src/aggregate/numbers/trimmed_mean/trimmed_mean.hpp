#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::trimmed_mean {

struct Options {
  double share = 0.1;
};

/// The mean of a task's answers without the lowest and the highest ones.
class TrimmedMean final : public Aggregator<Numbers> {
 public:
  explicit TrimmedMean(Options options = {}) : options_(options) {}
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  /// Laplace around the task's trimmed mean, with the mean absolute distance of an answer from that of the others.
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

/// Of sorted answers, without the one at `left_out` if that is below their number: a share of them is left away at
/// either end, and the last answer that is left away in part counts with the rest.
[[nodiscard]] double trimmed(std::span<const double> sorted, std::size_t left_out, double share);

}  // namespace wisecrowd::trimmed_mean
