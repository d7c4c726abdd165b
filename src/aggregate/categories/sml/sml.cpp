#include "aggregate/categories/sml/sml.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "aggregate/categories/shared/votes.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::sml {

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Spectral meta-learner";
  info.summary = "Weighs workers by what the covariances of their answers say of them; a linear vote, two classes.";
  info.when_to_use = "Two classes, biased workers, and a fast answer without EM's dependence on a start.";
  info.reference =
      "F. Parisi, F. Strino, B. Nadler and Y. Kluger, Ranking and combining multiple predictors without labeled data, "
      "PNAS 2014";
  info.assumptions =
      "Answers are independent given the truth, who answers what does not depend on it, and most workers are better "
      "than chance.";
  info.cost = "time S per sweep; memory 12·S";
  info.parameters = {
      ParameterSpec::integer("max_iterations", static_cast<std::int64_t>(defaults.fit.max_iterations), 1, 1e9,
                             "give up after this many sweeps over the workers"),
      ParameterSpec::real("tolerance", defaults.fit.tolerance, 0, 1, "stop when no weight moves by more than this"),
      tie_rule_parameter(),
  };
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  info.allows_repeats = false;
  info.max_classes = 2;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<Sml>(
      Options{.fit = {.max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations")),
                      .tolerance = parameters.real("tolerance")},
              .ties = tie_rule_from(parameters.choice("ties"))});
}

CategoryFit Sml::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "explained covariance";
  result.objective_is_monotone = true;
  if (result.class_count == 0) return result;
  if (result.class_count == 1) {
    result.status = context.cancelled() ? Status::cancelled : Status::converged;
    conclude_one_coin(data, context, std::vector<double>(result.worker_count, 1.0), options_.ties, result);
    return result;
  }
  CovarianceFit fit = fit_covariances(data, context, options_.fit, start);
  // log-odds 2 Σ v_j y_ij: an even prior and accuracies σ(2 v) say exactly that.
  TableModel vote{2, std::vector<double>(result.worker_count * 4), {0.5, 0.5}};
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    const double right = sigmoid(2 * fit.v[w]);
    const auto table = vote.table(w);
    table[0] = table[3] = right;
    table[1] = table[2] = 1 - right;
  }
  conclude(data, context, vote, options_.ties, result);
  // The tables that covariances and means imply, at the class balance that the vote found.
  result.class_prior = mean_posterior(data.answers, result.posterior);
  double balance = 0;
  for (std::size_t t = 0; t < result.task_count; ++t) balance += result.posterior[t * 2 + 1] > 0.5 ? 1 : -1;
  balance = std::clamp(balance / static_cast<double>(std::max<std::size_t>(result.task_count, 1)), -0.9, 0.9);
  result.confusion = tables_from_balance(fit, result.worker_count, balance).tables;
  result.has_log_likelihood = false;
  result.log_likelihood = 0;

  result.skill.assign(fit.v.begin(), fit.v.begin() + static_cast<std::ptrdiff_t>(result.worker_count));
  result.trace = std::move(fit.trace);
  result.iterations = fit.iterations;
  result.seconds_per_iteration = fit.iterations > 0 ? fit.seconds / static_cast<double>(fit.iterations) : 0;
  result.status = fit.status;
  warn_of_links(fit.links, result);
  if (result.status == Status::iteration_limit) {
    result.warnings.push_back({"not_converged",
                               fmt::format("stopped after {} sweeps while weights still moved", result.iterations),
                               "raise max_iterations."});
  }
  return result;
}

}  // namespace wisecrowd::sml
