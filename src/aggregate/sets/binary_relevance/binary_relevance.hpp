#pragma once

#include "aggregate/sets/shared/relevance.hpp"

namespace wisecrowd::binary_relevance {

enum class Base { dawid_skene, majority };
inline constexpr auto kBaseNames = enum_names<Base>({{Base::dawid_skene, "dawid_skene"}, {Base::majority, "majority"}});

struct Options {
  Base base = Base::dawid_skene;
  double pseudo_count = 0.01;
  sets::RelevanceOptions em;
};

/// Every class by itself: is it in the set or not? By a vote, or by Dawid and Skene's model of two classes.
class BinaryRelevance final : public SetAggregator {
 public:
  explicit BinaryRelevance(Options options = {}) : options_(options) {}
  [[nodiscard]] SetFit fit(const SetData& data, const RunContext& context, const SetStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::binary_relevance
