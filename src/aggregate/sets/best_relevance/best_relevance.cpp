#include "aggregate/sets/best_relevance/best_relevance.hpp"

#include <fmt/core.h>

#include "aggregate/method.hpp"
#include "wisecrowd/held_out.hpp"

namespace wisecrowd::best_relevance {
namespace {

constexpr double kHiddenShare = 0.1;
constexpr int kIterationsToJudge = 60;

void parameters(ParameterVisitor& v, Options& o) {
  v.real("evidence", o.evidence, 0, 100,
         "by how many standard errors another method must predict hidden answers better to be taken");
  v.integer("folds", o.folds, 0, 10,
            "how often a tenth of the answers is hidden; 0: shared_relevance is taken untried");
  v.integer("most_profiles", o.most_profiles, 1, 1000, "profiles of tasks that are tried at most: 2, 4, 8 …");
  v.integer("most_answers", o.most_answers, 100, 1e9,
            "answers that the choice is made on; of larger data a sample of tasks");
  sets::set_parameters(v, o.sets);
}

}  // namespace

Method<Sets> method() {
  MethodInfo info;
  info.title = "Best relevance";
  info.summary = "Shared relevance, or the method for sets that predicts hidden answers better.";
  info.when_to_use = "The default for sets.";
  info.reference = "src/aggregate/sets/best_relevance/METHOD.md";
  info.assumptions = "What predicts hidden answers better describes workers and classes better.";
  info.cost = "one fit, and a few of shared_relevance and profile_relevance to a sample for each fold";
  info.uses_chance = true;
  info.uses_gold = true;
  return Method<Sets>::of<BestRelevance, parameters>(std::move(info));
}

std::unique_ptr<SetAggregator> BestRelevance::make(const std::string& name, std::size_t profiles, bool to_judge) const {
  Parameters chosen(method_of<Sets>(name).parameters);
  // What a method foretells is settled long before its objective stands still.
  if (to_judge) chosen.set("max_iterations", fmt::format("{}", kIterationsToJudge));
  chosen.set("threshold", fmt::format("{}", options_.sets.threshold));
  chosen.set("candidates", std::string(name_in(sets::kCandidatesNames, options_.sets.candidates)));
  if (name == "profile_relevance") chosen.set("profiles", fmt::format("{}", profiles));
  return make_method<Sets>(name, chosen);
}

BestRelevance::Choice BestRelevance::choose(const SetData& data, const RunContext& context) const {
  Choice choice{make("shared_relevance", 1, false), "", 1};
  if (options_.folds == 0 || data.answers.answer_count() == 0) return choice;
  const SetData sampled = sampled_tasks<Sets>(data, options_.most_answers, context);
  const HeldOut<Sets> held_out(sampled, {.folds = options_.folds, .share = kHiddenShare}, context);
  if (held_out.hidden_count() == 0) {
    choice.explanation = "shared_relevance: each task has one answer, so none can be hidden to try other methods.";
    return choice;
  }
  std::vector<double> best = held_out.log_probabilities(*make("shared_relevance", 1, true), context);
  choice.explanation = "shared_relevance: no other method predicts hidden answers better";
  double highest = 0;
  const auto try_method = [&](const std::string& name, std::size_t profiles) {
    if (context.cancelled()) return false;
    std::vector<double> logs = held_out.log_probabilities(*make(name, profiles, true), context);
    if (context.cancelled() || logs.size() != best.size()) return false;
    const double z = held_out.z_score(logs, best);
    if (z < options_.evidence) {
      highest = std::max(highest, z);
      return false;
    }
    choice = {make(name, profiles, false),
              fmt::format("{}{}: it predicts hidden answers better than what is simpler (z = {:.1f}, "
                          "threshold {:g}).",
                          name, profiles > 1 ? fmt::format(" with {} profiles", profiles) : "", z, options_.evidence),
              static_cast<double>(profiles)};
    best = std::move(logs);
    return true;
  };
  (void)try_method("binary_relevance", 1);
  for (std::size_t profiles = 2; profiles <= options_.most_profiles; profiles *= 2) {
    if (!try_method("profile_relevance", profiles)) break;
  }
  if (choice.explanation.ends_with("better")) {
    choice.explanation += fmt::format(" (z = {:.1f}, threshold {:g}).", highest, options_.evidence);
  }
  return choice;
}

SetFit BestRelevance::fit(const SetData& data, const RunContext& context, const SetStart&) const {
  const Choice choice = choose(data, context);
  SetFit fit = choice.method->fit(data, context);
  fit.explanation = choice.explanation;
  fit.learned.emplace_back("profiles", choice.profiles);
  if (context.cancelled()) fit.status = Status::cancelled;
  return fit;
}

std::vector<double> BestRelevance::log_predictive(const SetData& data, std::span<const SetAnswer> answers,
                                                  const RunContext& context) const {
  return choose(data, context).method->log_predictive(data, answers, context);
}

}  // namespace wisecrowd::best_relevance
