#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

/// From these on a finding is worth a warning.
constexpr double kTooSureBy = 0.05;       // mean probability minus accuracy on gold
constexpr double kManyTorn = 0.2;         // share of tasks
constexpr double kManySpamAnswers = 0.1;  // share of answers
constexpr double kLowAlpha = 0.2;

/// A method of the comparison that is better beyond doubt.
const ComparedMethod* clearly_better(const Source& source) {
  if (!source.options.comparison || source.options.comparison->by != "gold") return nullptr;
  const std::vector<ComparedMethod>& rows = source.options.comparison->rows;
  const auto own = std::find_if(rows.begin(), rows.end(), [](const ComparedMethod& row) { return row.is_this; });
  if (own == rows.end()) return nullptr;
  const ComparedMethod* best = nullptr;
  for (const ComparedMethod& row : rows) {
    if (!(row.accuracy.low > own->accuracy.high)) continue;
    if (best == nullptr || row.accuracy.value > best->accuracy.value) best = &row;
  }
  return best;
}

void add_own(const Source& source, WarningList& list) {
  const CategoryFit& fit = source.result.aggregation;
  const RunRecord& record = source.result.record;
  const Description& description = source.facts.description;
  if (fit.status == Status::cancelled) {
    list.add(Severity::serious, "The run was stopped by hand",
             fmt::format("it was cancelled after {}; labels and workers are as good as it had got",
                         counted(fit.iterations, "iteration")),
             "run it again to the end before you use the labels");
  }
  if (source.facts.gold) {
    const GoldFacts& gold = *source.facts.gold;
    const double confidence = gold.mean_confidence();
    const Estimate& accuracy = gold.evaluation.accuracy;
    if (confidence - accuracy.value > kTooSureBy && confidence > accuracy.high) {
      list.add(Severity::caution, "The probabilities are too sure",
               fmt::format("labels of gold tasks have a mean probability of {}, but {} are right", percent(confidence),
                           percent(accuracy.value)),
               "use the probabilities to order tasks, not as odds; choose thresholds on gold tasks");
    }
  }
  if (const ComparedMethod* better = clearly_better(source)) {
    list.add(Severity::caution, "Another method does better here",
             fmt::format("on the gold tasks {} is right more often ({}), beyond what chance explains", better->method,
                         percent(better->accuracy.value)),
             source.options.learned
                 ? fmt::format("look at what it does otherwise: wisecrowd aggregate … `method={}`", better->method)
                 : fmt::format("run again with `method={}`", better->method));
  }
  const Certainty sure = certainty(source);
  const auto tasks = static_cast<double>(std::max<std::size_t>(description.tasks, 1));
  if (description.answers > 0 && static_cast<double>(sure.torn) / tasks > kManyTorn) {
    list.add(Severity::caution, "Many labels are a toss-up",
             fmt::format("{} of {} have a label with a probability below 60 %", grouped(sure.torn),
                         counted(description.tasks, "task")),
             "ask more workers about these tasks (wisecrowd select `advise` says which and whom), or leave such labels "
             "blank with `abstain_below=0.6`");
  }
  const AdviceCounts advice = advice_counts(source);
  const auto answers = static_cast<double>(std::max<std::size_t>(description.answers, 1));
  if (static_cast<double>(advice.answers_of_guessers) / answers > kManySpamAnswers) {
    list.add(Severity::caution, "Many answers tell nothing",
             fmt::format("{} of all answers come from {} whose answers hardly depend on the truth",
                         percent(static_cast<double>(advice.answers_of_guessers) / answers),
                         counted(advice.guessers, "worker")),
             "stop asking them (the table of workers names them) and spend the budget on others");
  }
  if (description.krippendorff_alpha < kLowAlpha) {
    list.add(Severity::caution, "Workers hardly agree",
             fmt::format("two answers to the same task are alike {} of the time, little more than by chance "
                         "(Krippendorff's alpha {:.2f})",
                         percent(description.pairwise_agreement), description.krippendorff_alpha),
             "read some hard tasks below: are instructions and classes clear? If so, look for workers to retrain");
  }
  if (record.gold_use == "inference") {
    list.add(Severity::note, "Gold was used, so nothing is measured on it",
             fmt::format("the method was given the truth of {}, so they are no test of the labels",
                         counted(record.gold_tasks, "task")),
             "keep some gold aside with `gold_for=evaluation` to measure accuracy");
  } else if (record.gold_use == "none") {
    list.add(Severity::note, "Nothing was measured",
             "without tasks whose truth is known, accuracy is what the model believes of itself",
             "learn the truth of a hundred random tasks and run again with `gold=FILE` `gold_for=evaluation`");
  }
}

}  // namespace

void add_warnings(const Source& source, Json& document) {
  WarningList list(source.result.record);
  list.add_new(source.result.record.data_warnings);
  list.add_new(source.result.aggregation.warnings);
  list.add_new(source.facts.description.warnings);
  add_own(source, list);
  document["warnings"] = list.json();
}

}  // namespace wisecrowd::report
