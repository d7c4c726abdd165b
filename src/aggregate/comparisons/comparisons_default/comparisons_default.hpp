#pragma once

#include "wisecrowd/comparison_aggregator.hpp"

namespace wisecrowd::comparisons_default {

struct Options {
  std::size_t folds = 3;
  double share = 0.1;
};

/// The method among bradley_terry, davidson, crowd_bt and noisy_bradley_terry that predicts hidden answers best.
class ComparisonsDefault final : public ComparisonAggregator {
 public:
  explicit ComparisonsDefault(Options options = {}) : options_(options) {}
  [[nodiscard]] ComparisonFit fit(const ComparisonData& data, const RunContext& context,
                                  const ComparisonStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const ComparisonData& data,
                                                   std::span<const ComparisonAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  struct Choice {
    std::unique_ptr<ComparisonAggregator> method;
    std::string explanation;
  };
  [[nodiscard]] Choice choose(const ComparisonData& data, const RunContext& context) const;

  Options options_;
};

}  // namespace wisecrowd::comparisons_default
