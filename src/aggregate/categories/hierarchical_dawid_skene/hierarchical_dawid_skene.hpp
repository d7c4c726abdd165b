#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::hierarchical_dawid_skene {

struct Options {
  EmOptions em{.max_iterations = 1000, .tolerance = 1e-6};
  double right_pseudo_count = 2;      ///< A: prior of a worker's skill, right answers
  double wrong_pseudo_count = 1;      ///< B: and wrong ones
  double confusion_pseudo_count = 1;  ///< per pair of classes, for the crowd's common confusions
  double favourite_pseudo_count = 1;  ///< per class, for each worker's favourite answers
};

/// Dawid–Skene whose smoothing is learned: workers are drawn around a skill and favourite answers of their own and the
/// confusions that the crowd shares, and how tightly is estimated from the data.
class HierarchicalDawidSkene final : public CategoryAggregator {
 public:
  explicit HierarchicalDawidSkene(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::hierarchical_dawid_skene
