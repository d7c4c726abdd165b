#include "select/least_confidence/least_confidence.hpp"

#include <algorithm>

#include "select/shared/task_first.hpp"

namespace wisecrowd::least_confidence_selector {

double score(std::span<const double> posterior) { return 1 - *std::max_element(posterior.begin(), posterior.end()); }

SelectorEntry selector() {
  SelectorInfo info;
  info.title = "Least confidence";
  info.summary = "Asks the tasks whose likeliest class is least likely: those most likely labelled wrong.";
  info.when_to_use = "When the share of wrong labels is what counts.";
  info.reference = "D. Lewis and W. Gale, 1994";
  return SelectorEntry::of<selecting::TaskFirst<score>, selecting::task_first_parameters>(std::move(info));
}

}  // namespace wisecrowd::least_confidence_selector
