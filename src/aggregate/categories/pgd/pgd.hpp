#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::pgd {

struct Options {
  std::size_t max_iterations = 1000;
  double tolerance = 1e-7;  ///< stop when no skill moves by more
  TieRule ties = TieRule::lowest;
};

/// Skills s_j from how often pairs of workers agree, C_jj' ≈ s_j s_j', by projected gradient descent.
class Pgd final : public CategoryAggregator {
 public:
  explicit Pgd(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::pgd
