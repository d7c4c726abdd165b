#include "wisecrowd/comparison.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace wisecrowd {
namespace {

double agreement(std::span<const ClassId> one, std::span<const ClassId> two) {
  if (one.empty()) return ComparedMethod::kUnknown;
  std::size_t same = 0;
  for (std::size_t t = 0; t < one.size(); ++t) same += one[t] == two[t] ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(one.size());
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string words_on_gold(const std::vector<ComparedMethod>& rows) {
  const ComparedMethod& own = rows.front();
  const ComparedMethod* best = &own;
  for (const ComparedMethod& row : rows) {
    if (row.accuracy.value > best->accuracy.value) best = &row;
  }
  if (best == &own) {
    return "On the gold tasks none of the others does better. Differences within the intervals mean little.";
  }
  if (best->accuracy.low > own.accuracy.high) {
    return fmt::format("On the gold tasks {} is clearly better ({} against {}): consider it.", best->method,
                       percent(best->accuracy.value), percent(own.accuracy.value));
  }
  return fmt::format(
      "On the gold tasks {} is right a little more often ({} against {}), but the intervals overlap: that "
      "may be chance.",
      best->method, percent(best->accuracy.value), percent(own.accuracy.value));
}

std::string words_on_agreement(const std::vector<ComparedMethod>& rows) {
  double least = 1;
  std::string whose;
  for (const ComparedMethod& row : rows) {
    if (row.is_this || !(row.agreement < least)) continue;
    least = row.agreement;
    whose = row.method;
  }
  if (whose.empty()) return "All methods give the same labels: the choice between them does not matter here.";
  return fmt::format(
      "There is no gold to say which is right. {} differs most: it gives {} of the tasks another label. {}", whose,
      percent(1 - least),
      least > 0.95 ? "The choice of the method hardly matters here."
                   : "The choice of the method matters here: learn the truth of some tasks on which they "
                     "differ.");
}

}  // namespace

Comparison compare_with(const CategoryResult& result, std::span<const NamedFit> others, const RunContext& context) {
  const bool on_gold = result.record.gold_use == "evaluation" && result.record.gold_tasks > 0 && result.data.has_gold();
  Comparison comparison;
  comparison.by = on_gold ? "gold" : "agreement";
  const auto score = [&](ComparedMethod& row, const CategoryFit& fit) {
    row.agreement = agreement(fit.labels, result.aggregation.labels);
    if (!on_gold) return;
    const Evaluation scored =
        evaluate(fit.labels, fit.posterior, result.data.gold, fit.class_count, {.tie_rule = fit.tie_rule}, context);
    row.accuracy = scored.accuracy;
    if (scored.log_loss) row.log_loss = scored.log_loss->value;
  };
  ComparedMethod& own = comparison.rows.emplace_back();
  own.method = result.record.method;
  own.is_this = true;
  score(own, result.aggregation);
  for (const auto& [stage, seconds] : result.record.timings) {
    if (stage == "fit") own.seconds = seconds;
  }
  for (const NamedFit& other : others) {
    ComparedMethod& row = comparison.rows.emplace_back();
    row.method = other.method;
    if (!other.refusal.empty()) {
      row.note = other.refusal;
      continue;
    }
    row.seconds = other.seconds;
    score(row, other.fit);
  }
  comparison.words = on_gold ? words_on_gold(comparison.rows) : words_on_agreement(comparison.rows);
  return comparison;
}

}  // namespace wisecrowd
