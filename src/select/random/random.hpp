#pragma once

#include "select/shared/picker.hpp"

namespace wisecrowd::random_selector {

struct Options {
  selecting::WorkerRuleOptions worker;
  selecting::PickLimits limits{.per_task = 0};
};

/// Anyone is asked anything.
class Random final : public Selector {
 public:
  explicit Random(const Options& options) : options_(options) {}
  [[nodiscard]] Selection choose(const CrowdView& crowd, const SelectionRequest& request,
                                 const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::random_selector
