#include "select/bald/bald.hpp"

#include <algorithm>

#include "base/numeric.hpp"
#include "select/shared/task_first.hpp"

namespace wisecrowd::bald_selector {

double score(const CrowdView& crowd, TaskId task) {
  double within = 0;
  for (std::size_t pass = 0; pass < crowd.pass_count; ++pass) {
    within += entropy(selecting::pass_of(crowd, pass, task)) / static_cast<double>(crowd.pass_count);
  }
  return std::max(entropy(selecting::mean_pass(crowd, task)) - within, 0.0);
}

SelectorEntry selector() {
  SelectorInfo info;
  info.title = "BALD";
  info.summary =
      "Asks the tasks on which passes of a network with dropout disagree: what the network itself does not know yet.";
  info.when_to_use =
      "With features and noisy labels: tasks that are ambiguous by nature do not attract answers for ever.";
  info.reference =
      "N. Houlsby, F. Huszár, Z. Ghahramani and M. Lengyel, 2011; Y. Gal, R. Islam and Z. Ghahramani, 2017";
  info.needs_passes = true;
  return SelectorEntry::of<selecting::TaskFirst<score>, selecting::task_first_parameters>(std::move(info));
}

}  // namespace wisecrowd::bald_selector
