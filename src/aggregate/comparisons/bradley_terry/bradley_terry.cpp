#include "aggregate/comparisons/bradley_terry/bradley_terry.hpp"

#include "aggregate/method.hpp"
#include "data/pair_labels.hpp"

namespace wisecrowd::bradley_terry {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("ridge", o.ridge, 0, 1e6,
         "precision of a normal prior of the scores; 0: none, unless no finite scores are the most probable ones");
  comparisons::interval_parameters(v, o.intervals);
  v.choice("algorithm", o.algorithm, comparisons::kAlgorithmNames,
           "Newton's method, or the many small steps of minorisation–maximisation (raise max_iterations)");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "most steps");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no score changes by more");
}

}  // namespace

Method<Comparisons> method() {
  MethodInfo info;
  info.title = "Bradley–Terry";
  info.summary = "Scores whose differences are log odds of winning; every worker counts the same.";
  info.when_to_use = "As a baseline, for workers of about equal care, or when it must be comparable with leaderboards.";
  info.reference = "Bradley and Terry, Biometrika 39 (1952); Hunter, Annals of Statistics 32 (2004)";
  info.assumptions = "Items lie on one line, and who wins depends on the distance alone; a tie is half a win for each.";
  info.cost = "time P per step (P pairs; N³ for up to 400 items); memory P";
  info.uses_gold = true;
  info.uses_start = true;
  return Method<Comparisons>::of<BradleyTerry, parameters>(std::move(info));
}

ComparisonFit BradleyTerry::fit(const ComparisonData& data, const RunContext& context,
                                const ComparisonStart& start) const {
  ComparisonFit fit = comparisons::start_comparison_fit(data);
  const comparisons::PlainScores plain = comparisons::fit_plain_scores(
      data, {options_.ridge, options_.algorithm, options_.max_iterations, options_.tolerance}, start, fit, context);
  if (fit.status != Status::cancelled && options_.intervals.intervals == comparisons::Intervals::bootstrap &&
      !comparisons::bootstrap_ranking(data, plain.graph, plain.found, options_.intervals, options_.ridge, fit,
                                      context)) {
    fit.status = Status::cancelled;
  }
  comparisons::label_pairs(data, fit, context);
  return fit;
}

}  // namespace wisecrowd::bradley_terry
