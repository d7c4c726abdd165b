#pragma once

#include <optional>
#include <vector>

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// Two workers who agree far more often than two independent ones of their skill would.
struct CopiedPair {
  std::uint32_t first, second;
  double common;     ///< tasks that both answered
  double agreement;  ///< share of those on which they agree
  double expected;   ///< what it would be if they were independent given the truth, as all pairs of this crowd are
  double z;          ///< the excess in standard deviations
};

/// Pairs that look copied, the most suspicious first. No fit is asked: copies deceive it. For every pair with at least
/// twenty tasks in common, the agreements are set against what the votes of all others on those tasks, and each
/// worker's habits when the votes without it say k, let expect. Votes are an imperfect truth, which raises the
/// agreement of all pairs alike; so the median excess of the crowd is taken off first. A pair is reported beyond √(2 ln
/// pairs) + 3 deviations and when it agrees on nine tenths of its tasks. With very many pairs of answers a random
/// sample of tasks is looked at.
[[nodiscard]] std::vector<CopiedPair> copied_workers(const Dataset& data, const RunContext& context);

/// The warning that tells of them, with the names of the first pair; nothing if there is none.
[[nodiscard]] std::optional<Warning> copied_workers_warning(const Dataset& data, const std::vector<CopiedPair>& pairs);

}  // namespace wisecrowd
