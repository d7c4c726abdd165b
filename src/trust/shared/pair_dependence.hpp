#pragma once

#include <algorithm>
#include <vector>

#include "trust/shared/crowd_sample.hpp"
#include "trust/shared/group_model.hpp"

namespace wisecrowd::trust {

/// How much more two workers agree than the truth explains. There may be millions of pairs, so only what cannot be
/// computed anew is kept for each of them.
struct PairDependence {
  std::vector<double> expected, variance;  ///< of the number of agreements, if the two work apart; one for each pair
  std::vector<double> usual_of;            ///< by worker: the usual excess with others
  /// Of the pairs that were looked at closely, by rising pair: ln of how much better copying at the best rate explains
  /// the answers than at the usual one.
  struct Evidence {
    std::size_t pair;
    double value;
  };
  std::vector<Evidence> evidence;

  /// (agreed − expected) / (common − expected): 1 if they always agree.
  [[nodiscard]] double excess(const WorkerPairs& pairs, std::size_t pair) const {
    return (pairs.agreed[pair] - expected[pair]) / std::max(pairs.common[pair] - expected[pair], 1e-9);
  }
  /// The excess that either of them has with others: hard tasks make it.
  [[nodiscard]] double usual(const WorkerPairs& pairs, std::size_t first, std::size_t pair) const {
    return std::max({0.0, usual_of[first], usual_of[pairs.other[pair]]});
  }
  [[nodiscard]] double beyond_usual(const WorkerPairs& pairs, std::size_t first, std::size_t pair) const {
    return excess(pairs, pair) - usual(pairs, first, pair);
  }
};

/// The evidence of pairs that are asked for in rising order; 0 of those that were not looked at closely.
class EvidenceInOrder {
 public:
  explicit EvidenceInOrder(const PairDependence& found) : found_(found) {}
  [[nodiscard]] double of(std::size_t pair) {
    while (next_ < found_.evidence.size() && found_.evidence[next_].pair < pair) ++next_;
    return next_ < found_.evidence.size() && found_.evidence[next_].pair == pair ? found_.evidence[next_].value : 0;
  }

 private:
  const PairDependence& found_;
  std::size_t next_ = 0;
};

/// A pair is suspected from these on, all three (evidence: see `evidence_needed`).
inline constexpr double kLeastExcess = 0.15, kLeastCommon = 10;
/// Pairs with fewer common tasks do not tell how much agreement is usual.
inline constexpr double kLeastForUsual = 5;
/// The logarithm of the number of pairs, because so many are tried, and 5 more: e⁻⁵ false alarms in a crowd.
[[nodiscard]] double evidence_needed(double pairs_tried);

/// Agreement is expected by the posterior without the units of both, and the marginal tables of both.
[[nodiscard]] PairDependence dependence_of(const CrowdSample& sample, const WorkerPairs& pairs, const GroupModel& model,
                                           const RunContext& context);

/// Only how often the pairs would agree if they worked apart: `expected` and `variance`.
[[nodiscard]] PairDependence expected_agreement(const CrowdSample& sample, const WorkerPairs& pairs,
                                                const GroupModel& model, const RunContext& context);

}  // namespace wisecrowd::trust
