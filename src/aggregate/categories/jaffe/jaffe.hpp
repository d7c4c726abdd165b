#pragma once

#include "aggregate/categories/shared/covariance_fit.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::jaffe {

/// Where the class balance comes from.
enum class Balance { moments, likelihood };

struct Options {
  CovarianceOptions fit;
  Balance balance = Balance::moments;
  TieRule ties = TieRule::lowest;
};

/// Sensitivities, specificities and class balance from first, second and third moments, two classes.
class Jaffe final : public CategoryAggregator {
 public:
  explicit Jaffe(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::jaffe
