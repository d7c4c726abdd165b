#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/intervals.hpp"
#include "data/item_graph.hpp"
#include "wisecrowd/evaluate_comparisons.hpp"

namespace wisecrowd {
namespace {

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

Distribution spread_of(std::vector<double> values) {
  if (values.empty()) return {kNoFigure, kNoFigure, kNoFigure, kNoFigure, kNoFigure, kNoFigure};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto rank = static_cast<std::size_t>(place);
    return values[rank] +
           (place - static_cast<double>(rank)) * (values[std::min(rank + 1, values.size() - 1)] - values[rank]);
  };
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  return {values.front(), at(0.25), at(0.5), mean, at(0.75), values.back()};
}

void describe_agreement(const ComparisonAnswers& answers, ComparisonDescription& description) {
  double agreeing = 0, pairs = 0, observed = 0, counted = 0;
  std::array<double, 3> all{};
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    std::array<double, 3> own{};
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      own[static_cast<std::size_t>(ComparisonAnswers::outcome_of(answers.codes()[a]))] += 1;
    }
    const double n = own[0] + own[1] + own[2];
    if (n < 2) continue;
    double same = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      same += own[k] * (own[k] - 1);
      all[k] += own[k];
    }
    agreeing += same;
    pairs += n * (n - 1);
    observed += (n * (n - 1) - same) / (n - 1);
    counted += n;
  }
  description.agreement = pairs > 0 ? agreeing / pairs : kNoFigure;
  // Which item of a pair is called its first says nothing, so both sides are as likely.
  const double side = (all[0] + all[1]) / 2;
  const double chance = counted > 1 ? (counted * counted - 2 * side * side - all[2] * all[2]) / (counted - 1) : 0;
  description.alpha = chance > 0 ? 1 - observed / chance : kNoFigure;
}

}  // namespace

ComparisonDescription describe(const ComparisonAnswers& answers) {
  ComparisonDescription description;
  static_cast<GraphDescription&>(description) = describe_graph(answers);
  description.items = answers.item_count();
  std::vector<double> per_item(answers.item_count(), 0);
  double left = 0, decisive = 0, ties = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const ItemPair pair = answers.pairs()[t];
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      per_item[index(pair.first)] += 1;
      per_item[index(pair.second)] += 1;
      const Outcome outcome = ComparisonAnswers::outcome_of(answers.codes()[a]);
      const bool swapped = ComparisonAnswers::swapped(answers.codes()[a]);
      ties += outcome == Outcome::tie ? 1 : 0;
      if (outcome == Outcome::tie) continue;
      decisive += 1;
      left += (outcome == Outcome::left) != swapped ? 1 : 0;
    }
  }
  description.comparisons_per_item = spread_of(std::move(per_item));
  const auto count = static_cast<double>(answers.answer_count());
  description.tie_share = count > 0 ? ties / count : kNoFigure;
  description.left_share = {kNoFigure, kNoFigure, kNoFigure};
  if (decisive > 0 && answers.sides_known()) {
    const Interval interval = wilson_interval(left, decisive);
    description.left_share = {left / decisive, interval.low, interval.high};
  }
  describe_agreement(answers, description);
  const RunContext alone({.threads = 1});
  const comparisons::ItemGraph graph(answers.pairs(), answers.item_count());
  const auto found = comparisons::connectivity(graph, comparisons::count_wins({.answers = answers}, alone));
  description.item_groups = found.components;
  description.strong_groups = found.strong;
  const auto warn = [&](const char* code, std::string message, const char* remedy, Severity severity) {
    description.warnings.push_back({code, std::move(message), remedy, severity});
  };
  if (description.answers == 0) {
    warn("no_answers", "there are no answers, so nothing can be learned.", "Check that the file is the right one.",
         Severity::serious);
  } else if (ties == count) {
    warn("constant_answers", "every answer is a tie, so nothing tells the items apart.",
         "Check that the right column is read.", Severity::serious);
  }
  const Estimate& share = description.left_share;
  if (decisive >= 100 && (share.low > 0.55 || share.high < 0.45)) {
    warn("side_bias",
         fmt::format("of the answers that name an item, {:.0f} % name the {} one.",
                     100 * std::max(share.value, 1 - share.value), share.value > 0.5 ? "left" : "right"),
         "If sides were drawn at random, workers prefer one; noisy_bradley_terry allows for that.", Severity::note);
  }
  return description;
}

}  // namespace wisecrowd
