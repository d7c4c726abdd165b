#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/fairness.hpp"

// A gap of at most ε over all groups means that all rates lie in one window of that width. For a given window each
// group is on its own, and its error is a convex function of its rate (tasks are taken in the order of what they cost),
// so the best rate is the unconstrained one moved into the window. What is left is to find the window's place.

namespace wisecrowd {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kRounding = 1e-9;

/// The tasks of one group in the order in which they become positive, and what the rate and the error are when the
/// first n of them are.
struct Ladder {
  std::vector<std::uint32_t> tasks;
  std::vector<double> rate;   // of n = 0 … tasks
  std::vector<double> error;  // expected wrong labels
  std::size_t best = 0;       // n of the labels that were given
  double widest_step = 0;     // of the rate, by one task
};

/// What is known of a task as far as one class is concerned.
struct Candidate {
  std::uint32_t task = 0;
  double weight = 1;  // what it adds to the rate, up to a factor
  double cost = 0;    // how much more wrong it is when positive
  double wrong_if_negative = 0;
  bool positive = false;  // as it is labelled
  std::uint64_t order = 0;
};

/// The class to be given instead of the positive one, and its probability.
std::pair<ClassId, double> best_other(std::span<const double> row, ClassId positive) {
  std::size_t best = index(positive) == 0 ? 1 : 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (k != index(positive) && row[k] > row[best]) best = k;
  }
  return {ClassId(best), row[best]};
}

Ladder ladder_of(std::vector<Candidate> candidates) {
  // The cheapest per unit of rate first. Those that are labelled positive stay before equals that are not; other equals
  // come in random order, because nothing else tells them apart.
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    const double left = a.cost * b.weight;
    const double right = b.cost * a.weight;
    if (left != right) return left < right;
    if (a.positive != b.positive) return a.positive;
    return a.order < b.order;
  });
  Ladder ladder;
  double weight = 0, wrong = 0;
  for (const Candidate& c : candidates) wrong += c.wrong_if_negative;
  ladder.rate.push_back(0);
  ladder.error.push_back(wrong);
  for (const Candidate& c : candidates) {
    weight += c.weight;
    wrong += c.cost;
    ladder.tasks.push_back(c.task);
    ladder.rate.push_back(weight);
    ladder.error.push_back(wrong);
    ladder.best += c.positive ? 1 : 0;
  }
  for (std::size_t n = 0; n < ladder.rate.size() && weight > 0; ++n) {
    ladder.rate[n] /= weight;
    if (n > 0) ladder.widest_step = std::max(ladder.widest_step, ladder.rate[n] - ladder.rate[n - 1]);
  }
  return ladder;
}

std::vector<Ladder> ladders_of(const CategoryFit& fit, const TaskGroups& groups, const GapLimit& limit, Rng rng) {
  std::vector<std::vector<Candidate>> candidates(groups.count());
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const std::uint64_t order = rng.next();
    if (groups.of_task[t] == kNoGroup || fit.labels[t] == kNoClass) continue;
    const auto row = fit.posterior_of(TaskId(t));
    const double q = row[index(limit.positive)];
    const double other = best_other(row, limit.positive).second;
    // A trace for tasks that cannot be positive keeps them in order, at the end.
    const double weight = limit.measure == GapMeasure::equal_opportunity ? std::max(q, 1e-12) : 1;
    candidates[index(groups.of_task[t])].push_back(
        {static_cast<std::uint32_t>(t), weight, other - q, 1 - other, fit.labels[t] == limit.positive, order});
  }
  std::vector<Ladder> ladders;
  for (auto& of_group : candidates) {
    double weight = 0;
    for (const Candidate& c : of_group) weight += c.weight;
    if (weight < 0.5) of_group.clear();  // not one positive task is expected, so there is no rate to keep
    ladders.push_back(ladder_of(std::move(of_group)));
  }
  return ladders;
}

/// The steps of a ladder within a window: [first, last).
struct Within {
  std::size_t first = 0, last = 0;
};

/// Looks for the window's centre. A window is never so narrow that no step of a group's rate is within.
class Search {
 public:
  Search(const std::vector<Ladder>& ladders, const GapLimit& limit) : ladders_(ladders), limit_(limit) {}

