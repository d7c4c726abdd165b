#include "aggregate/sets/profile_relevance/profile_relevance.hpp"

#include "aggregate/method.hpp"
#include "aggregate/sets/shared/hierarchy.hpp"

namespace wisecrowd::profile_relevance {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("profiles", o.profiles, 1, 1000, "kinds of tasks, each with its own share of every class");
  v.real("class_pseudo_count", o.em.class_pseudo_count, 0, 1e9,
         "tasks with the usual share of every class that are added to each profile before its shares are estimated");
  sets::iteration_parameters(v, o.em);
}

}  // namespace

Method<Sets> method() {
  MethodInfo info;
  info.title = "Profile relevance";
  info.summary = "Shared relevance where classes occur together: tasks fall into profiles with other frequent classes.";
  info.when_to_use = "Classes that go together or exclude one another, and few answers per task.";
  info.reference =
      "A mixture of products of Bernoulli distributions (P. F. Lazarsfeld, latent classes, 1950) as the prior of the "
      "sets; workers as in shared_relevance";
  info.assumptions = "Within a profile classes occur independently; workers as in shared_relevance.";
  info.cost = "time (S + N·G)·K per iteration for G profiles, or the sum of named classes; memory N·(K + G) + M·K";
  info.uses_chance = true;
  info.uses_start = true;
  info.uses_gold = true;
  return Method<Sets>::of<ProfileRelevance, parameters>(std::move(info));
}

SetFit ProfileRelevance::fit_with(const SetData& data, const RunContext& context, const SetStart& start,
                                  sets::Profiles& profiles) const {
  sets::HierarchicalWorkers model(data.answers.worker_count(), data.answers.class_count());
  sets::RelevanceOptions em = options_.em;
  em.profiles = options_.profiles;
  return sets::fit_relevance(data, model, em, start, "variational bound", context, &profiles);
}

SetFit ProfileRelevance::fit(const SetData& data, const RunContext& context, const SetStart& start) const {
  sets::Profiles profiles;
  return fit_with(data, context, start, profiles);
}

std::vector<double> ProfileRelevance::log_predictive(const SetData& data, std::span<const SetAnswer> answers,
                                                     const RunContext& context) const {
  sets::Profiles profiles;
  const SetFit fit = fit_with(data, context, {}, profiles);
  return sets::log_predictive(fit, profiles, answers);
}

}  // namespace wisecrowd::profile_relevance
