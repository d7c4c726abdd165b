#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::one_coin {

struct Options {
  EmOptions em;
  double right_pseudo_count = 1;
  double wrong_pseudo_count = 1;
};

/// Dawid–Skene with one number per worker: the probability of a right answer, errors spread evenly.
class OneCoin final : public CategoryAggregator {
 public:
  explicit OneCoin(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::one_coin