  /// How many of the group's tasks are positive.
  [[nodiscard]] std::size_t steps(const Ladder& ladder, double centre) const {
    return steps(ladder, centre, within(ladder, centre));
  }
  [[nodiscard]] double rate(const Ladder& ladder, double centre) const {
    const double half = half_width(ladder);
    return std::clamp(ladder.rate[ladder.best], std::max(0.0, centre - half), std::min(1.0, centre + half));
  }
  /// The centre with the fewest errors; of equals the one nearest to where the rates were.
  [[nodiscard]] double best_centre() const {
    double low = 1, high = 0;
    for (const Ladder& ladder : ladders_) {
      if (ladder.tasks.empty()) continue;
      low = std::min(low, ladder.rate[ladder.best]);
      high = std::max(high, ladder.rate[ladder.best]);
    }
    const double middle = (low + high) / 2;
    double best = middle;
    double fewest = std::numeric_limits<double>::infinity();
    std::vector<Within> places(ladders_.size());
    for (const double centre : centres(middle)) {  // rising, so that places only move on
      double wrong = 0;
      for (std::size_t g = 0; g < ladders_.size(); ++g) {
        const Ladder& ladder = ladders_[g];
        if (ladder.tasks.empty()) continue;
        const double half = half_width(ladder) + kRounding;
        Within& place = places[g];
        while (place.first < ladder.rate.size() && ladder.rate[place.first] < centre - half) ++place.first;
        while (place.last < ladder.rate.size() && ladder.rate[place.last] <= centre + half) ++place.last;
        wrong += limit_.randomise ? error_drawn(ladder, centre, place) : ladder.error[steps(ladder, centre, place)];
      }
      const bool nearer = std::abs(centre - middle) < std::abs(best - middle);
      if (wrong < fewest - kRounding || (wrong < fewest + kRounding && nearer)) {
        fewest = std::min(wrong, fewest);
        best = centre;
      }
    }
    return best;
  }

 private:
  [[nodiscard]] double half_width(const Ladder& ladder) const {
    return (limit_.randomise ? limit_.limit : std::max(limit_.limit, ladder.widest_step)) / 2;
  }
  [[nodiscard]] Within within(const Ladder& ladder, double centre) const {
    const double half = half_width(ladder) + kRounding;
    const auto begin = ladder.rate.begin();
    return {static_cast<std::size_t>(std::lower_bound(begin, ladder.rate.end(), centre - half) - begin),
            static_cast<std::size_t>(std::upper_bound(begin, ladder.rate.end(), centre + half) - begin)};
  }
  [[nodiscard]] static std::size_t steps(const Ladder& ladder, double centre, const Within& place) {
    if (place.first < place.last) return std::clamp(ladder.best, place.first, place.last - 1);
    // By rounding alone: the step before or behind the window, whichever is nearer.
    if (place.first == 0) return 0;
    if (place.first == ladder.rate.size()) return ladder.rate.size() - 1;
    const bool before = centre - ladder.rate[place.first - 1] < ladder.rate[place.first] - centre;
    return before ? place.first - 1 : place.first;
  }
  /// The error when the task on the boundary is drawn so that the rate is just within the window.
  [[nodiscard]] double error_drawn(const Ladder& ladder, double centre, const Within& place) const {
    const double at = rate(ladder, centre);
    if (at == ladder.rate[ladder.best]) return ladder.error[ladder.best];
    const std::size_t above = at > ladder.rate[ladder.best] ? place.first : place.last;
    if (above == 0) return ladder.error.front();
    if (above >= ladder.rate.size()) return ladder.error.back();
    const double step = ladder.rate[above] - ladder.rate[above - 1];
    const double part = step > 0 ? std::clamp((at - ladder.rate[above - 1]) / step, 0.0, 1.0) : 1;
    return ladder.error[above - 1] + part * (ladder.error[above] - ladder.error[above - 1]);
  }
  /// Where some group's best rate begins or ceases to follow the window, in order.
  [[nodiscard]] std::vector<double> centres(double middle) const {
    std::vector<double> all = {middle};
    for (const Ladder& ladder : ladders_) {
      if (ladder.tasks.empty()) continue;
      for (const double at : ladder.rate) {
        all.push_back(at - half_width(ladder));
        all.push_back(at + half_width(ladder));
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  const std::vector<Ladder>& ladders_;
  const GapLimit& limit_;
};

/// Rates of the given labels per group, and the widest gap between them.
double gap_of_steps(const std::vector<Ladder>& ladders, const std::vector<std::size_t>& steps,
                    std::vector<double>& rates) {
  double low = 1, high = 0;
  rates.assign(ladders.size(), kNaN);
  for (std::size_t g = 0; g < ladders.size(); ++g) {
    if (ladders[g].tasks.empty()) continue;
    rates[g] = ladders[g].rate[steps[g]];
    low = std::min(low, rates[g]);
    high = std::max(high, rates[g]);
  }
  return std::max(0.0, high - low);
}

void check(const CategoryFit& fit, const TaskGroups& groups, const GapLimit& limit) {
  validate(groups, fit.task_count);
  if (limit.measure != GapMeasure::demographic_parity && limit.measure != GapMeasure::equal_opportunity) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("labels cannot be made to keep a gap of {}: choose demographic_parity or equal_opportunity",
                            to_string(limit.measure)));
  }
  if (!(limit.limit >= 0 && limit.limit <= 1)) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("a gap cannot be limited to {}: give a number from 0 to 1", limit.limit));
  }
  if (index(limit.positive) >= fit.class_count || fit.class_count < 2) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("class {} of {} cannot be the positive one", index(limit.positive), fit.class_count));
  }
}

}  // namespace

