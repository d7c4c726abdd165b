#include "learn/auto_learner/auto_learner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::auto_learner {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Parameters parameters_of(const LearnerInfo& info, const TrainingOptions& training) {
  Parameters parameters(info.parameters);
  for (const ParameterSpec& spec : declare_parameters(training_parameters, training)) {
    parameters.set_value(spec.name, spec.default_value);
  }
  return parameters;
}

std::vector<std::string> candidates() { return {"max_mig", "aggnet", "ccem", "two_stage"}; }

Learned AutoLearner::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  std::vector<std::string> diverged;
  Learned learned = options_.combine == Options::Combine::pool
                        ? learn_pool(data, network, options_.training, context, diverged)
                        : choose(data, network, context, diverged);
  if (!diverged.empty()) {
    learned.crowd.warnings.push_back(
        {"learner_diverged",
         fmt::format("{} left the finite numbers and could not be compared", fmt::join(diverged, ", ")),
         fmt::format("lower learning_rate (it is {}).", options_.training.optimiser.learning_rate)});
  }
  return learned;
}

Learned AutoLearner::choose(const LearningData& data, const NetworkSpec& network, const RunContext& context,
                            std::vector<std::string>& diverged) const {
  std::optional<Learned> best;
  std::string chosen;
  std::vector<std::string> told;
  for (const std::string& name : candidates()) {
    if (best && (context.cancelled() || best->held_out_per_task.empty())) break;
    const LearnerInfo& info = learning_method(name);
    Learned learned;
    try {
      learned = learn(data, name, parameters_of(info, options_.training), network, context);
    } catch (const Diverged&) {
      if (!best && name == candidates().back()) throw;
      told.push_back(name + " diverged");
      diverged.push_back(name);
      continue;
    }
    if (!learned.held_out_per_task.empty()) {
      told.push_back(fmt::format("{} {:.3f}", name, mean(learned.held_out_per_task)));
    }
    if (best) {
      if (learned.held_out_per_task.size() != best->held_out_per_task.size()) continue;  // stopped on the way
      if (advantage(learned.held_out_per_task, best->held_out_per_task) <= options_.margin) continue;
    }
    best = std::move(learned);
    chosen = name;
  }
  std::string& explanation = best->crowd.explanation;
  const std::string why =
      told.size() < 2
          ? fmt::format("{}, which is preferred: nothing was held out to compare others by", chosen)
          : fmt::format(
                "{} of {}: mean log probability of all answers to a held-out task is {}; another than the first "
                "is taken only when it is better by {} standard errors",
                chosen, fmt::join(candidates(), ", "), fmt::join(told, ", "), options_.margin);
  explanation = explanation.empty() ? why : why + ". " + explanation;
  return std::move(*best);
}

namespace {

constexpr auto kCombineNames =
    enum_names<Options::Combine>({{Options::Combine::choice, "choice"}, {Options::Combine::pool, "pool"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice(
      "combine", o.combine, kCombineNames,
      "what becomes of the learners: the one that predicts held-out answers best is kept, or max_mig, ccem and "
      "crowd_layer are pooled: the weighted mean of their networks (of networks that cannot be merged, one that is "
      "trained on what they say together)");
  v.real("margin", o.margin, 0, 100,
         "combine=choice: standard errors by which a learner must be better than the one before it "
         "to take its place: chance alone does not choose");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "The learner that predicts held-out answers best";
  info.summary = fmt::format("Trains {} and keeps the one that predicts the answers to held-out tasks best.",
                             fmt::join(candidates(), ", "));
  info.when_to_use = "When you do not know how your workers err: gold is not needed to choose.";
  info.reference = "Held-out likelihood of answers; the learners have references of their own";
  info.uses_gold = true;
  info.assumptions = "Answers to tasks that were not seen tell how good a classifier is; one of the learners fits.";
  info.cost = fmt::format("the sum of its {} learners", candidates().size());
  return LearnerEntry::of<AutoLearner, parameters>(std::move(info));
}

}  // namespace wisecrowd::auto_learner
