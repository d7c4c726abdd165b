#include "aggregate/categories/crh/crh.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"

namespace wisecrowd::crh {
namespace {

constexpr double kLeastDistance = 1e-9;

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "rounds at most");
  v.real("tolerance", o.tolerance, 0, 1, "largest change of a weight that ends it");
  tie_rule_parameter(v, o.ties);
}

/// w_j = −ln(D_j / Σ D), D_j the share of answers that differ from the labels; without answers, 0. A worker alone has
/// all of the distance and would weigh nothing: it counts all the same.
std::vector<double> weights_of(const CategoryAnswers& answers, const std::vector<double>& agreement) {
  std::vector<double> weights(agreement.size(), 0);
  std::vector<char> answered(agreement.size(), 0);
  for (const WorkerId w : answers.workers()) answered[index(w)] = 1;
  double all = 0;
  for (std::size_t w = 0; w < agreement.size(); ++w) all += answered[w] != 0 ? 1 - agreement[w] + kLeastDistance : 0;
  for (std::size_t w = 0; w < agreement.size(); ++w) {
    if (answered[w] != 0) weights[w] = std::max(-math::log((1 - agreement[w] + kLeastDistance) / all), kLeastDistance);
  }
  return weights;
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "CRH";
  info.summary = "Weighted votes, and weights of workers by how often they disagree with them, in turn.";
  info.when_to_use =
      "A step up from majority vote without a model, in a scheme that serves numbers (crh_numbers), too.";
  info.reference =
      "Q. Li et al., Resolving conflicts in heterogeneous data by truth discovery and source reliability estimation, "
      "SIGMOD 2014";
  info.assumptions = "The plain vote is right often enough to tell good workers from bad.";
  info.cost = "time S per round; memory N·K";
  info.uses_start = true;
  info.uses_gold = true;
  return CategoryMethod::of<Crh, parameters>(std::move(info));
}

CategoryFit Crh::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.status = Status::iteration_limit;
  result.posterior = start.empty() ? vote_fractions(data, context)
                                   : std::vector<double>(start.posterior.begin(), start.posterior.end());
  const auto started = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < options_.max_iterations && result.status == Status::iteration_limit; ++i) {
    pin_gold(data, result.posterior);
    result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
    const auto weights = weights_of(data.answers, worker_agreement(data.answers, result.labels, context));
    double moved = result.skill.empty() ? 1 + options_.tolerance : 0;
    for (std::size_t w = 0; w < result.skill.size(); ++w)
      moved = std::max(moved, std::abs(weights[w] - result.skill[w]));
    result.skill = weights;
    result.posterior = vote_fractions(data, context, result.skill);
    result.iterations = i + 1;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(i + 1),
                    .total = static_cast<double>(options_.max_iterations)});
    if (moved <= options_.tolerance) result.status = Status::converged;
    if (context.cancelled()) result.status = Status::cancelled;
  }
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  pin_gold(data, result.posterior);
  result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
  result.class_prior = mean_posterior(data.answers, result.posterior);
  return result;
}

}  // namespace wisecrowd::crh
