#include "select/predictive_entropy/predictive_entropy.hpp"

#include "base/numeric.hpp"
#include "select/shared/task_first.hpp"

namespace wisecrowd::predictive_entropy_selector {

double score(const CrowdView& crowd, std::size_t task) { return entropy(selecting::mean_pass(crowd, task)); }

SelectorInfo info() {
  SelectorInfo info;
  info.title = "Predictive entropy";
  info.summary = "Asks the tasks on which a network with dropout is least sure: the entropy of its mean over passes.";
  info.when_to_use = "With features, before tasks have answers of their own.";
  info.reference = "Y. Gal and Z. Ghahramani, 2016; eq. 10 of the DALC paper";
  info.parameters = selecting::one_sided_parameters("information", 1);
  info.needs_passes = true;
  return info;
}

std::unique_ptr<Selector> make(const Parameters& parameters) { return selecting::task_first(parameters, score); }

}  // namespace wisecrowd::predictive_entropy_selector
