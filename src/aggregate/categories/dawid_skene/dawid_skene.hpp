#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::dawid_skene {

struct Options {
  EmOptions em;
  double pseudo_count = 0.01;
  double diagonal_pseudo_count = 0;
};

/// Dawid and Skene's model: a full confusion table per worker.
class DawidSkene final : public CategoryAggregator {
 public:
  explicit DawidSkene(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::dawid_skene
