#include "aggregate/categories/group_dawid_skene/group_dawid_skene.hpp"

#include <fmt/core.h>

#include <numeric>

#include "aggregate/categories/shared/confusion_em.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"

namespace wisecrowd::group_dawid_skene {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("discovery", o.discovery, kDiscoveryNames,
           "how groups are found where none are given: guarded, only beyond doubt; linkage, by likelihood alone");
  v.integer("most_groups", o.most_groups, 1, 1000, "discovery=linkage tries every number of groups up to this one");
  v.real("pseudo_count", o.em.smoothing, 0, 1e9, "answers added to every cell of every table");
  v.real("diagonal_pseudo_count", o.em.more_on_diagonal, 0, 1e9, "right answers added to every class of every table");
  v.integer("max_iterations", o.em.max_iterations, 1, 1e9, "iterations of EM at most");
  v.real("tolerance", o.em.tolerance, 0, 1, "stop when the log-likelihood changes by less than this share of itself");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Dawid–Skene with groups of workers";
  info.summary =
      "Workers of a group share one hidden view of each task, so a group counts as one voice; the groups are given or "
      "found.";
  info.when_to_use =
      "Workers who copy, collude, or learned from the same teacher. The default uses it where such groups contradict "
      "the rest; use it yourself when you know the groups.";
  info.reference =
      "A. Jaffe, E. Fetaya, B. Nadler, T. Jiang and Y. Kluger, Unsupervised ensemble learning with dependent "
      "classifiers, 2016; hierarchical EM as in METHOD.md";
  info.assumptions =
      "Groups answer independently of one another given the truth. Which side is right is decided by the majority of "
      "voices, by gold or by a trusted worker.";
  info.cost = "time S·K + groups·N·K² per iteration, and a search over groupings that costs some dozen such fits";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  return CategoryMethod::of<GroupDawidSkene, parameters>(std::move(info));
}

std::vector<std::uint32_t> GroupDawidSkene::voices(const CategoryData& data, const RunContext& context,
                                                   std::optional<Dependence>& found) const {
  if (!data.worker_groups.empty()) {
    found = given_groups(data);
    found->counted_once = found->acts();
    return data.worker_groups;
  }
  if (options_.discovery == Discovery::linkage) return voices_by_linkage(data, options_.most_groups, context);
  found = find_dependence(data, {}, context);
  found->counted_once = found->acts();
  if (found->acts()) return found->voices;
  std::vector<std::uint32_t> alone(data.answers.worker_count());
  std::iota(alone.begin(), alone.end(), 0U);
  return alone;
}

CategoryFit GroupDawidSkene::fit(const CategoryData& data, const RunContext& context,
                                 const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  VoiceFit fit = fit_voices(data, voices(data, context, result.dependence), options_.em, context, start.posterior);
  result.posterior = std::move(fit.posterior);
  pin_gold(data, result.posterior);
  result.tie_rule = options_.ties;
  result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
  result.class_prior = std::move(fit.class_prior);
  result.confusion = std::move(fit.confusion);
  result.worker_group = std::move(fit.group);
  result.objective_name = "log_posterior";
  result.objective_is_monotone = true;
  result.iterations = fit.trace.size();
  result.trace = std::move(fit.trace);
  result.log_likelihood = fit.log_likelihood;
  result.has_log_likelihood = true;
  result.status = context.cancelled() ? Status::cancelled : fit.converged ? Status::converged : Status::iteration_limit;
  if (result.status == Status::iteration_limit) result.warnings.push_back(not_converged_warning(result.iterations));
  const std::size_t classes = std::max<std::size_t>(result.class_count, 1);
  result.learned.emplace_back("groups", static_cast<double>(fit.group_table.size() / (classes * classes)));
  return result;
}

std::vector<double> GroupDawidSkene::log_predictive(const CategoryData& data, std::span<const CategoryAnswer> answers,
                                                    const RunContext& context) const {
  std::optional<Dependence> found;
  return log_predictive_of_voices(data, voices(data, context, found), answers, options_.em, context);
}

}  // namespace wisecrowd::group_dawid_skene
