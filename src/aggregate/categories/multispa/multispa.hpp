#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::multispa {

struct Options {
  std::size_t min_common = 0;
  double column_shrinkage = 2;
  double pseudo_count = 0.1;
  TieRule ties = TieRule::lowest;
};

/// Worker tables from pairs of workers by successive projections (Ibrahim et al. 2019): no iteration, no start.
class MultiSpa final : public CategoryAggregator {
 public:
  explicit MultiSpa(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::multispa
