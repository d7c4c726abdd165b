#include "aggregate/comparisons/shared/plain_scores.hpp"

#include <chrono>
#include <cmath>

#include "aggregate/comparisons/shared/minorisation.hpp"
#include "base/linear_algebra.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kMostFeatureRounds = 200;

/// What features explain of scores, by least squares; features are centred, so that their mean explains nothing.
class FeatureModel {
 public:
  explicit FeatureModel(const ItemFeatures& features, std::size_t items)
      : centred_(static_cast<Eigen::Index>(items), static_cast<Eigen::Index>(features.names.size())) {
    for (Eigen::Index i = 0; i < centred_.rows(); ++i) {
      for (Eigen::Index f = 0; f < centred_.cols(); ++f) {
        centred_(i, f) = features.values[static_cast<std::size_t>(i * centred_.cols() + f)];
      }
    }
    for (Eigen::Index f = 0; f < centred_.cols() && centred_.rows() > 0; ++f) {
      const double mean = centred_.col(f).mean();
      centred_.col(f).array() -= mean;
    }
  }
  /// The effect of each feature; `explained` becomes what they say of each item.
  [[nodiscard]] std::vector<double> explain(const std::vector<double>& scores, std::vector<double>& explained) const {
    const Eigen::VectorXd wanted = Eigen::Map<const Eigen::VectorXd>(scores.data(), centred_.rows());
    const Eigen::VectorXd effect = least_squares(centred_, wanted);
    Eigen::Map<Eigen::VectorXd>(explained.data(), centred_.rows()) = centred_ * effect;
    return {effect.data(), effect.data() + effect.size()};
  }

 private:
  RowMatrix centred_;
};

/// Many cheap steps; their objective is not asked for. True when it has settled.
bool minorise_scores(const PlainScores& plain, const PlainOptions& options, ComparisonFit& fit,
                     const RunContext& context) {
  Minorisation steps(plain.graph, plain.wins, plain.found, fit.score);
  bool settled = false;
  while (!settled && fit.iterations < options.max_iterations && !context.cancelled()) {
    settled = steps.step(context) < options.tolerance;  // 0: all iterations are made, also after the last change
    ++fit.iterations;
  }
  fit.score = steps.scores();
  return settled;
}

}  // namespace

PlainScores fit_plain_scores(const ComparisonData& data, const PlainOptions& options, const ComparisonStart& start,
                             ComparisonFit& fit, const RunContext& context) {
  double ridge = options.ridge;
  const std::size_t max_iterations = options.max_iterations;
  const double tolerance = options.tolerance;
  PlainScores plain{ItemGraph(data.answers.pairs(), data.answers.item_count()), count_wins(data, context), {}};
  plain.found = connectivity(plain.graph, plain.wins);
  const bool features = !data.features.names.empty();
  const bool minorise = options.algorithm == Algorithm::minorisation;
  if (minorise && (ridge > 0 || features || plain.found.strong > plain.found.components)) {
    throw Error(ErrorCode::unsupported,
                "minorisation knows no prior, which a ridge, features, or items that have won or lost everything need: "
                "leave the algorithm at newton");
  }
  warn_of_connectivity(plain.found, ridge > 0 || features || minorise, kFallbackRidge, fit);
  if (!(ridge > 0) && !minorise) ridge = features ? kFeatureRidge : plain.found.strong > 1 ? kFallbackRidge : 0;
  ScorePrior prior{.ridge = ridge};
  ScoreSolver solver(plain.graph, prior, context);
  solver.set_weights(plain.wins.first, plain.wins.second);
  if (!start.empty()) fit.score.assign(start.score.begin(), start.score.end());
  fit.objective_name = ridge > 0 ? "log posterior" : "log likelihood";
  fit.objective_is_monotone = true;
  if (minorise) fit.objective_name.clear();
  const auto began = std::chrono::steady_clock::now();
  std::vector<double> explained(features ? fit.item_count : 0, 0);
  const FeatureModel model(data.features, fit.item_count);
  bool settled = minorise && minorise_scores(plain, options, fit, context);
  std::size_t rounds = 0;
  while (!minorise && !settled && fit.iterations < max_iterations && rounds++ < kMostFeatureRounds &&
         !context.cancelled()) {
    prior.mean = explained;
    solver.set_prior(prior);
    double moved = 0;
    while (fit.iterations < max_iterations && !context.cancelled()) {
      const auto progress = solver.improve(fit.score, 1, tolerance);
      ++fit.iterations;
      fit.trace.push_back(progress.objective);
      context.report({.stage = "iterating",
                      .done = static_cast<double>(fit.iterations),
                      .objective = progress.objective,
                      .has_objective = true});
      moved = std::max(moved, progress.step);
      settled = progress.converged;
      if (settled) break;
    }
    if (!features) break;
    settled = settled && rounds > 1 && moved <= std::max(tolerance, 1e-6);
    fit.feature_effect = model.explain(fit.score, explained);
  }
  fit.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() /
                              static_cast<double>(std::max<std::size_t>(fit.iterations, 1));
  fit.status = context.cancelled() ? Status::cancelled : settled ? Status::converged : Status::iteration_limit;
  ScoreSolver::Point point;
  solver.evaluate(fit.score, point);
  double penalty = 0;
  for (std::size_t i = 0; i < fit.item_count; ++i) {
    const double off = fit.score[i] - (features ? explained[i] : 0);
    penalty += ridge * off * off / 2;
  }
  fit.log_likelihood = point.objective + penalty;
  fit.has_log_likelihood = true;
  const double spread = plain_dispersion(data.answers, fit.score);
  for (double& information : point.curvature) information /= spread;
  for (std::size_t i = 0; i < explained.size(); ++i) fit.score[i] -= explained[i];
  centre_by_component(fit.score, plain.found);
  const std::vector<double> own(fit.item_count, ridge);
  rank_items(plain.graph, point.curvature, own, plain.found, fit);
  return plain;
}

}  // namespace wisecrowd::comparisons
