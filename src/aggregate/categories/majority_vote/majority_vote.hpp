#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::majority_vote {

struct Options {
  TieRule ties = TieRule::lowest;
};

/// Vote fractions as probabilities, the most frequent label as the answer.
class MajorityVote final : public CategoryAggregator {
 public:
  explicit MajorityVote(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::majority_vote
