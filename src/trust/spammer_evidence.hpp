#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/run_context.hpp"

namespace wisecrowd::trust {

/// How the workers of a crowd divide into those who look at the tasks and those who do not.
struct SpammerEvidence {
  std::vector<double> spammer;  ///< per worker: the probability that its answers do not depend on the truth
  double accuracy = 0;          ///< mean of the others
  double concentration = 0;     ///< of the Beta distribution that their accuracies follow
};

/// `counts` are workers × truth × label: how often each worker said what, with what is known of the truth without it.
[[nodiscard]] SpammerEvidence spammer_evidence(std::span<const double> counts, std::size_t classes,
                                               const RunContext& context);

}  // namespace wisecrowd::trust
