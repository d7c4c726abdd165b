#pragma once

#include "aggregate/numbers/shared/precision_em.hpp"

namespace wisecrowd::gaussian_em {

/// Bias and precision of every worker by EM: normal errors, an inverse gamma prior of their variances.
class GaussianEm final : public Aggregator<Numbers> {
 public:
  explicit GaussianEm(numbers::PrecisionOptions options = {}) : options_(options) {}
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  numbers::PrecisionOptions options_;
};

}  // namespace wisecrowd::gaussian_em
