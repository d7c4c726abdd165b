#pragma once

#include "aggregate/shared/communities.hpp"

namespace wisecrowd::cbcc {

struct Options {
  CommunityOptions community{.most_communities = 5};
  double strength = 10;  ///< kappa: how closely workers follow their community, in answers per class
};

/// Community-based Bayesian classifier combination: workers scatter around the table of their community.
class Cbcc final : public Aggregator {
 public:
  explicit Cbcc(Options options = {}) : options_(options) {}
  [[nodiscard]] Aggregation fit(const Dataset& data, const RunContext& context, const Start& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::cbcc
