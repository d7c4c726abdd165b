#include "select/entropy/entropy.hpp"

#include "base/numeric.hpp"
#include "select/shared/task_first.hpp"

namespace wisecrowd::entropy_selector {

double score(std::span<const double> posterior) { return wisecrowd::entropy(posterior); }

SelectorInfo info() {
  SelectorInfo info;
  info.title = "Entropy";
  info.summary = "Asks the tasks whose truth is most open, by the entropy of their posterior.";
  info.when_to_use = "A good plain choice of tasks; the worker is chosen by the rule that you name.";
  info.reference = "C. E. Shannon, 1948; uncertainty sampling, D. Lewis and W. Gale, 1994";
  info.parameters = selecting::one_sided_parameters("information", 1);
  return info;
}

std::unique_ptr<Selector> make(const Parameters& parameters) { return selecting::task_first(parameters, score); }

}  // namespace wisecrowd::entropy_selector
