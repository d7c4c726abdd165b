#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "fairness/gaps/truth.hpp"
#include "fairness/gaps/widest.hpp"
#include "fairness/shared/draws.hpp"
#include "wisecrowd/fairness.hpp"

namespace wisecrowd {
namespace {

using fairness::CountOfUnsure;
using fairness::interval_of;
using fairness::Truth;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// How many tasks of a group did, and did not, what a rate is about; expected where the truth is not known.
struct Outcomes {
  CountOfUnsure yes, no;
};

/// Where a task counts for a measure: adds its outcome.
void count_task(GapMeasure measure, ClassId label, ClassId positive, std::size_t task, const Truth& truth,
                Outcomes& of_group) {
  const bool said = label == positive;
  CountOfUnsure& side = said ? of_group.yes : of_group.no;
  switch (measure) {
    case GapMeasure::demographic_parity: side.add(1); return;
    case GapMeasure::equal_opportunity:
      if (truth.known(task)) side.add(truth.probability(task, positive));
      return;
    case GapMeasure::false_positive_rate:
      if (truth.known(task)) side.add(1 - truth.probability(task, positive));
      return;
    case GapMeasure::accuracy:
      if (!truth.known(task)) return;
      of_group.yes.add(truth.probability(task, label));
      of_group.no.add(1 - truth.probability(task, label));
      return;
    case GapMeasure::equalised_odds: return;  // made of two others
  }
}

/// The bootstrap over the tasks of a group: with weights drawn from an exponential distribution (Rubin) the share of
/// those that did is Beta(yes, no), here with Jeffreys' half a task each, without which a group of one task would be
/// sure of itself.
double draw_rate(GapMeasure measure, const Outcomes& of, Rng& rng) {
  double yes = of.yes.draw(rng);
  double no = of.no.draw(rng);
  if (measure == GapMeasure::accuracy) no = std::round(of.yes.expected() + of.no.expected()) - yes;  // one truth each
  return rng.beta(yes + 0.5, std::max(no, 0.0) + 0.5);
}

Gap gap_of(GapMeasure measure, ClassId positive, const std::vector<Outcomes>& outcomes, std::span<const char> compared,
           std::size_t draws, Rng rng) {
  Gap gap;
  gap.measure = measure;
  gap.positive = positive;
  std::vector<std::vector<double>> drawn(outcomes.size());
  for (std::size_t g = 0; g < outcomes.size(); ++g) {
    const double yes = outcomes[g].yes.expected();
    const double all = yes + outcomes[g].no.expected();
    gap.tasks.push_back(static_cast<std::uint64_t>(std::llround(all)));
    // Less than half a task is none: its rate would be made of rounding.
    if (all < 0.5) {
      gap.rates.push_back({kNaN, kNaN, kNaN});
      continue;
    }
    Rng stream = rng.fork("group", g);
    drawn[g].resize(draws);
    for (double& rate : drawn[g]) rate = draw_rate(measure, outcomes[g], stream);
    std::vector<double> copy = drawn[g];
    gap.rates.push_back(interval_of(std::min(yes / all, 1.0), copy, 0.95));
  }
  fairness::find_widest(gap, compared, [&](std::size_t high, std::size_t low, double level) {
    std::vector<double> difference(draws);
    for (std::size_t d = 0; d < draws; ++d) difference[d] = drawn[high][d] - drawn[low][d];
    return interval_of(gap.rates[high].value - gap.rates[low].value, difference, level);
  });
  return gap;
}

}  // namespace

std::vector<Gap> measure_gaps(const LabelledTasks& tasks, const TaskGroups& groups, ClassId positive,
                              const RunContext& context, std::size_t draws) {
  validate(groups, tasks.labels.size());
  const Truth truth(tasks, groups);
  std::vector<Gap> gaps;
  for (const auto& [measure, name] : kGapMeasureNames) {
    if (measure == GapMeasure::equalised_odds) {
      gaps.push_back(fairness::equalised_odds(gaps[1], gaps[2]));
      continue;
    }
    std::vector<Outcomes> outcomes(groups.count());
    for (std::size_t t = 0; t < tasks.labels.size(); ++t) {
      const GroupId group = groups.of_task[t];
      if (group == kNoGroup || tasks.labels[t] == kNoClass) continue;
      count_task(measure, tasks.labels[t], positive, t, truth, outcomes[index(group)]);
    }
    gaps.push_back(gap_of(measure, positive, outcomes, tasks.compared, draws, context.rng(name, index(positive))));
    gaps.back().by_gold = truth.by_gold() && measure != GapMeasure::demographic_parity;
  }
  return gaps;
}

}  // namespace wisecrowd
