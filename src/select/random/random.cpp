#include "select/random/random.hpp"

#include "select/shared/selector_entry.hpp"

namespace wisecrowd::random_selector {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  selecting::worker_rule_parameters(v, o.worker);
  selecting::limit_parameters(v, o.limits);
}

}  // namespace

SelectorEntry selector() {
  SelectorInfo info;
  info.title = "Random";
  info.summary = "Asks anyone anything: all pairs that can be asked are equally likely.";
  info.when_to_use = "What the others are measured against, and honest data for later.";
  return SelectorEntry::of<Random, parameters>(std::move(info));
}

Selection Random::choose(const CrowdView& crowd, const SelectionRequest& request, const RunContext& context) const {
  const selecting::PairRule rule(crowd, request, selecting::worker_rule(options_.worker), context);
  return selecting::pick(rule, crowd.posterior, {selecting::TaskOrder::Kind::lots, {}}, options_.limits, context);
}

}  // namespace wisecrowd::random_selector
