#include "select/margin/margin.hpp"

#include <utility>

#include "select/shared/task_first.hpp"

namespace wisecrowd::margin_selector {

double score(std::span<const double> posterior) {
  double first = 0, second = 0;
  for (const double p : posterior) {
    if (p > first) {
      second = std::exchange(first, p);
    } else if (p > second) {
      second = p;
    }
  }
  return 1 - (first - second);
}

SelectorInfo info() {
  SelectorInfo info;
  info.title = "Margin";
  info.summary = "Asks the tasks whose two likeliest classes are closest.";
  info.when_to_use = "Many classes, of which only the first two compete: unlike entropy it does not mind a long tail.";
  info.reference = "T. Scheffer, C. Decomain and S. Wrobel, 2001";
  info.parameters = selecting::one_sided_parameters("information", 1);
  return info;
}

std::unique_ptr<Selector> make(const Parameters& parameters) { return selecting::task_first(parameters, score); }

}  // namespace wisecrowd::margin_selector
