#pragma once

#include "aggregate/categories/shared/communities.hpp"

namespace wisecrowd::cbcc {

struct Options {
  CommunityOptions community{.most_communities = 5};
  double strength = 10;  ///< kappa: how closely workers follow their community, in answers per class
};

/// Community-based Bayesian classifier combination: workers scatter around the table of their community.
class Cbcc final : public CategoryAggregator {
 public:
  explicit Cbcc(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::cbcc
