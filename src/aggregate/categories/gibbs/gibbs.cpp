#include "aggregate/categories/gibbs/gibbs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/gibbs/samplers.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::gibbs {
namespace {

/// Potential scale reduction beyond which a task's probability is not settled, and the share of such tasks that passes.
constexpr double kSettled = 1.05;
constexpr double kUnsettledShare = 0.01;

/// Potential scale reduction of the indicators z_i = k over half-chains, with Rao–Blackwellised means: within-variance
/// m(1 − m), between-variance that of the means. Fills the largest of each task.
std::vector<double> scale_reduction(const Problem& problem, const std::vector<Chain>& chains) {
  std::vector<double> largest(problem.tasks, 1.0);
  for (std::size_t t = 0; t < problem.tasks; ++t) {
    if (!problem.answered(t) || problem.is_gold(t)) continue;
    for (std::size_t k = 0; k < problem.classes; ++k) {
      double count = 0, sum = 0, squares = 0, within = 0, draws = 0;
      for (const Chain& chain : chains) {
        for (std::size_t half = 0; half < 2; ++half) {
          if (chain.kept[half] == 0) continue;
          const auto kept = static_cast<double>(chain.kept[half]);
          const double mean = std::min(chain.sums[half][t * problem.classes + k] / kept, 1.0);
          count += 1;
          sum += mean;
          squares += mean * mean;
          within += mean * (1 - mean);
          draws += kept;
        }
      }
      if (count < 2) continue;
      const double between = std::max((squares - sum * sum / count) / (count - 1), 0.0);
      within = std::max(within / count, 1e-9);
      const double length = draws / count;
      largest[t] = std::max(largest[t], std::sqrt((length - 1) / length + between / within));
    }
  }
  return largest;
}

/// Averages the chains into the result.
void summarise(const Problem& problem, const std::vector<Chain>& chains, CategoryFit& result) {
  const std::size_t classes = problem.classes;
  result.posterior.assign(problem.tasks * classes, 0.0);
  result.posterior_is_averaged = true;
  result.confusion.assign(problem.workers * classes * classes, 0.0);
  result.class_prior.assign(classes, 0.0);
  std::size_t shortest = chains[0].trace.size();
  for (const Chain& chain : chains) {
    for (const auto& sums : chain.sums) {
      for (std::size_t e = 0; e < sums.size(); ++e) result.posterior[e] += sums[e];
    }
    for (std::size_t e = 0; e < chain.tables.size(); ++e) result.confusion[e] += chain.tables[e];
    for (std::size_t k = 0; k < classes; ++k) result.class_prior[k] += chain.class_prior[k];
    shortest = std::min(shortest, chain.trace.size());
  }
  normalise(result.class_prior);
  for (std::size_t r = 0; r < result.confusion.size(); r += classes) {
    normalise(std::span(result.confusion).subspan(r, classes));
  }
  for (std::size_t t = 0; t < problem.tasks; ++t) {
    const auto row = std::span(result.posterior).subspan(t * classes, classes);
    if (!problem.answered(t) && !problem.is_gold(t)) {
      const auto own = problem.data.task_priors.empty()
                           ? std::span<const double>(result.class_prior)
                           : std::span(problem.data.task_priors).subspan(t * classes, classes);
      std::copy(own.begin(), own.end(), row.begin());
    }
    normalise(row);
  }
  result.trace.assign(shortest, 0.0);
  for (const Chain& chain : chains) {
    for (std::size_t s = 0; s < shortest; ++s) result.trace[s] += chain.trace[s] / static_cast<double>(chains.size());
  }
  result.iterations = shortest;
}

}  // namespace

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Gibbs sampling";
  info.summary = "Draws from the posterior of Bayesian Dawid–Skene instead of approximating it.";
  info.when_to_use =
      "When probabilities matter and not only labels: few answers, where mean field and EM are too sure of themselves. "
      "Slower by the number of sweeps.";
  info.reference =
      "H.-C. Kim and Z. Ghahramani, Bayesian classifier combination, 2012; A. Gelman and D. Rubin, Inference from "
      "iterative simulation, 1992";
  info.assumptions = "Answers are independent given the truth; the prior of the tables fits the crowd.";
  info.cost =
      "time S·K per sweep and chain (collapsed), and M·K² random draws (uncollapsed); memory chains·(3·N·K + 2·M·K²)";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_chance = true;
  info.allows_repeats = false;
  info.parameters = {
      ParameterSpec::choice("sampler", "collapsed", {"collapsed", "uncollapsed"},
                            "collapsed draws one task after the other with all tables integrated out and mixes fast, "
                            "chains in parallel; uncollapsed draws tables too and runs each chain on all cores"),
      ParameterSpec::integer("chains", static_cast<std::int64_t>(defaults.chains), 1, 1000,
                             "independent chains; the first starts at the majority, the others at draws from the vote"),
      ParameterSpec::integer("burn_in", static_cast<std::int64_t>(defaults.burn_in), 0, 1e9,
                             "sweeps that are thrown away while a chain forgets its start"),
      ParameterSpec::integer("sweeps", static_cast<std::int64_t>(defaults.sweeps), 1, 1e9,
                             "sweeps per chain after that"),
      ParameterSpec::integer("thin", static_cast<std::int64_t>(defaults.thin), 1, 1e6,
                             "keep every n-th sweep; saves time, never improves the estimate"),
      ParameterSpec::real("diagonal_prior", defaults.diagonal_prior, 1e-3, 1e9,
                          "Dirichlet parameter of the right answer in every row of every table"),
      ParameterSpec::real("off_diagonal_prior", defaults.off_diagonal_prior, 1e-3, 1e9,
                          "Dirichlet parameter of each wrong answer"),
      ParameterSpec::choice("class_prior", "learned", {"learned", "uniform"},
                            "how frequent classes are: drawn along, or all the same"),
      ParameterSpec::real("class_pseudo_count", defaults.class_pseudo_count, 1e-3, 1e9,
                          "Dirichlet parameter of every class"),
      ParameterSpec::choice("align", "automatic", {"automatic", "always", "never"},
                            "rename the classes of a draw so that it agrees with those before: automatic does so only "
                            "where the prior cannot tell classes apart, since elsewhere renaming distorts the result"),
      tie_rule_parameter(),
  };
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  const auto whole = [&](std::string_view name) { return static_cast<std::size_t>(parameters.integer(name)); };
  Options options;
  options.sampler =
      parameters.choice("sampler") == "collapsed" ? Options::Sampler::collapsed : Options::Sampler::uncollapsed;
  options.chains = whole("chains");
  options.burn_in = whole("burn_in");
  options.sweeps = whole("sweeps");
  options.thin = whole("thin");
  options.diagonal_prior = parameters.real("diagonal_prior");
  options.off_diagonal_prior = parameters.real("off_diagonal_prior");
  options.class_pseudo_count = parameters.real("class_pseudo_count");
  options.learn_class_prior = parameters.choice("class_prior") == "learned";
  options.align = parameters.choice("align") == "automatic" ? Options::Align::automatic
                  : parameters.choice("align") == "always"  ? Options::Align::always
                                                            : Options::Align::never;
  options.ties = tie_rule_from(parameters.choice("ties"));
  return std::make_unique<Gibbs>(options);
}

