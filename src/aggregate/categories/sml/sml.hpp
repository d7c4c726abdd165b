#pragma once

#include "aggregate/categories/shared/covariance_fit.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::sml {

struct Options {
  CovarianceOptions fit;
  TieRule ties = TieRule::lowest;
};

/// Spectral meta-learner: worker weights from the rank-one covariance of their answers, two classes.
class Sml final : public CategoryAggregator {
 public:
  explicit Sml(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::sml
