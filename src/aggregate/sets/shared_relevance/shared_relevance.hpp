#pragma once

#include "aggregate/sets/shared/relevance.hpp"

namespace wisecrowd::shared_relevance {

struct Options {
  sets::RelevanceOptions em{.tolerance = 1e-7, .class_pseudo_count = 1};
};

/// Every class by itself, but workers as a whole: what one does with a class is shrunk to what it does with others.
class SharedRelevance final : public SetAggregator {
 public:
  explicit SharedRelevance(Options options = {}) : options_(options) {}
  [[nodiscard]] SetFit fit(const SetData& data, const RunContext& context, const SetStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::shared_relevance