CategoryFit Gibbs::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  if (result.class_count == 0) return result;
  result.objective_name = "mean log joint probability of the chains";

  const Problem problem(data, options_);
  std::vector<double> first = start.empty() ? vote_fractions(data, context)
                                            : std::vector<double>(start.posterior.begin(), start.posterior.end());
  pin_gold(data, first);
  const bool symmetric =
      options_.diagonal_prior == options_.off_diagonal_prior && data.task_priors.empty() && !data.has_gold();
  const bool align =
      options_.align == Options::Align::always || (options_.align == Options::Align::automatic && symmetric);

  std::vector<Chain> chains(options_.chains);
  const auto started = std::chrono::steady_clock::now();
  if (options_.sampler == Options::Sampler::collapsed) {
    run_collapsed(problem, chains, align, first, context);
  } else {
    run_uncollapsed(problem, chains, align, first, context);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  summarise(problem, chains, result);
  std::size_t sweeps = 0, relabelled = 0;
  for (const Chain& chain : chains) {
    sweeps += chain.trace.size();
    relabelled += chain.relabelled;
  }
  result.seconds_per_iteration = seconds / static_cast<double>(sweeps);
  result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);

  const auto reduction = scale_reduction(problem, chains);
  double worst = 1;
  std::size_t unsettled = 0;
  for (const double r : reduction) {
    worst = std::max(worst, r);
    unsettled += r > kSettled ? 1 : 0;
  }
  result.learned.emplace_back("largest_r_hat", worst);
  result.learned.emplace_back("unsettled_tasks", static_cast<double>(unsettled));
  if (align) result.learned.emplace_back("relabelled_draws", static_cast<double>(relabelled));
  const bool settled = static_cast<double>(unsettled) <= kUnsettledShare * static_cast<double>(result.task_count);
  result.status = context.cancelled() ? Status::cancelled : settled ? Status::converged : Status::iteration_limit;
  if (result.status == Status::iteration_limit) {
    result.warnings.push_back(
        {"chains_disagree",
         fmt::format("the chains disagree on {} of {} tasks (R-hat above {}, the largest is {:.2f})", unsettled,
                     result.task_count, kSettled, worst),
         "raise sweeps and burn_in, or strengthen the prior if they sit in different solutions."});
  }
  return result;
}

}  // namespace wisecrowd::gibbs
