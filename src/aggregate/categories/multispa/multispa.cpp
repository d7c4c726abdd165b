#include "aggregate/categories/multispa/multispa.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "aggregate/categories/shared/separable.hpp"
#include "aggregate/categories/shared/votes.hpp"

namespace wisecrowd::multispa {

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "MultiSPA";
  info.summary = "Reads every worker's confusion table off what it said together with each of its partners.";
  info.when_to_use =
      "Pairs of workers who share many tasks, some of them sure of a class; a start for EM that does not lean on the "
      "vote alone.";
  info.reference = "S. Ibrahim, X. Fu, N. Kargas and K. Huang, Crowdsourcing via pairwise co-occurrences, NeurIPS 2019";
  info.assumptions =
      "Answers are independent given the truth; for every class some partner (almost) only says it when it is true; "
      "who "
      "answers which task does not depend on the task.";
  info.cost = "time Σ_i m_i² + P·K³ for P pairs of workers, once; memory P·K²";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.parameters = {
      ParameterSpec::integer("min_common", static_cast<std::int64_t>(defaults.min_common), 0, 1e9,
                             "pairs of workers with fewer tasks in common are not used; 0: max(10, 2 K)"),
      ParameterSpec::real("column_shrinkage", defaults.column_shrinkage, 0, 1e9,
                          "answers of the worker's average that are added to each column, so that columns of a few "
                          "answers do not look extreme by chance"),
      ParameterSpec::real("pseudo_count", defaults.pseudo_count, 0, 1e9,
                          "answers added to every cell of a table before it judges tasks"),
      tie_rule_parameter(),
  };
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<MultiSpa>(Options{.min_common = static_cast<std::size_t>(parameters.integer("min_common")),
                                            .column_shrinkage = parameters.real("column_shrinkage"),
                                            .pseudo_count = parameters.real("pseudo_count"),
                                            .ties = tie_rule_from(parameters.choice("ties"))});
}

CategoryFit MultiSpa::fit(const CategoryData& data, const RunContext& context, const CategoryStart&) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  if (result.class_count == 0) return result;
  const PairMoments pairs(data, context, {.min_common = options_.min_common, .gold_as_worker = true});
  context.report({.stage = "pairs of workers", .done = 1, .total = 2});
  const TableModel guide =
      tables_from_posterior(data, context, vote_fractions(data, context), pairs.worker_count() - result.worker_count);
  SeparableFit fit = separable_tables(pairs, context, guide, options_.column_shrinkage);
  smooth(fit.model, data.answers, options_.pseudo_count);
  conclude(data, context, fit.model, options_.ties, result);
  if (context.cancelled()) result.status = Status::cancelled;

  std::size_t solved = 0, with_partners = 0;
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    solved += fit.how[w] == Solved::separately ? 1 : 0;
    with_partners += fit.how[w] == Solved::with_partners ? 1 : 0;
  }
  result.learned.emplace_back("pairs", static_cast<double>(pairs.pairs().size()));
  result.learned.emplace_back("workers_solved", static_cast<double>(solved));
  result.learned.emplace_back("workers_solved_through_partners", static_cast<double>(with_partners));
  const std::size_t left = result.worker_count - solved - with_partners;
  if (left > 0) {
    result.warnings.push_back(
        {"unsolved_workers",
         fmt::format("{} of {} workers share too few tasks with others; their tables are those of the vote.", left,
                     result.worker_count),
         "Lower min_common, or use dawid_skene."});
  }
  return result;
}

}  // namespace wisecrowd::multispa
