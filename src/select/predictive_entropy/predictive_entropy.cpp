#include "select/predictive_entropy/predictive_entropy.hpp"

#include "base/numeric.hpp"
#include "select/shared/task_first.hpp"

namespace wisecrowd::predictive_entropy_selector {

double score(const CrowdView& crowd, TaskId task) { return entropy(selecting::mean_pass(crowd, task)); }

SelectorEntry selector() {
  SelectorInfo info;
  info.title = "Predictive entropy";
  info.summary = "Asks the tasks on which a network with dropout is least sure: the entropy of its mean over passes.";
  info.when_to_use = "With features, before tasks have answers of their own.";
  info.reference = "Y. Gal and Z. Ghahramani, 2016; eq. 10 of the DALC paper";
  info.needs_passes = true;
  return SelectorEntry::of<selecting::TaskFirst<score>, selecting::task_first_parameters>(std::move(info));
}

}  // namespace wisecrowd::predictive_entropy_selector
