#include "fairness/gaps/widest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wisecrowd::fairness {

void find_widest(Gap& gap, std::span<const char> compared, const DifferenceInterval& difference) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  gap.gap = {kNaN, kNaN, kNaN};
  std::vector<std::size_t> with_rate;
  for (std::size_t g = 0; g < gap.rates.size(); ++g) {
    if (!std::isnan(gap.rates[g].value) && (compared.empty() || compared[g] != 0)) with_rate.push_back(g);
  }
  if (with_rate.size() < 2) return;
  const auto by_rate = [&](std::size_t a, std::size_t b) { return gap.rates[a].value < gap.rates[b].value; };
  const std::size_t low = *std::min_element(with_rate.begin(), with_rate.end(), by_rate);
  // Of equal rates another group than the lowest, so that there are two to name.
  std::size_t high = with_rate[with_rate[0] == low ? 1 : 0];
  for (const std::size_t g : with_rate) {
    if (g != low && by_rate(high, g)) high = g;
  }
  const auto groups = static_cast<double>(with_rate.size());
  const double pairs = groups * (groups - 1) / 2;
  gap.highest = GroupId(high);
  gap.lowest = GroupId(low);
  gap.gap = difference(high, low, 1 - 0.05 / pairs);
  // A gap has no sign: below 0 the groups change places, and it may be as wide on that side.
  if (gap.gap.low < 0) gap.gap.high = std::max(gap.gap.high, -gap.gap.low);
  gap.gap.low = std::max(gap.gap.low, 0.0);
  gap.gap.high = std::min(gap.gap.high, 1.0);
}

Gap equalised_odds(const Gap& true_positive, const Gap& false_positive) {
  const auto larger = [](double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b); };
  const bool by_true = !(false_positive.gap.value > true_positive.gap.value) && !std::isnan(true_positive.gap.value);
  Gap gap = by_true ? true_positive : false_positive;
  gap.measure = GapMeasure::equalised_odds;
  gap.gap.low = larger(true_positive.gap.low, false_positive.gap.low);
  gap.gap.high = larger(true_positive.gap.high, false_positive.gap.high);
  gap.rates.clear();
  gap.tasks.clear();
  return gap;
}

}  // namespace wisecrowd::fairness
