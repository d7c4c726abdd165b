#include "aggregate/numbers/numbers_automatic/numbers_automatic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregate/method.hpp"
#include "aggregate/numbers/shared/spread.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "wisecrowd/held_out.hpp"

namespace wisecrowd::numbers_automatic {
namespace {

constexpr std::size_t kMostValues = 64;  // that probabilities are calibrated for
constexpr double kCommon = 0.02;         // share of all answers from which on a value is a habit, not a measurement
constexpr const char* kCandidates[] = {"mean", "median", "gaussian_em", "student_em"};  // the simplest first
constexpr const char* kUnjudged = "median";
constexpr std::size_t kLeastHidden = 100;  // answers from which on methods are judged

void parameters(ParameterVisitor& v, Options& o) {
  v.real("threshold", o.threshold, 0, 1e6,
         "standard errors by which the median must predict hidden answers better than the mean, and a model of the "
         "workers "
         "better than these");
  v.integer("folds", o.folds, 1, 10, "times that a tenth of the answers is hidden");
  v.integer("most_answers", o.most_answers, 100, 1e9,
            "answers that the choice is made on; of larger data a sample of tasks");
}

/// The values that answers take in one dimension, where some of them are common; else none, and densities are taken as
/// they are. Of too many, quantiles.
std::vector<double> common_values(const NumberAnswers& answers, std::size_t dimension) {
  std::vector<double> sorted;
  for (AnswerIndex a = 0; a < answers.answer_count(); ++a) sorted.push_back(answers.value(a)[dimension]);
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> values;
  bool common = false;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    common = common || static_cast<double>(end - i) >= kCommon * static_cast<double>(sorted.size());
    values.push_back(sorted[i]);
    i = end;
  }
  if (!common || values.size() < 2) return {};
  if (values.size() <= kMostValues) return values;
  values.clear();
  for (std::size_t i = 0; i < kMostValues; ++i) {
    values.push_back(sorted[i * (sorted.size() - 1) / (kMostValues - 1)]);
  }
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::uint32_t nearest(const std::vector<double>& values, double y) {
  const auto above = std::lower_bound(values.begin(), values.end(), y);
  if (above == values.begin()) return 0;
  const auto at = static_cast<std::uint32_t>(above - values.begin());
  return above == values.end() || y - *(above - 1) <= *above - y ? at - 1 : at;
}

/// Log probabilities of all hidden answers by one method. Without values, of the densities as they are; with values
/// of each dimension, given what was answered in the others.
std::vector<double> score(const HeldOut<Numbers>& held_out, const Aggregator<Numbers>& method,
                          const std::vector<std::vector<double>>& values, const RunContext& context) {
  if (values.empty()) return held_out.log_probabilities(method, context);
  std::size_t per_answer = 0;
  for (const auto& own : values) per_answer += own.size();
  std::vector<std::vector<double>> log_density(values.size());
  std::vector<std::vector<std::uint32_t>> answered(values.size());
  for (std::size_t f = 0; f < held_out.folds(); ++f) {
    // One fit is asked for each hidden answer with every value in every dimension.
    const auto hidden = held_out.hidden(f);
    std::vector<double> changed;
    changed.reserve(hidden.size() * per_answer * values.size());
    std::vector<NumberAnswer> asked;
    for (std::size_t d = 0; d < values.size(); ++d) {
      for (const NumberAnswer& answer : hidden) {
        answered[d].push_back(nearest(values[d], answer.value[d]));
        for (const double value : values[d]) {
          const std::size_t at = changed.size();
          changed.insert(changed.end(), answer.value.begin(), answer.value.end());
          changed[at + d] = value;
          asked.push_back({answer.task, answer.worker, {changed.data() + at, values.size()}});
        }
      }
    }
    const std::vector<double> logs = method.log_predictive(held_out.visible(f), asked, context);
    if (context.cancelled()) return {};
    auto from = logs.begin();
    for (std::size_t d = 0; d < values.size(); ++d) {
      const auto end = from + static_cast<std::ptrdiff_t>(hidden.size() * values[d].size());
      log_density[d].insert(log_density[d].end(), from, end);
      from = end;
    }
  }
  std::vector<double> total(held_out.hidden_count(), 0);
  for (std::size_t d = 0; d < values.size(); ++d) {
    const std::vector<double> own = calibrated(log_density[d], answered[d], values[d].size());
    for (std::size_t i = 0; i < own.size(); ++i) total[i] += own[i];
  }
  return total;
}

double mean_of_logs(const std::vector<double>& logs) {
  return std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(std::max<std::size_t>(logs.size(), 1));
}

/// One pass over all rows: probabilities by weight, and how often each value is expected.
void expect(std::span<const double> log_density, std::size_t values, std::span<const double> log_weight,
            std::vector<double>& expected, std::vector<double>& row) {
  std::fill(expected.begin(), expected.end(), 0);
  for (std::size_t i = 0; i * values < log_density.size(); ++i) {
    for (std::size_t v = 0; v < values; ++v) row[v] = log_density[i * values + v] + log_weight[v];
    softmax(row);
    for (std::size_t v = 0; v < values; ++v) expected[v] += row[v];
  }
}

}  // namespace

std::vector<double> calibrated(std::span<const double> log_density, std::span<const std::uint32_t> answered,
                               std::size_t values) {
  constexpr std::size_t kRounds = 50;
  constexpr double kLeastCount = 1e-3;
  std::vector<double> count(values, kLeastCount), expected(values), row(values), log_weight(values, 0);
  for (const std::uint32_t v : answered) count[v] += 1;
  for (std::size_t round = 0; round < kRounds; ++round) {
    expect(log_density, values, log_weight, expected, row);
    double step = 0;
    for (std::size_t v = 0; v < values; ++v) {
      const double move = std::clamp(math::log(count[v] / std::max(expected[v], 1e-300)), -20.0, 20.0);
      log_weight[v] += move;
      if (count[v] >= 1) step = std::max(step, std::abs(move));
    }
    if (step < 1e-3) break;
  }
  std::vector<double> logs;
  for (std::size_t i = 0; i < answered.size(); ++i) {
    for (std::size_t v = 0; v < values; ++v) row[v] = log_density[i * values + v] + log_weight[v];
    logs.push_back(row[answered[i]] - log_sum_exp(row));
  }
  return logs;
}

Choice choose(const NumberData& data, const Options& options, const RunContext& context) {
  const NumberData sampled = sampled_tasks<Numbers>(data, options.most_answers, context);
  const HeldOut held_out(sampled, {.folds = options.folds, .share = 0.1}, context);
  if (held_out.hidden_count() < kLeastHidden) {
    return {kUnjudged,
            fmt::format("Chose the median: {} answers can be hidden, too few to compare methods by.",
                        held_out.hidden_count() == 0 ? "no" : std::to_string(held_out.hidden_count())),
            {}};
  }
  std::vector<std::vector<double>> values;
  for (std::size_t d = 0; d < sampled.answers.dimensions(); ++d) {
    values.push_back(common_values(sampled.answers, d));
    if (!values.back().empty()) continue;
    values.clear();
    break;
  }
  Choice choice;
  const auto scored = [&](const char* name) {
    const auto method = make_method<Numbers>(name, Parameters(method_of<Numbers>(name).parameters));
    std::vector<double> logs = score(held_out, *method, values, context);
    choice.scores.emplace_back(name, mean_of_logs(logs));
    return logs;
  };
  std::vector<std::vector<double>> logs;
  for (const char* const name : kCandidates) {
    logs.push_back(scored(name));
    if (context.cancelled()) return {kUnjudged, "", {}};
  }
  // The mean, unless the median leads clearly; that, unless the better model does.
  const double median_lead = held_out.z_score(logs[1], logs[0]);
  const std::size_t simple = median_lead >= options.threshold ? 1 : 0;
  const std::size_t model = mean_of_logs(logs[3]) > mean_of_logs(logs[2]) ? 3 : 2;
  const double lead = held_out.z_score(logs[model], logs[simple]);
  const bool clear = lead >= options.threshold;
  choice.method = kCandidates[clear ? model : simple];
  choice.explanation =
      clear ? fmt::format("Chose {}: it predicts hidden answers better than the {} (z = {:.1f}, threshold {:g}).",
                          kCandidates[model], kCandidates[simple], lead, options.threshold)
            : fmt::format(
                  "Chose the {}: no model of the workers predicts hidden answers clearly better ({}: z = {:.1f}, "
                  "threshold {:g}).",
                  kCandidates[simple], kCandidates[model], lead, options.threshold);
  return choice;
}

NumberMethod method() {
  MethodInfo info;
  info.title = "Automatic, for numbers";
  info.summary = "Chooses between mean, median and models of the workers by how well each predicts hidden answers.";
  info.when_to_use = "When you do not know which method suits: it is the default.";
  info.reference = "our own; see its METHOD.md";
  info.assumptions = "A method that predicts hidden answers better estimates the truth better.";
  info.cost = "a fit of the chosen method, and 20 of at most 100,000 answers";
  info.uses_gold = true;
  info.uses_chance = true;
  return NumberMethod::of<NumbersAutomatic, parameters>(std::move(info));
}

NumberFit NumbersAutomatic::fit(const NumberData& data, const RunContext& context, const NumberStart& start) const {
  const Choice choice = choose(data, options_, context);
  NumberFit fit = make_method<Numbers>(choice.method, Parameters(method_of<Numbers>(choice.method).parameters))
                      ->fit(data, context, start);
  fit.explanation = choice.explanation;
  for (const auto& [name, value] : choice.scores) fit.learned.emplace_back("log_density_" + name, value);
  if (context.cancelled()) fit.status = Status::cancelled;
  return fit;
}

std::vector<double> NumbersAutomatic::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                     const RunContext& context) const {
  const std::string chosen = choose(data, options_, context).method;
  return make_method<Numbers>(chosen, Parameters(method_of<Numbers>(chosen).parameters))
      ->log_predictive(data, answers, context);
}

}  // namespace wisecrowd::numbers_automatic
