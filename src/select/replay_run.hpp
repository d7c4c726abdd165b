#pragma once

#include <vector>

#include "wisecrowd/replay.hpp"

namespace wisecrowd::selecting {

/// What one run of one policy has reached, point by point.
struct RunTrace {
  std::vector<double> answers, cost, accuracy;
  bool stopped = false;   ///< it stopped asking by its own rule
  bool finished = false;  ///< false: cancelled
};

/// Share of right labels where the truth is known; classes that tie share the credit.
[[nodiscard]] double accuracy_of(std::span<const double> posterior, std::span<const ClassId> truth,
                                 std::size_t classes);

/// One run from nothing to `most_answers`. `seed` counts the repetition: chance that is not the policy's own (answers
/// of a simulated world, the first random answers) is the same for all policies.
[[nodiscard]] RunTrace run_policy(const ReplayWorld& world, const Policy& policy, const ReplayOptions& options,
                                  std::size_t round_size, std::size_t most_answers, const Refit& refit,
                                  const RunContext& context);

}  // namespace wisecrowd::selecting
