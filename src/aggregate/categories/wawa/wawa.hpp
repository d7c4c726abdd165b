#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::wawa {

struct Options {
  TieRule ties = TieRule::lowest;
};

/// Worker agreement with aggregate: vote, weigh each worker by agreement with the vote, vote again.
class Wawa final : public CategoryAggregator {
 public:
  explicit Wawa(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::wawa
