#include "select/random/random.hpp"

#include "select/shared/picker.hpp"
#include "select/shared/task_first.hpp"

namespace wisecrowd::random_selector {
namespace {

class Random final : public Selector {
 public:
  explicit Random(const Parameters& parameters)
      : worker_(selecting::worker_rule_from(parameters)), limits_(selecting::limits_from(parameters)) {}

  Selection choose(const CrowdView& crowd, const SelectionRequest& request, const RunContext& context) const override {
    const selecting::PairRule rule(crowd, request, worker_, context);
    return selecting::pick(rule, crowd.posterior, {selecting::TaskOrder::Kind::lots, {}}, limits_, context);
  }

 private:
  selecting::WorkerRuleOptions worker_;
  selecting::PickLimits limits_;
};

}  // namespace

SelectorInfo info() {
  SelectorInfo info;
  info.title = "Random";
  info.summary = "Asks anyone anything: all pairs that can be asked are equally likely.";
  info.when_to_use = "What the others are measured against, and honest data for later.";
  info.parameters = selecting::one_sided_parameters("random", 0);
  return info;
}

std::unique_ptr<Selector> make(const Parameters& parameters) { return std::make_unique<Random>(parameters); }

}  // namespace wisecrowd::random_selector
