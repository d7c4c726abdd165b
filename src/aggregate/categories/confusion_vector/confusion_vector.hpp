#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::confusion_vector {

struct Options {
  EmOptions em;
  double right_pseudo_count = 1;
  double wrong_pseudo_count = 1;
};

/// Dawid–Skene with one accuracy per worker and truth class, errors spread evenly; for two classes it is the full
/// model.
class ConfusionVector final : public CategoryAggregator {
 public:
  explicit ConfusionVector(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::confusion_vector
