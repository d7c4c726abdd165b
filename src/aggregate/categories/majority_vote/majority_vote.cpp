#include "aggregate/categories/majority_vote/majority_vote.hpp"

#include "aggregate/categories/shared/votes.hpp"

namespace wisecrowd::majority_vote {

MethodInfo info() {
  MethodInfo info;
  info.title = "Majority vote";
  info.summary = "Every answer counts the same; probabilities are vote shares.";
  info.when_to_use = "As a baseline, or when each worker gave so few answers that nothing can be learned about them.";
  info.reference = "folklore";
  info.assumptions =
      "Most workers are right more often than any one wrong answer is given, and all are about equally good.";
  info.cost = "time S; memory N·K";
  info.parameters = {tie_rule_parameter()};
  info.uses_gold = true;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<MajorityVote>(Options{.ties = tie_rule_from(parameters.choice("ties"))});
}

CategoryFit MajorityVote::fit(const CategoryData& data, const RunContext& context, const CategoryStart&) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.posterior = vote_fractions(data, context);
  pin_gold(data, result.posterior);
  result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
  result.class_prior = mean_posterior(data.answers, result.posterior);
  result.iterations = 1;
  return result;
}

}  // namespace wisecrowd::majority_vote
