#include "aggregate/comparisons/noisy_bradley_terry/noisy_bradley_terry.hpp"

#include "aggregate/method.hpp"

namespace wisecrowd::noisy_bradley_terry {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("prior_right", o.prior_right, 1, 1e9, "Beta prior of a worker's reliability: the part for being reliable");
  v.real("prior_wrong", o.prior_wrong, 1, 1e9, "Beta prior of a worker's reliability: the part for not being it");
  v.real("virtual_games", o.virtual_games, 1e-9, 1e6, "wins, and losses, of every item against one of score 0");
  v.real("side_prior", o.side_prior, 1e-6, 1e6, "guesses of either side that are added to a worker's own");
  v.real("start_reliability", o.start_reliability, 0.5, 1, "reliability of every worker at the start");
  comparisons::interval_parameters(v, o.intervals);
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "most iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no score and no reliability changes by more");
}

}  // namespace

Method<Comparisons> method() {
  MethodInfo info;
  info.title = "Noisy Bradley–Terry";
  info.summary = "Bradley–Terry scores with workers who now and then guess, and prefer a side when they do.";
  info.when_to_use = "When some workers click on one side without looking.";
  info.reference = "crowd-kit's NoisyBradleyTerry, with its gradient corrected";
  info.assumptions = "A worker either answers by the scores, or names a side whatever the items are.";
  info.cost = "time S + P per iteration (P pairs); memory S + P";
  info.uses_gold = true;
  info.uses_start = true;
  return Method<Comparisons>::of<NoisyBradleyTerry, parameters>(std::move(info));
}

ComparisonFit NoisyBradleyTerry::fit(const ComparisonData& data, const RunContext& context,
                                     const ComparisonStart& start) const {
  return comparisons::fit_worker_em(data, comparisons::WorkerNoise::guesses, options_, start, context);
}

std::vector<double> NoisyBradleyTerry::log_predictive(const ComparisonData& data,
                                                      std::span<const ComparisonAnswer> answers,
                                                      const RunContext& context) const {
  return comparisons::worker_log_predictive(fit(data, context), comparisons::WorkerNoise::guesses, data.answers,
                                            answers);
}

}  // namespace wisecrowd::noisy_bradley_terry
