#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::majority_vote {

struct Options {
  TieRule ties = TieRule::lowest;
};

/// Vote fractions as probabilities, the most frequent label as the answer.
class MajorityVote final : public Aggregator {
 public:
  explicit MajorityVote(Options options = {}) : options_(options) {}
  [[nodiscard]] Aggregation fit(const Dataset& data, const RunContext& context, const Start& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::majority_vote
