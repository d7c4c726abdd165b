#pragma once

#include <functional>
#include <span>

#include "wisecrowd/fairness.hpp"

namespace wisecrowd::fairness {

/// The interval of the difference between two groups, at a level.
using DifferenceInterval = std::function<Estimate(std::size_t high, std::size_t low, double level)>;

/// Sets gap, highest and lowest from the rates of the groups that are compared (all of them when that is empty). The
/// pair was chosen among many, so its interval is wider than 95 % for more than two groups (Bonferroni over the pairs).
void find_widest(Gap& gap, std::span<const char> compared, const DifferenceInterval& difference);

/// The larger of the gaps of true and false positives; its interval reaches from the larger lower to the larger upper
/// end.
[[nodiscard]] Gap equalised_odds(const Gap& true_positive, const Gap& false_positive);

}  // namespace wisecrowd::fairness
