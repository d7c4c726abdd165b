#include "aggregate/categories/wawa/wawa.hpp"

#include "aggregate/categories/shared/votes.hpp"

namespace wisecrowd::wawa {

MethodInfo info() {
  MethodInfo info;
  info.title = "Wawa";
  info.summary = "Worker agreement with aggregate: vote, weigh workers by how often they agreed with it, vote again.";
  info.when_to_use =
      "A quick step up from majority vote when workers differ in care but not in kind; needs no model and cannot "
      "diverge.";
  info.reference = "Appen, Calculating worker agreement with aggregate (Wawa), 2021";
  info.assumptions = "The plain vote is right often enough to tell good workers from bad.";
  info.cost = "time 2·S; memory N·K";
  info.uses_start = true;
  info.parameters = {tie_rule_parameter()};
  info.uses_gold = true;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<Wawa>(Options{.ties = tie_rule_from(parameters.choice("ties"))});
}

CategoryFit Wawa::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  auto votes = start.empty() ? vote_fractions(data, context)
                             : std::vector<double>(start.posterior.begin(), start.posterior.end());
  pin_gold(data, votes);
  result.skill =
      worker_agreement(data.answers, hard_labels(votes, result.class_count, options_.ties, context), context);
  result.posterior = vote_fractions(data, context, result.skill);
  pin_gold(data, result.posterior);
  result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
  result.class_prior = mean_posterior(data.answers, result.posterior);
  result.iterations = 1;
  return result;
}

}  // namespace wisecrowd::wawa
