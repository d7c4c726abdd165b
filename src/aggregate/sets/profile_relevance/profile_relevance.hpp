#pragma once

#include "aggregate/sets/shared/relevance.hpp"

namespace wisecrowd::profile_relevance {

struct Options {
  std::size_t profiles = 4;
  sets::RelevanceOptions em{.tolerance = 1e-7, .class_pseudo_count = 1};
};

/// Workers as in shared_relevance, and classes that occur together: tasks fall into profiles.
class ProfileRelevance final : public SetAggregator {
 public:
  explicit ProfileRelevance(Options options = {}) : options_(options) {}
  [[nodiscard]] SetFit fit(const SetData& data, const RunContext& context, const SetStart& start = {}) const override;
  /// A mixture over the profiles that a task may belong to, so that the classes of a hidden set are judged together.
  [[nodiscard]] std::vector<double> log_predictive(const SetData& data, std::span<const SetAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  [[nodiscard]] SetFit fit_with(const SetData& data, const RunContext& context, const SetStart& start,
                                sets::Profiles& profiles) const;
  Options options_;
};

}  // namespace wisecrowd::profile_relevance
