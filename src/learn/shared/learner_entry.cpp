#include "learn/shared/learner_entry.hpp"

namespace wisecrowd {

std::vector<std::string> aggregator_names() {
  std::vector<std::string> names;
  for (const MethodInfo& method : aggregation_methods()) names.push_back(method.name);
  return names;
}

}  // namespace wisecrowd
