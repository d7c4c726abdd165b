#pragma once

#include "aggregate/shared/covariance_fit.hpp"
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
class Jaffe final : public Aggregator {
 public:
  explicit Jaffe(Options options = {}) : options_(options) {}
  [[nodiscard]] Aggregation fit(const Dataset& data, const RunContext& context, const Start& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::jaffe
