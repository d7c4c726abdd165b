#pragma once

#include <cstdint>
#include <vector>

#include "wisecrowd/ids.hpp"

namespace wisecrowd {

/// Workers who do not answer independently: copies of one another, accounts of one person, a team that agrees on its
/// answers, or people who see tasks through the same eyes.
struct DependentGroup {
  std::vector<WorkerId> workers;   ///< in the order of their ids, two at least
  std::uint64_t common_tasks = 0;  ///< tasks that at least two of them answered
  double agreement = 0;            ///< share of pairs of their answers to a task that are alike
  double expected = 0;             ///< the same if they worked apart and were as good as they are
  std::uint64_t answers = 0;       ///< that they gave together
  /// Share of the tasks, of those that the other workers are sure of, where the group says something else with one
  /// voice.
  double contradicts = 0;
  bool acted_on = false;  ///< counted as one voice; else only reported
};

/// Two workers who agree beyond what the truth, their habits and hard tasks explain.
struct DependentPair {
  WorkerId first{}, second{};
  std::uint64_t common = 0;  ///< tasks that both answered
  std::uint64_t agreed = 0;
  double expected = 0;   ///< agreements if they worked apart, hard tasks allowed for
  double copied = 0;     ///< the share of answers that seem copied, beyond what is usual in the crowd
  double evidence = 0;   ///< ln of how much better copying explains them
  bool grouped = false;  ///< belong to one of the groups
};

/// A task where a group says, with one voice, something else than the other workers are sure of.
struct AttackedTask {
  TaskId task{};
  std::uint32_t group = 0;  ///< an index into `groups`
  ClassId said{}, others_say{};
  double probability = 0;  ///< of what the others say
};

/// Which workers of a crowd do not answer independently.
struct Dependence {
  std::vector<DependentGroup> groups;  ///< the largest first
  std::vector<DependentPair> pairs;    ///< the strongest evidence first
  std::vector<AttackedTask> attacked;  ///< if asked for
  /// Three groups or more hold nearly all workers, so nobody is the exception.
  bool everybody_grouped = false;
  /// One label per worker, equal for those who count as one voice; empty if nothing is to be done.
  std::vector<std::uint32_t> voices;

  bool given = false;  ///< the groups were named, not found
  /// The fit at hand does so: each of the groups that are acted on is one voice in it.
  bool counted_once = false;

  [[nodiscard]] bool acts() const noexcept { return !voices.empty(); }
};

}  // namespace wisecrowd
