#include "aggregate/comparisons/crowd_bt/crowd_bt.hpp"

#include "aggregate/method.hpp"

namespace wisecrowd::crowd_bt {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("prior_right", o.prior_right, 1, 1e9, "Beta prior of a worker's reliability: the part for being reliable");
  v.real("prior_wrong", o.prior_wrong, 1, 1e9, "Beta prior of a worker's reliability: the part for not being it");
  v.real("virtual_games", o.virtual_games, 1e-9, 1e6, "wins, and losses, of every item against one of score 0");
  v.real("start_reliability", o.start_reliability, 0.5, 1, "reliability of every worker at the start");
  comparisons::interval_parameters(v, o.intervals);
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "most iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no score and no reliability changes by more");
}

}  // namespace

Method<Comparisons> method() {
  MethodInfo info;
  info.title = "Crowd-BT";
  info.summary = "Bradley–Terry scores with a reliability per worker; adversaries count the other way round.";
  info.when_to_use = "When workers differ in care, or some answer against the truth.";
  info.reference = "Chen, Bennett, Collins-Thompson and Horvitz, WSDM 2013";
  info.assumptions = "A worker errs on all pairs alike, by saying the opposite of what it would mean.";
  info.cost = "time S + P per iteration (P pairs); memory S + P";
  info.uses_gold = true;
  info.uses_start = true;
  return Method<Comparisons>::of<CrowdBt, parameters>(std::move(info));
}

ComparisonFit CrowdBt::fit(const ComparisonData& data, const RunContext& context, const ComparisonStart& start) const {
  return comparisons::fit_worker_em(data, comparisons::WorkerNoise::flips, options_, start, context);
}

std::vector<double> CrowdBt::log_predictive(const ComparisonData& data, std::span<const ComparisonAnswer> answers,
                                            const RunContext& context) const {
  return comparisons::worker_log_predictive(fit(data, context), comparisons::WorkerNoise::flips, data.answers, answers);
}

}  // namespace wisecrowd::crowd_bt
