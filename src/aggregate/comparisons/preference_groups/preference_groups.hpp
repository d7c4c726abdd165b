#pragma once

#include "wisecrowd/comparison_aggregator.hpp"

namespace wisecrowd::preference_groups {

struct Options {
  std::size_t groups = 2;
  std::size_t restarts = 4;
  double virtual_games = 0.5;
  std::size_t max_iterations = 200;
  double tolerance = 1e-4;
};

/// Every worker belongs to one of a few groups, each with Bradley–Terry scores of its own.
class PreferenceGroups final : public ComparisonAggregator {
 public:
  explicit PreferenceGroups(Options options = {}) : options_(options) {}
  [[nodiscard]] ComparisonFit fit(const ComparisonData& data, const RunContext& context,
                                  const ComparisonStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const ComparisonData& data,
                                                   std::span<const ComparisonAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::preference_groups
