#include "select/entropy/entropy.hpp"

#include "base/numeric.hpp"
#include "select/shared/task_first.hpp"

namespace wisecrowd::entropy_selector {

double score(std::span<const double> posterior) { return wisecrowd::entropy(posterior); }

SelectorEntry selector() {
  SelectorInfo info;
  info.title = "Entropy";
  info.summary = "Asks the tasks whose truth is most open, by the entropy of their posterior.";
  info.when_to_use = "A good plain choice of tasks; the worker is chosen by the rule that you name.";
  info.reference = "C. E. Shannon, 1948; uncertainty sampling, D. Lewis and W. Gale, 1994";
  return SelectorEntry::of<selecting::TaskFirst<score>, selecting::task_first_parameters>(std::move(info));
}

}  // namespace wisecrowd::entropy_selector