LimitedLabels limit_gap(const CategoryFit& fit, const TaskGroups& groups, const GapLimit& limit,
                        const RunContext& context) {
  check(fit, groups, limit);
  const auto ladders = ladders_of(fit, groups, limit, context.rng("fairness order of equals"));
  const Search search(ladders, limit);
  LimitedLabels limited;
  limited.labels = fit.labels;
  std::size_t tasks = 0;
  std::vector<std::size_t> before(ladders.size(), 0), after(ladders.size(), 0);
  for (std::size_t g = 0; g < ladders.size(); ++g) {
    tasks += ladders[g].tasks.size();
    before[g] = ladders[g].best;
  }
  if (tasks == 0) return limited;
  limited.gap_before = gap_of_steps(ladders, before, limited.rates);
  const double centre = limited.gap_before <= limit.limit ? kNaN : search.best_centre();
  Rng rng = context.rng("fairness boundary");
  double wrong_before = 0, wrong_after = 0;
  for (std::size_t g = 0; g < ladders.size(); ++g) {
    const Ladder& ladder = ladders[g];
    if (ladder.tasks.empty()) continue;
    after[g] = ladder.best;
    if (!std::isnan(centre)) {
      after[g] = search.steps(ladder, centre);
      if (limit.randomise) {
        const double rate = search.rate(ladder, centre);
        const auto above = std::lower_bound(ladder.rate.begin(), ladder.rate.end(), rate - kRounding);
        after[g] = static_cast<std::size_t>(above - ladder.rate.begin());
        const double step = after[g] == 0 ? 0 : ladder.rate[after[g]] - ladder.rate[after[g] - 1];
        if (step > 0 && rng.uniform() * step > rate - ladder.rate[after[g] - 1]) --after[g];
      } else if (ladder.widest_step > limit.limit) {
        limited.coarse.push_back(GroupId(g));
      }
    }
    wrong_before += ladder.error[ladder.best];
    wrong_after += ladder.error[after[g]];
    for (std::size_t n = 0; n < ladder.tasks.size(); ++n) {
      const std::uint32_t task = ladder.tasks[n];
      const bool positive = fit.labels[task] == limit.positive;
      if (positive == (n < after[g])) continue;
      limited.labels[task] =
          n < after[g] ? limit.positive : best_other(fit.posterior_of(TaskId(task)), limit.positive).first;
      ++limited.changed;
    }
  }
  limited.gap = gap_of_steps(ladders, after, limited.rates);
  limited.expected_error_before = wrong_before / static_cast<double>(tasks);
  limited.expected_error = wrong_after / static_cast<double>(tasks);
  return limited;
}

}  // namespace wisecrowd
