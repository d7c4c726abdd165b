#include "select/dalc/dalc.hpp"

#include "base/numeric.hpp"
#include "select/shared/picker.hpp"
#include "select/shared/task_first.hpp"

namespace wisecrowd::dalc_selector {
namespace {

class Dalc final : public Selector {
 public:
  explicit Dalc(const selecting::PickLimits& limits) : limits_(limits) {}

  Selection choose(const CrowdView& crowd, const SelectionRequest& request, const RunContext& context) const override {
    selecting::TaskOrder order{selecting::TaskOrder::Kind::scores, std::vector<double>(crowd.task_count())};
    for (std::size_t i = 0; i < order.scores.size(); ++i) order.scores[i] = score(crowd, TaskId(i));
    const selecting::PairRule rule(crowd, request, {.rule = selecting::WorkerRule::reliability}, context);
    return selecting::pick(rule, crowd.posterior, order, limits_, context);
  }

 private:
  selecting::PickLimits limits_;
};

}  // namespace

double score(const CrowdView& crowd, TaskId task) {
  return crowd.pass_count == 0 ? entropy(crowd.posterior_of(task)) : entropy(selecting::mean_pass(crowd, task));
}

SelectorEntry selector() {
  SelectorInfo info;
  info.title = "DALC";
  info.summary = "Asks the tasks on which the network is least sure, each of the worker most reliable on it.";
  info.when_to_use = "With features and workers who are good at some tasks and bad at others.";
  info.reference = "Deep active learning from targeted crowds";
  info.needs_reliability = true;
  return SelectorEntry::of<Dalc, selecting::limit_parameters>(std::move(info));
}

}  // namespace wisecrowd::dalc_selector
