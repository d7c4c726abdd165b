#include "select/least_confidence/least_confidence.hpp"

#include <algorithm>

#include "select/shared/task_first.hpp"

namespace wisecrowd::least_confidence_selector {

double score(std::span<const double> posterior) { return 1 - *std::max_element(posterior.begin(), posterior.end()); }

SelectorInfo info() {
  SelectorInfo info;
  info.title = "Least confidence";
  info.summary = "Asks the tasks whose likeliest class is least likely: those most likely labelled wrong.";
  info.when_to_use = "When the share of wrong labels is what counts.";
  info.reference = "D. Lewis and W. Gale, 1994";
  info.parameters = selecting::one_sided_parameters("information", 1);
  return info;
}

std::unique_ptr<Selector> make(const Parameters& parameters) { return selecting::task_first(parameters, score); }

}  // namespace wisecrowd::least_confidence_selector
