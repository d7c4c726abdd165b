#include <algorithm>
#include <cmath>
#include <limits>

#include "base/intervals.hpp"
#include "fairness/gaps/truth.hpp"
#include "fairness/gaps/widest.hpp"
#include "wisecrowd/fairness.hpp"

// Gaps of single answers. Answers to one task are alike, so tasks are what varies: a rate is a ratio of sums over
// tasks, and its variance is that of the ratio's linearisation, which is what a bootstrap over tasks would tend to.

namespace wisecrowd {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Sums over the tasks of a group: y of the answers that a rate is about did, x were about it.
struct RatioSums {
  double y = 0, x = 0, yy = 0, xy = 0, xx = 0;
  double tasks = 0;
  void add(double did, double about) {
    if (about <= 0) return;
    y += did;
    x += about;
    yy += did * did;
    xy += did * about;
    xx += about * about;
    ++tasks;
  }
  [[nodiscard]] double rate() const { return y / x; }
  [[nodiscard]] double variance() const {
    const double r = rate();
    const double squares = std::max(0.0, yy - 2 * r * xy + r * r * xx);
    return tasks < 2 ? kNaN : squares / (x * x) * tasks / (tasks - 1);
  }
};

Estimate around(double value, double variance, double degrees, double level) {
  // Student's quantile is for 95 %; the normal ones say how much wider another level is.
  const double half = student_quantile(degrees) * normal_half_width(level) / kNormal95 * std::sqrt(variance);
  return {value, value - half, value + half};
}

Gap gap_of_sums(GapMeasure measure, ClassId positive, const std::vector<RatioSums>& sums,
                std::span<const char> compared) {
  Gap gap;
  gap.measure = measure;
  gap.positive = positive;
  for (const RatioSums& of_group : sums) {
    gap.tasks.push_back(static_cast<std::uint64_t>(of_group.tasks));
    if (of_group.x < 0.5) {
      gap.rates.push_back({kNaN, kNaN, kNaN});
      continue;
    }
    Estimate rate = around(of_group.rate(), of_group.variance(), of_group.tasks - 1, 0.95);
    rate.low = std::isnan(rate.low) ? 0 : std::max(rate.low, 0.0);
    rate.high = std::isnan(rate.high) ? 1 : std::min(rate.high, 1.0);
    gap.rates.push_back(rate);
  }
  fairness::find_widest(gap, compared, [&](std::size_t high, std::size_t low, double level) {
    Estimate found = around(sums[high].rate() - sums[low].rate(), sums[high].variance() + sums[low].variance(),
                            std::min(sums[high].tasks, sums[low].tasks) - 1, level);
    if (std::isnan(found.low)) found = {found.value, 0, 1};  // one task tells nothing of how tasks vary
    return found;
  });
  return gap;
}

}  // namespace

std::vector<Gap> measure_answer_gaps(const CategoryAnswers& answers, const LabelledTasks& tasks,
                                     const TaskGroups& groups, ClassId positive) {
  validate(groups, answers.task_count());
  const fairness::Truth truth(tasks, groups);
  std::vector<RatioSums> parity(groups.count()), opportunity = parity, false_positive = parity, accuracy = parity;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto said = answers.labels_of(TaskId(t));
    if (groups.of_task[t] == kNoGroup || said.empty()) continue;
    const std::size_t g = index(groups.of_task[t]);
    const auto all = static_cast<double>(said.size());
    const auto yes = static_cast<double>(std::count(said.begin(), said.end(), positive));
    parity[g].add(yes, all);
    if (!truth.known(t)) continue;
    const double q = truth.probability(t, positive);
    opportunity[g].add(q * yes, q * all);
    false_positive[g].add((1 - q) * yes, (1 - q) * all);
    double right = 0;
    for (const ClassId label : said) right += truth.probability(t, label);
    accuracy[g].add(right, all);
  }
  std::vector<Gap> gaps;
  gaps.push_back(gap_of_sums(GapMeasure::demographic_parity, positive, parity, tasks.compared));
  gaps.push_back(gap_of_sums(GapMeasure::equal_opportunity, positive, opportunity, tasks.compared));
  gaps.push_back(gap_of_sums(GapMeasure::false_positive_rate, positive, false_positive, tasks.compared));
  gaps.push_back(fairness::equalised_odds(gaps[1], gaps[2]));
  gaps.push_back(gap_of_sums(GapMeasure::accuracy, positive, accuracy, tasks.compared));
  for (Gap& gap : gaps) gap.by_gold = truth.by_gold() && gap.measure != GapMeasure::demographic_parity;
  return gaps;
}

}  // namespace wisecrowd
