#include "aggregate/categories/shared/confusion_em.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "base/assignment.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

/// One run of EM from one start.
struct Trajectory {
  std::vector<double> class_prior;
  std::vector<double> trace;
  double log_likelihood = 0;
  Status status = Status::iteration_limit;
  double seconds = 0;
};

double update_tables(ConfusionPass& pass, const CrowdModel& model) {
  std::vector<double> partial(pass.worker_blocks(), 0.0);
  pass.take_counts([&](std::size_t block, std::size_t worker, double* counts) {
    thread_local std::vector<double> log_rows;
    log_rows.resize(pass.class_count() * pass.stride());
    partial[block] += model.update(worker, counts, log_rows.data());
    pass.set_log_rows(worker, log_rows.data());
  });
  double sum = 0;
  for (const double part : partial) sum += part;
  return sum;
}

Trajectory climb(ConfusionPass& pass, ConfusionPass::Sums sums, CrowdModel& model, const EmOptions& options,
                 const RunContext& context) {
  Trajectory path;
  path.class_prior.resize(pass.class_count());
  std::vector<double> log_prior(pass.class_count());
  const auto started = std::chrono::steady_clock::now();
  path.status = climb_to_rest(options, context, path.trace, [&] {
    double objective = model.prepare(pass, context);
    objective += update_tables(pass, model);
    const double prior_part = model.update_class_prior(sums, options, path.class_prior, log_prior);
    // Tasks with priors of their own do not look at the class prior, so it is no part of what is maximised.
    if (!pass.has_task_priors()) objective += prior_part;
    pass.set_log_prior(log_prior);
    sums = pass.sweep(true);
    path.log_likelihood = sums.log_likelihood;
    return objective + sums.log_likelihood;
  });
  path.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return path;
}

ConfusionPass::Sums start_counts(const CategoryData& data, ConfusionPass& pass, EmOptions::Start start,
                                 std::size_t restart, const RunContext& context) {
  if (start == EmOptions::Start::votes) return pass.sweep_votes();
  return pass.sweep_given(start_posterior(data, start, restart, context));
}

std::vector<double> confusion_tables(const ConfusionPass& pass, const CrowdModel& model) {
  const std::size_t classes = pass.class_count();
  std::vector<double> confusion(pass.worker_count() * classes * classes);
  pass.visit_counts([&](std::size_t, std::size_t w, double* rows) {
    if (!model.estimate_table(w, rows)) {
      pass.log_rows(w, rows);
      for (std::size_t c = 0; c < classes * pass.stride(); ++c) rows[c] = std::exp(rows[c]);
    }
    double* table = confusion.data() + w * classes * classes;
    for (std::size_t l = 0; l < classes; ++l) {
      for (std::size_t k = 0; k < classes; ++k) table[k * classes + l] = rows[l * pass.stride() + k];
    }
    for (std::size_t k = 0; k < classes; ++k) normalise({table + k * classes, classes});
  });
  return confusion;
}

}  // namespace

Status climb_to_rest(const EmOptions& options, const RunContext& context, std::vector<double>& trace,
                     const std::function<double()>& iterate) {
  for (std::size_t iteration = 0; iteration < options.max_iterations; ++iteration) {
    const double objective = iterate();
    trace.push_back(objective);
    context.report({.stage = "iterating",
                    .done = static_cast<double>(iteration + 1),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = objective,
                    .has_objective = true});
    if (context.cancelled()) return Status::cancelled;
    if (iteration == 0) continue;
    const double gain = objective - trace[iteration - 1];
    if (std::abs(gain) <= options.tolerance * std::max(std::abs(objective), 1.0)) return Status::converged;
  }
  return Status::iteration_limit;
}

std::vector<double> start_posterior(const CategoryData& data, EmOptions::Start start, std::size_t restart,
                                    const RunContext& context) {
  std::vector<double> posterior = vote_fractions(data, context);
  const std::size_t classes = data.answers.class_count();
  if (start == EmOptions::Start::majority) {
    const auto labels = hard_labels(posterior, classes, TieRule::lowest, context);
    std::fill(posterior.begin(), posterior.end(), 0.0);
    for (std::size_t t = 0; t < labels.size(); ++t) posterior[t * classes + index(labels[t])] = 1;
  } else if (start == EmOptions::Start::random) {
    // Half the vote, half a uniform draw from the simplex: far enough to reach other optima, near enough to keep the
    // basin in which most workers are better than chance.
    const Rng stream = context.rng("restart", restart);
    const Blocks blocks{data.answers.task_count(), 4096};
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      Rng rng = stream.fork("block", block);
      const std::vector<double> flat(classes, 1.0);
      std::vector<double> draw(classes);
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
        rng.dirichlet(flat, draw);
        for (std::size_t k = 0; k < classes; ++k) {
          posterior[t * classes + k] = 0.5 * posterior[t * classes + k] + 0.5 * draw[k];
        }
      }
    });
  }
  return posterior;
}

Warning not_converged_warning(std::size_t iterations) {
  return {"not_converged", fmt::format("stopped after {} iterations before the objective stood still", iterations),
          "raise max_iterations or tolerance if the labels matter to the last digit."};
}

void warn_if_flipped(const CategoryData& data, CategoryFit& result) {
  const std::size_t classes = result.class_count;
  if (classes < 2) return;
  std::vector<double> joint(classes * classes, 0.0);
  const auto offsets = data.answers.task_offsets();
  const auto labels = data.answers.labels();
  for (std::size_t t = 0; t < result.task_count; ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      for (std::size_t k = 0; k < classes; ++k) {
        joint[k * classes + index(labels[a])] += result.posterior[t * classes + k];
      }
    }
  }
  const auto best = best_assignment(joint, classes);
  double own = 0, other = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    own += joint[k * classes + k];
    other += joint[k * classes + best[k]];
  }
  if (other > own * (1 + 1e-9)) {
    result.warnings.push_back(
        {"flipped_solution",
         "another naming of the classes would agree better with the answers than this solution: it may be flipped.",
         "Give some gold, or compare with majority_vote.", Severity::serious});
  }
}

