#include "result/report_facts.hpp"

#include <algorithm>
#include <limits>

#include "base/intervals.hpp"
#include "base/parallel.hpp"
#include "evaluate/components.hpp"
#include "evaluate/scores.hpp"
#include "result/agreement.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kShownParts = 20;
/// Random numbers that judging may draw: a second or two on one core.
constexpr std::size_t kMostDraws = 10'000'000;
constexpr std::size_t kFewestDrawsPerWorker = 60;

GoldFacts gold_facts(const CategoryResult& result, const Evaluation& evaluation) {
  GoldFacts facts;
  facts.evaluation = evaluation;
  const CategoryFit& fit = result.aggregation;
  const std::size_t classes = fit.class_count;
  const ScoreLayout layout(classes, EvaluateOptions{}.calibration_bins);
  const auto labels = delivered_labels(fit, result.record.abstain_below);
  const Predictions predictions{labels, fit.posterior, result.data.gold, fit.tie_rule == TieRule::fractional};
  std::vector<double> sums(layout.slots(), 0.0);
  std::vector<ScoreTerm> terms;
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (labels[t] == kNoClass || result.data.gold[t] == kNoClass) continue;
    terms.clear();
    score_task(layout, predictions, t, terms);
    for (const ScoreTerm& term : terms) sums[term.slot] += term.value;
  }
  for (std::size_t b = 0; b < layout.bins(); ++b) {
    const double tasks = sums[layout.bin(b)];
    if (tasks <= 0) continue;
    const auto bins = static_cast<double>(layout.bins());
    const double right = sums[layout.bin(b) + 1];
    const Interval interval = wilson_interval(right, tasks);
    facts.bins.push_back({static_cast<double>(b) / bins, static_cast<double>(b + 1) / bins, tasks,
                          sums[layout.bin(b) + 2] / tasks, right / tasks, interval.low, interval.high});
  }
  for (std::size_t k = 0; k < classes; ++k) {
    const std::size_t at = layout.of_class(k);
    facts.classes.push_back({sums[at], sums[at + 1], sums[at + 2]});
  }
  return facts;
}

/// Gold that only scores must not decide over workers.
bool record_has_gold(const CategoryResult& result) {
  return result.record.gold_use == "inference" && result.data.has_gold();
}

JudgedCrowd judged_crowd(const CategoryResult& result) {
  JudgedCrowd crowd{result.data.answers, result.worker_confusion, {}, result.dependence.groups};
  const std::vector<double>& shares = result.aggregation.class_prior;
  if (shares.size() == result.data.answers.class_count()) crowd.class_shares = shares;
  if (record_has_gold(result)) crowd.gold = result.data.gold;
  crowd.times = result.times.times;
  crowd.everybody_grouped = result.dependence.everybody_grouped;
  return crowd;
}

}  // namespace

ReportFacts report_facts(const CategoryResult& result, const Evaluation* evaluation, const RunContext& context) {
  ReportFacts facts;
  const CategoryAnswers& answers = result.data.answers;
  facts.description = describe(answers);
  facts.agreement = agreement_facts(answers, context);
  for (const ComponentSize& part : component_sizes(answers, kShownParts)) {
    facts.parts.push_back({part.tasks, part.workers, part.answers});
  }
  const RunRecord& record = result.record;
  const bool has_gold = record.gold_use == "evaluation" && result.data.has_gold();
  if (has_gold && evaluation != nullptr) {
    facts.gold = gold_facts(result, *evaluation);
  } else if (has_gold) {
    const auto labels = delivered_labels(result.aggregation, record.abstain_below);
    const auto scored = [&] {
      for (std::size_t t = 0; t < labels.size(); ++t) {
        if (labels[t] != kNoClass && result.data.gold[t] != kNoClass) return true;
      }
      return false;
    };
    if (scored()) {
      facts.gold = gold_facts(
          result, evaluate(labels, result.aggregation.posterior, result.data.gold, result.aggregation.class_count,
                           {.tie_rule = result.aggregation.tie_rule}, context));
    }
  }
  return facts;
}

std::vector<std::vector<DriftSegment>> timelines_of(const CategoryResult& result, std::span<const WorkerId> workers,
                                                    std::size_t most_stretches, const RunContext& context) {
  if (result.times.times.empty() || result.worker_confusion.empty()) return {};
  return worker_timelines(judged_crowd(result), workers, most_stretches, context);
}

AdviceFacts advise(const CategoryResult& result, std::span<const std::uint32_t> most_wanted,
                   const RunContext& context) {
  AdviceFacts advice;
  const std::size_t workers = result.data.answers.worker_count();
  const std::size_t classes = result.data.answers.class_count();
  const std::size_t cells = classes * classes;
  advice.workers.resize(workers);
  advice.judged.assign(workers, 0);
  if (workers == 0 || classes < 2 || result.worker_confusion.empty()) return advice;

  JudgeOptions options;
  const auto draws_for = [&](std::size_t count) { return kMostDraws / (cells * std::max<std::size_t>(count, 1)); };
  std::vector<std::uint32_t> chosen;
  if (draws_for(workers) >= kFewestDrawsPerWorker) {
    for (std::uint32_t w = 0; w < workers; ++w) chosen.push_back(w);
  } else {
    const std::size_t most = kMostDraws / (cells * kFewestDrawsPerWorker);
    chosen.assign(most_wanted.begin(),
                  most_wanted.begin() + static_cast<std::ptrdiff_t>(std::min(most, most_wanted.size())));
  }
  if (chosen.empty()) return advice;
  options.draws = std::clamp(draws_for(chosen.size()), kFewestDrawsPerWorker, options.draws);

  const JudgedCrowd crowd = judged_crowd(result);
  advice.workers = judge_workers(crowd, chosen, options, context);
  if (!crowd.times.empty() && !context.cancelled()) {
    advice.drift = find_drift(crowd, {}, context);
    judge_drift(advice.drift, advice.workers);
  }
  for (const std::uint32_t w : chosen) advice.judged[w] = 1;
  advice.judged_count = chosen.size();
  return advice;
}

}  // namespace wisecrowd
