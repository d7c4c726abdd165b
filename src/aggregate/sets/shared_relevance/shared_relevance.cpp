#include "aggregate/sets/shared_relevance/shared_relevance.hpp"

#include "aggregate/method.hpp"
#include "aggregate/sets/shared/hierarchy.hpp"

namespace wisecrowd::shared_relevance {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("class_pseudo_count", o.em.class_pseudo_count, 0, 1e9,
         "tasks with the usual share of every class that are added before these shares are estimated");
  sets::iteration_parameters(v, o.em);
}

}  // namespace

Method<Sets> method() {
  MethodInfo info;
  info.title = "Shared relevance";
  info.summary = "Every class by itself, but a worker's rates for a class are shrunk to its rates for the others.";
  info.when_to_use = "Sets with many classes, rare ones among them, or workers with few answers.";
  info.reference =
      "Hierarchical Beta–binomial rates by variational empirical Bayes, after A. P. Dawid and A. M. Skene, 1979, and "
      "H.-C. Kim and Z. Ghahramani, Bayesian classifier combination, 2012";
  info.assumptions =
      "Classes occur independently; who misses much of one class, or makes up much, does so with others, too.";
  info.cost = "time S·K per iteration, or the sum of named classes, and M·K special functions; memory N·K + M·K";
  info.uses_start = true;
  info.uses_gold = true;
  return Method<Sets>::of<SharedRelevance, parameters>(std::move(info));
}

SetFit SharedRelevance::fit(const SetData& data, const RunContext& context, const SetStart& start) const {
  sets::HierarchicalWorkers model(data.answers.worker_count(), data.answers.class_count());
  return sets::fit_relevance(data, model, options_.em, start, "variational bound", context);
}

}  // namespace wisecrowd::shared_relevance