double CrowdModel::prepare(const ConfusionPass&, const RunContext&) { return 0; }

double estimate_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options, std::vector<double>& prior,
                            std::vector<double>& log_prior) {
  const std::size_t classes = prior.size();
  const bool learned = options.class_prior == EmOptions::ClassPrior::learned;
  for (std::size_t k = 0; k < classes; ++k) prior[k] = learned ? sums.class_mass[k] + options.class_pseudo_count : 1.0;
  normalise(prior);
  double objective = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    log_prior[k] = std::log(std::max(prior[k], kProbabilityFloor));
    if (learned) objective += options.class_pseudo_count * log_prior[k];
  }
  return objective;
}

double CrowdModel::update_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options,
                                      std::vector<double>& prior, std::vector<double>& log_prior) const {
  return estimate_class_prior(sums, options, prior, log_prior);
}

bool CrowdModel::estimate_table(std::size_t, double*) const { return false; }

void CrowdModel::finish(CategoryFit&) const {}

std::vector<ParameterSpec> em_parameters(const EmOptions& defaults) {
  return {
      ParameterSpec::choice("class_prior", "learned", {"learned", "uniform"},
                            "how frequent classes are: estimated from the data, or all the same"),
      ParameterSpec::real("class_pseudo_count", defaults.class_pseudo_count, 0, 1e9,
                          "tasks added to every class before the class prior is estimated"),
      ParameterSpec::integer("max_iterations", static_cast<std::int64_t>(defaults.max_iterations), 1, 1e9,
                             "give up after this many iterations"),
      ParameterSpec::real("tolerance", defaults.tolerance, 0, 1,
                          "stop when the objective changes by less than this share of its size"),
      ParameterSpec::choice(
          "start", "votes", {"votes", "majority", "random"},
          "the first posterior: shares of votes, the majority label, or votes mixed with random noise"),
      ParameterSpec::integer("restarts", static_cast<std::int64_t>(defaults.restarts), 0, 1e6,
                             "further random starts; the one with the best objective is kept"),
      ParameterSpec::real("gold_weight", defaults.gold_weight, 0, 1e6,
                          "how many ordinary tasks a task with known truth counts for"),
      tie_rule_parameter(),
  };
}

EmOptions em_options_from(const Parameters& parameters) {
  EmOptions options;
  options.class_prior =
      parameters.choice("class_prior") == "uniform" ? EmOptions::ClassPrior::uniform : EmOptions::ClassPrior::learned;
  options.class_pseudo_count = parameters.real("class_pseudo_count");
  options.max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations"));
  options.tolerance = parameters.real("tolerance");
  options.start = parameters.choice("start") == "votes"      ? EmOptions::Start::votes
                  : parameters.choice("start") == "majority" ? EmOptions::Start::majority
                                                             : EmOptions::Start::random;
  options.restarts = static_cast<std::size_t>(parameters.integer("restarts"));
  options.gold_weight = parameters.real("gold_weight");
  options.ties = tie_rule_from(parameters.choice("ties"));
  return options;
}

CategoryFit fit_confusion_em(const CategoryData& data, const RunContext& context, const EmOptions& options,
                             const CategoryStart& given,
                             const std::function<std::unique_ptr<CrowdModel>(const ConfusionPass& pass)>& make_model) {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options.ties;
  result.objective_name = "log posterior";
  result.objective_is_monotone = true;
  result.has_log_likelihood = true;
  if (result.class_count == 0) return result;

  ConfusionPass pass(data, context, options.gold_weight);
  std::size_t iterations = 0;
  double seconds = 0;
  bool have_best = false;
  for (std::size_t restart = 0; restart <= options.restarts; ++restart) {
    if (restart > 0) {
      if (context.cancelled()) break;
      pass.take_counts([](std::size_t, std::size_t, double*) {});  // what the last sweep has left
    }
    const auto start = restart == 0 ? options.start : EmOptions::Start::random;
    const auto model = make_model(pass);
    auto sums = restart == 0 && !given.empty() ? pass.sweep_given(given.posterior)
                                               : start_counts(data, pass, start, restart, context);
    Trajectory path = climb(pass, std::move(sums), *model, options, context);
    iterations += path.trace.size();
    seconds += path.seconds;
    if (have_best && path.trace.back() <= result.trace.back()) continue;
    have_best = true;
    result.trace = std::move(path.trace);
    result.class_prior = std::move(path.class_prior);
    result.log_likelihood = path.log_likelihood;
    result.status = path.status;
    result.learned.clear();
    if (options.restarts > 0) result.learned.emplace_back("best_start", static_cast<double>(restart));
    result.posterior.resize(result.task_count * result.class_count);
    pass.sweep(false, result.posterior);
    result.confusion = confusion_tables(pass, *model);
    model->finish(result);
  }
  result.iterations = result.trace.size();
  result.seconds_per_iteration = iterations > 0 ? seconds / static_cast<double>(iterations) : 0;

  result.labels = hard_labels(result.posterior, result.class_count, options.ties, context);
  warn_if_flipped(data, result);
  if (result.status == Status::iteration_limit) result.warnings.push_back(not_converged_warning(result.iterations));
  return result;
}

}  // namespace wisecrowd
