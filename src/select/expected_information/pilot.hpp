#pragma once

#include <cstdint>
#include <vector>

#include "wisecrowd/select.hpp"

namespace wisecrowd::expected_information_selector {

/// The first answers of all. One answer per task tells nothing of the workers, because nobody can be compared with
/// anybody; so at first a few tasks are asked several times, to random workers, and the rest waits until it is known
/// whom to believe.
struct Pilot {
  double per_worker = 5;  ///< it has so many answers for each worker who can be had …
  std::size_t depth = 5;  ///< … this many on a task …
  double tasks = 0.1;     ///< … on this share of the tasks at most
  /// Tasks whose likeliest class has at least 1 − delta are left alone, 0: none are. With it a task gets one answer per
  /// batch, since one may be enough.
  double delta = 0;
  double power = 1;  ///< at which posteriors are compared with it
};

/// How many pairs of this batch belong to the pilot, and at most how many each task may get: tasks that have been begun
/// first, then others at random. `rooms` is empty when the pilot is over.
struct PilotPlan {
  std::size_t pairs = 0;
  std::vector<std::uint32_t> rooms;
};
[[nodiscard]] PilotPlan plan_pilot(const CrowdView& crowd, const SelectionRequest& request, const Pilot& pilot,
                                   const RunContext& context);

}  // namespace wisecrowd::expected_information_selector
