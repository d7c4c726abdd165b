#include "evaluate/scores.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Probabilities this near to the top one are tied with it.
constexpr double kTieTolerance = 1e-9;

}  // namespace

void score_task(const ScoreLayout& layout, const Predictions& predictions, std::size_t task,
                std::vector<ScoreTerm>& terms) {
  const auto add = [&](std::size_t slot, double value) { terms.push_back({static_cast<std::uint32_t>(slot), value}); };
  const std::size_t classes = layout.classes();
  const std::size_t gold = index(predictions.gold[task]);
  double credit = 0;
  double top = 0;
  if (!predictions.posterior.empty()) {
    const auto row = predictions.posterior.subspan(task * classes, classes);
    top = *std::max_element(row.begin(), row.end());
    double brier = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      const double miss = row[k] - (k == gold ? 1 : 0);
      brier += miss * miss;
    }
    add(ScoreLayout::kLogLoss, -math::log(std::max(row[gold], kProbabilityFloor)));
    add(ScoreLayout::kBrier, brier);
    if (predictions.fractional) {
      double tied = 0;
      for (const double p : row) tied += p >= top - kTieTolerance ? 1 : 0;
      for (std::size_t k = 0; k < classes; ++k) {
        if (row[k] < top - kTieTolerance) continue;
        add(layout.of_class(k) + 1, 1 / tied);
        if (k == gold) credit = 1 / tied;
      }
    }
  }
  if (!predictions.fractional) {
    const std::size_t label = index(predictions.predicted[task]);
    credit = label == gold ? 1 : 0;
    add(layout.of_class(label) + 1, 1);
  }
  add(ScoreLayout::kTasks, 1);
  if (credit > 0) {
    add(ScoreLayout::kCredit, credit);
    add(layout.of_class(gold), credit);
  }
  add(layout.of_class(gold) + 2, 1);
  if (!predictions.posterior.empty()) {
    // Bin b holds (b/B, (b+1)/B].
    const auto bins = static_cast<double>(layout.bins());
    const auto b = static_cast<std::size_t>(std::clamp(std::ceil(top * bins) - 1, 0.0, bins - 1));
    add(layout.bin(b), 1);
    add(layout.bin(b) + 1, credit);
    add(layout.bin(b) + 2, top);
  }
}

Measures measures_of(const ScoreLayout& layout, std::span<const double> sums) {
  Measures measures;
  const double tasks = sums[ScoreLayout::kTasks];
  measures.accuracy = sums[ScoreLayout::kCredit] / tasks;
  measures.log_loss = sums[ScoreLayout::kLogLoss] / tasks;
  measures.brier = sums[ScoreLayout::kBrier] / tasks;
  for (std::size_t b = 0; b < layout.bins(); ++b) {
    measures.ece += std::abs(sums[layout.bin(b) + 1] - sums[layout.bin(b) + 2]) / tasks;
  }
  double occurring = 0;
  for (std::size_t k = 0; k < layout.classes(); ++k) {
    const std::size_t at = layout.of_class(k);
    const double said_or_true = sums[at + 1] + sums[at + 2];
    if (said_or_true <= 0) continue;
    ++occurring;
    measures.macro_f1 += 2 * sums[at] / said_or_true;
  }
  measures.macro_f1 /= occurring;
  return measures;
}

}  // namespace wisecrowd
