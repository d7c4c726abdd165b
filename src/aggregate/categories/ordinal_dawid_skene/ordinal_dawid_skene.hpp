#pragma once

#include "aggregate/categories/shared/confusion_em.hpp"
#include "aggregate/categories/shared/decision.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::ordinal_dawid_skene {

struct Options {
  EmOptions em;
  double pseudo_count = 1;
  double diagonal_pseudo_count = 0;
  Decision decision = Decision::median;
};

/// Dawid and Skene's model for each question "above this class?", put together again.
class OrdinalDawidSkene final : public CategoryAggregator {
 public:
  explicit OrdinalDawidSkene(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

/// The nearest sequence (least squares) that never rises: pool adjacent violators, in place.
void make_falling(std::span<double> values);

/// The data as the question "above class `cut`?" sees them: class 0 is no, class 1 yes.
[[nodiscard]] CategoryData above(const CategoryData& data, std::size_t cut);

}  // namespace wisecrowd::ordinal_dawid_skene
