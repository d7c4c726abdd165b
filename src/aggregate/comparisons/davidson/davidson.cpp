#include "aggregate/comparisons/davidson/davidson.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/comparisons/shared/plain_scores.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "data/pair_labels.hpp"

namespace wisecrowd::davidson {
namespace {

/// One comparison of equals, half of it a tie: without, data that have no ties would make ν 0.
constexpr double kPriorTies = 0.5;
constexpr double kPriorGames = 1;
/// Ties as expected that are added to a worker's own.
constexpr double kCrowdTies = 4;

void parameters(ParameterVisitor& v, Options& o) {
  v.real("ridge", o.ridge, 0, 1e6,
         "precision of a normal prior of the scores; 0: none, unless no finite scores are the most probable ones");
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "most iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no score changes by more, nor the logarithm of ν");
}

/// Per pair: wins of its first item, of its second, ties.
struct Counts {
  std::vector<double> first, second, ties;
};

Counts count_outcomes(const ComparisonData& data) {
  const ComparisonAnswers& answers = data.answers;
  Counts counts{std::vector<double>(answers.task_count()), std::vector<double>(answers.task_count()),
                std::vector<double>(answers.task_count())};
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto add = [&](Outcome outcome) {
      (outcome == Outcome::tie ? counts.ties : outcome == Outcome::left ? counts.first : counts.second)[t] += 1;
    };
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      add(ComparisonAnswers::outcome_of(answers.codes()[a]));
    }
    if (const auto known = data.gold_of(TaskId(t))) add(*known);
  }
  return counts;
}

double tie_probability(double difference, double nu) { return nu / (2 * std::cosh(difference / 2) + nu); }

/// A step of Newton's method for log ν; the objective is concave in it.
double step_of_nu(const ComparisonAnswers& answers, const Counts& counts, std::span<const double> scores, double nu) {
  double slope = kPriorTies - kPriorGames * tie_probability(0, nu);
  double bend = kPriorGames * tie_probability(0, nu) * (1 - tie_probability(0, nu));
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const ItemPair pair = answers.pairs()[t];
    const double p = tie_probability(scores[index(pair.first)] - scores[index(pair.second)], nu);
    const double games = counts.first[t] + counts.second[t] + counts.ties[t];
    slope += counts.ties[t] - games * p;
    bend += games * p * (1 - p);
  }
  return std::clamp(slope / bend, -2.0, 2.0);
}

double prior_of_nu(double nu) { return kPriorTies * math::log(nu) - kPriorGames * math::log(2 + nu); }

}  // namespace

Method<Comparisons> method() {
  MethodInfo info;
  info.title = "Davidson";
  info.summary = "Bradley–Terry scores with ties as an outcome of their own, likelier between equals.";
  info.when_to_use = "When ties are many and mean that items are close.";
  info.reference = "Davidson, JASA 65 (1970)";
  info.assumptions = "Items lie on one line; a tie is likelier the closer they are; workers are alike.";
  info.cost = "time P per step (P pairs; N³ for up to 400 items); memory P";
  info.uses_gold = true;
  info.uses_start = true;
  return Method<Comparisons>::of<Davidson, parameters>(std::move(info));
}

ComparisonFit Davidson::fit(const ComparisonData& data, const RunContext& context, const ComparisonStart& start) const {
  using namespace comparisons;
  ComparisonFit fit = start_comparison_fit(data);
  const ItemGraph graph(data.answers.pairs(), data.answers.item_count());
  const Connectivity found = connectivity(graph, count_wins(data, context));
  warn_of_connectivity(found, options_.ridge > 0, kFallbackRidge, fit);
  const double ridge = options_.ridge > 0 ? options_.ridge : found.strong > 1 ? kFallbackRidge : 0;
  const Counts counts = count_outcomes(data);
  ScoreSolver solver(graph, {.ridge = ridge}, context);
  solver.set_weights(counts.first, counts.second);
  if (!start.empty()) fit.score.assign(start.score.begin(), start.score.end());
  fit.objective_name = "log posterior";
  fit.status = Status::iteration_limit;
  double nu = 1;
  const auto began = std::chrono::steady_clock::now();
  while (fit.iterations < options_.max_iterations && !context.cancelled()) {
    solver.set_ties(counts.ties, nu);
    const auto progress = solver.improve(fit.score, 1, options_.tolerance);
    fit.trace.push_back(progress.objective + prior_of_nu(nu));
    ++fit.iterations;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(fit.iterations),
                    .objective = fit.trace.back(),
                    .has_objective = true});
    const double step = step_of_nu(data.answers, counts, fit.score, nu);
    if (progress.converged && std::abs(step) <= std::max(options_.tolerance, 1e-14)) {
      fit.status = Status::converged;
      break;
    }
    nu *= math::exp(step);
  }
  if (context.cancelled()) fit.status = Status::cancelled;
  fit.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() /
                              static_cast<double>(std::max<std::size_t>(fit.iterations, 1));
  solver.set_ties(counts.ties, nu);
  ScoreSolver::Point point;
  solver.evaluate(fit.score, point);
  fit.log_likelihood = point.objective;
  for (const double s : fit.score) fit.log_likelihood += ridge * s * s / 2;
  fit.has_log_likelihood = true;
  fit.learned.emplace_back("nu", nu);
  centre_by_component(fit.score, found);
  const std::vector<double> own(fit.item_count, ridge);
  rank_items(graph, point.curvature, own, found, fit);
  label_pairs(data, fit, context);
  return fit;
}

std::vector<double> Davidson::log_predictive(const ComparisonData& data, std::span<const ComparisonAnswer> answers,
                                             const RunContext& context) const {
  const ComparisonFit fitted = fit(data, context);
  const double nu = fitted.learned.front().second;
  const ComparisonAnswers& seen = data.answers;
  std::vector<double> ties(seen.worker_count(), kCrowdTies), expected(seen.worker_count(), kCrowdTies);
  for (std::size_t t = 0; t < seen.task_count(); ++t) {
    const ItemPair pair = seen.pairs()[t];
    const double p = tie_probability(fitted.score[index(pair.first)] - fitted.score[index(pair.second)], nu);
    for (AnswerIndex a = seen.task_offsets()[t]; a < seen.task_offsets()[t + 1]; ++a) {
      const std::size_t worker = index(seen.workers()[a]);
      ties[worker] += ComparisonAnswers::outcome_of(seen.codes()[a]) == Outcome::tie ? 1 : 0;
      expected[worker] += p;
    }
  }
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const ComparisonAnswer& a : answers) {
    const double d = fitted.score[index(a.left)] - fitted.score[index(a.right)];
    const double left = fitted.deviation[index(a.left)], right = fitted.deviation[index(a.right)];
    const double variance = std::isfinite(left) && std::isfinite(right) ? left * left + right * right : 0;
    const double own = nu * ties[index(a.worker)] / expected[index(a.worker)];
    logs.push_back(
        comparisons::log_answer(a.outcome, comparisons::moderated_sigmoid(d, variance), tie_probability(d, own)));
  }
  return logs;
}

}  // namespace wisecrowd::davidson
