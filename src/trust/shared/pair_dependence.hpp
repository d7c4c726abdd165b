#pragma once

#include <vector>

#include "trust/shared/crowd_sample.hpp"
#include "trust/shared/group_model.hpp"

namespace wisecrowd::trust {

/// How much more two workers agree than the truth explains. One entry for each of the pairs.
struct PairDependence {
  std::vector<double> expected, variance;  ///< of the number of agreements, if the two work apart
  std::vector<double> excess;              ///< (agreed − expected) / (common − expected): 1 if they always agree
  std::vector<double> usual;               ///< the excess that either of them has with others: hard tasks make it
  /// ln of how much better copying at the best rate explains the answers than at the usual one; 0 for pairs that are
  /// not looked at closely.
  std::vector<double> evidence;

  [[nodiscard]] double beyond_usual(std::size_t pair) const { return excess[pair] - usual[pair]; }
};

/// A pair is suspected from these on, all three (evidence: see `evidence_needed`).
inline constexpr double kLeastExcess = 0.15, kLeastCommon = 10;
/// Pairs with fewer common tasks do not tell how much agreement is usual.
inline constexpr double kLeastForUsual = 5;
/// The logarithm of the number of pairs, because so many are tried, and 5 more: e⁻⁵ false alarms in a crowd.
[[nodiscard]] double evidence_needed(std::size_t workers);

/// Agreement is expected by the posterior without the units of both, and the marginal tables of both.
[[nodiscard]] PairDependence dependence_of(const CrowdSample& sample, const WorkerPairs& pairs, const GroupModel& model,
                                           const RunContext& context);

/// Only how often the pairs would agree if they worked apart: `expected`, `variance` and `excess`.
[[nodiscard]] PairDependence expected_agreement(const CrowdSample& sample, const WorkerPairs& pairs,
                                                const GroupModel& model, const RunContext& context);

}  // namespace wisecrowd::trust
