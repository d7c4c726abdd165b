#include "aggregate/comparisons/comparisons_default/comparisons_default.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "aggregate/method.hpp"
#include "wisecrowd/held_out.hpp"

namespace wisecrowd::comparisons_default {
namespace {

/// From the plainest on: one that is not clearly better gives way to those before it.
constexpr std::array<const char*, 4> kCandidates = {"bradley_terry", "davidson", "crowd_bt", "noisy_bradley_terry"};
/// Where nothing can be hidden, workers are not trusted blindly.
constexpr const char* kWithoutJudge = "crowd_bt";
/// Beyond so many answers one fold tells enough.
constexpr std::size_t kManyAnswers = 1'000'000;
constexpr std::size_t kFewestHidden = 30;
/// Standard errors by which a method has to be ahead of a plainer one.
constexpr double kClearlyAhead = 2;

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("folds", o.folds, 1, 100, "fits per method, each without other answers");
  v.real("share", o.share, 1e-6, 0.5, "of the answers that are hidden in a fold");
}

std::unique_ptr<ComparisonAggregator> candidate(const char* name) {
  return make_method<Comparisons>(name, Parameters(method_of<Comparisons>(name).parameters));
}

double mean_of_logs(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Method<Comparisons> method() {
  MethodInfo info;
  info.title = "Default for comparisons";
  info.summary = "Chooses among bradley_terry, davidson, crowd_bt and noisy_bradley_terry by hidden answers.";
  info.when_to_use = "When you do not know which method suits the data: this is the default.";
  info.reference = "this project";
  info.assumptions = "What predicts hidden answers best ranks best.";
  info.cost = "folds × the time of all four, and once that of the chosen one";
  info.uses_gold = true;
  info.uses_chance = true;
  return Method<Comparisons>::of<ComparisonsDefault, parameters>(std::move(info));
}

ComparisonsDefault::Choice ComparisonsDefault::choose(const ComparisonData& data, const RunContext& context) const {
  const std::size_t folds = data.answers.answer_count() > kManyAnswers ? 1 : options_.folds;
  const HeldOut<Comparisons> held_out(
      data, {.folds = folds, .share = std::min(options_.share, 1.0 / static_cast<double>(folds))}, context);
  if (held_out.hidden_count() < kFewestHidden) {
    return {
        candidate(kWithoutJudge),
        fmt::format("{} was taken: there are too few answers to hide some and judge methods by them.", kWithoutJudge)};
  }
  std::size_t best = 0;
  std::vector<double> best_logs;
  std::string judged;
  for (std::size_t m = 0; m < kCandidates.size() && !context.cancelled(); ++m) {
    std::vector<double> logs = held_out.log_probabilities(*candidate(kCandidates[m]), context);
    if (logs.empty()) break;
    judged += fmt::format("{}{} {:.4f}", m > 0 ? ", " : "", kCandidates[m], mean_of_logs(logs));
    if (m > 0 && held_out.z_score(logs, best_logs) < kClearlyAhead) continue;
    best = m;
    best_logs = std::move(logs);
  }
  return {
      candidate(kCandidates[best]),
      fmt::format("{} was chosen: of {} hidden answers, it is the plainest method that none predicts clearly better "
                  "than (mean log probability: {}).",
                  kCandidates[best], held_out.hidden_count(), judged)};
}

ComparisonFit ComparisonsDefault::fit(const ComparisonData& data, const RunContext& context,
                                      const ComparisonStart& start) const {
  const Choice choice = choose(data, context);
  ComparisonFit fit = choice.method->fit(data, context, start);
  fit.explanation = choice.explanation;
  return fit;
}

std::vector<double> ComparisonsDefault::log_predictive(const ComparisonData& data,
                                                       std::span<const ComparisonAnswer> answers,
                                                       const RunContext& context) const {
  return choose(data, context).method->log_predictive(data, answers, context);
}

}  // namespace wisecrowd::comparisons_default
