#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::wawa {

struct Options {
  TieRule ties = TieRule::lowest;
};

/// Worker agreement with aggregate: vote, weigh each worker by agreement with the vote, vote again.
class Wawa final : public Aggregator {
 public:
  explicit Wawa(Options options = {}) : options_(options) {}
  [[nodiscard]] Aggregation fit(const Dataset& data, const RunContext& context, const Start& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::wawa
