#include "aggregate/categories/shared/confusion_em.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "aggregate/categories/shared/em_acceleration.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/assignment.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr auto kEmClassPriorNames = enum_names<EmOptions::ClassPrior>(
    {{EmOptions::ClassPrior::learned, "learned"}, {EmOptions::ClassPrior::uniform, "uniform"}});
constexpr auto kEmStartNames = enum_names<EmOptions::Start>({{EmOptions::Start::votes, "votes"},
                                                             {EmOptions::Start::majority, "majority"},
                                                             {EmOptions::Start::random, "random"}});

constexpr auto kEmAccelerationNames = enum_names<EmOptions::Acceleration>(
    {{EmOptions::Acceleration::none, "none"}, {EmOptions::Acceleration::squarem, "squarem"}});

/// The first iterations choose the hill; what they see must not be extrapolated.
constexpr std::size_t kPlainIterations = 3;

/// One run of EM from one start.
struct Trajectory {
  std::vector<double> class_prior;
  std::vector<double> trace;
  double log_likelihood = 0;
  Status status = Status::iteration_limit;
  double seconds = 0;
};

/// EM from one start: the state between two iterations, and how to move it.
class Climb {
 public:
  Climb(ConfusionPass& pass, ConfusionPass::Sums sums, CrowdModel& model, const EmOptions& options,
        const RunContext& context)
      : pass_(pass), sums_(std::move(sums)), model_(model), options_(options), context_(context) {
    path_.class_prior.resize(pass.class_count());
    log_prior_.resize(pass.class_count());
    if (options.extrapolates()) acceleration_.emplace(pass, context);
  }

  Trajectory run() {
    const auto started = std::chrono::steady_clock::now();
    path_.status = climb_to_rest(options_, context_, path_.trace, [&](std::size_t left) {
      const bool extrapolates = acceleration_ && path_.trace.size() >= kPlainIterations && model_.settled();
      return extrapolates ? accelerated(left) : EmStep{map(false)};
    });
    path_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return std::move(path_);
  }

 private:
  /// M-step and E-step. The objective is that of the state before, because an M-step from any counts makes a possible
  /// crowd.
  double map(bool note) {
    if (note) acceleration_->note_rest(model_, sums_);
    double objective = model_.prepare(pass_, context_);
    objective += update_tables(note);
    const double prior_part = model_.update_class_prior(sums_, options_, path_.class_prior, log_prior_);
    // Tasks with priors of their own do not look at the class prior, so it is no part of what is maximised.
    if (!pass_.has_task_priors()) objective += prior_part;
    pass_.set_log_prior(log_prior_);
    sums_ = pass_.sweep(true);
    path_.log_likelihood = sums_.log_likelihood;
    return objective + sums_.log_likelihood;
  }

  double update_tables(bool note) {
    std::vector<double> partial(pass_.worker_blocks(), 0.0);
    pass_.take_counts([&](std::size_t block, std::size_t worker, double* counts) {
      thread_local std::vector<double> log_rows;
      log_rows.resize(pass_.class_count() * pass_.stride());
      if (note) acceleration_->note_counts(block, worker, counts);
      partial[block] += model_.update(worker, counts, log_rows.data());
      pass_.set_log_rows(worker, log_rows.data());
    });
    double sum = 0;
    for (const double part : partial) sum += part;
    return sum;
  }

  /// A plain iteration, or one from an extrapolated state where two steps in a row are known.
  EmStep accelerated(std::size_t left) {
    if (acceleration_->states() < 2 || left < 2) return at_rest_twice(map(true));
    acceleration_->note_rest(model_, sums_);
    pass_.visit_counts([&](std::size_t block, std::size_t worker, const double* counts) {
      acceleration_->note_counts(block, worker, counts);
    });
    const double reach = acceleration_->reach();
    if (reach > 1) {
      const double objective = map_beyond(reach);
      if (objective >= path_.trace.back()) {
        acceleration_->accept(reach);
        return {objective, false};
      }
      acceleration_->reject();
    }
    EmStep step = at_rest_twice(map_beyond(1));
    step.retried = reach > 1;
    return step;
  }

  /// Parameters of the model's own creep: that a step of them gains little may mean that it was a short one, so they
  /// must be found at rest twice, with an extrapolation between.
  EmStep at_rest_twice(double objective) {
    const bool small = objective - path_.trace.back() <= options_.tolerance * std::max(std::abs(objective), 1.0);
    const bool first = small && !was_small_ && acceleration_->model_has_state();
    was_small_ = small;
    return {objective, !first};
  }

  /// The map of the state at `reach` beyond the last one.
  double map_beyond(double reach) {
    acceleration_->extrapolate_rest(reach, model_, sums_);
    pass_.read_counts_by(
        [&](std::size_t worker, double* counts) { acceleration_->extrapolate_counts(reach, worker, counts); });
    const double objective = map(false);
    pass_.read_counts_by({});
    return objective;
  }

  ConfusionPass& pass_;
  ConfusionPass::Sums sums_;
  CrowdModel& model_;
  const EmOptions& options_;
  const RunContext& context_;
  Trajectory path_;
  std::vector<double> log_prior_;
  std::optional<EmAcceleration> acceleration_;
  bool was_small_ = false;
};

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
      for (std::size_t c = 0; c < classes * pass.stride(); ++c) rows[c] = math::exp(rows[c]);
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
                     const std::function<EmStep(std::size_t left)>& iterate) {
  while (trace.size() < options.max_iterations) {
    const EmStep step = iterate(options.max_iterations - trace.size());
    if (step.retried) trace.push_back(trace.back());
    trace.push_back(step.objective);
    context.report({.stage = "iterating",
                    .done = static_cast<double>(trace.size()),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = step.objective,
                    .has_objective = true});
    if (context.cancelled()) return Status::cancelled;
    if (trace.size() == 1 || !step.plain) continue;
    const double gain = step.objective - trace[trace.size() - 2];
    if (std::abs(gain) <= options.tolerance * std::max(std::abs(step.objective), 1.0)) return Status::converged;
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
    log_prior[k] = math::log(std::max(prior[k], kProbabilityFloor));
    if (learned) objective += options.class_pseudo_count * log_prior[k];
  }
  return objective;
}

double CrowdModel::update_class_prior(const ConfusionPass::Sums& sums, const EmOptions& options,
                                      std::vector<double>& prior, std::vector<double>& log_prior) const {
  return estimate_class_prior(sums, options, prior, log_prior);
}

bool CrowdModel::estimate_table(std::size_t, double*) const { return false; }

void CrowdModel::save(std::vector<double>&) const {}

void CrowdModel::load(std::span<const double>) {}

bool CrowdModel::settled() const { return true; }

void CrowdModel::finish(CategoryFit&) const {}

void em_parameters(ParameterVisitor& v, EmOptions& o, const EmWording& wording) {
  v.choice("class_prior", o.class_prior, kEmClassPriorNames,
           "how frequent classes are: estimated from the data, or all the same");
  v.real("class_pseudo_count", o.class_pseudo_count, wording.least_class_pseudo_count, 1e9,
         wording.class_pseudo_count_help);
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when the objective changes by less than this share of its size");
  if (wording.with_acceleration) {
    v.choice("acceleration", o.acceleration, kEmAccelerationNames,
             "extrapolate EM where that raises the objective, or take plain steps alone; with tolerance=0, which asks "
             "for a number of iterations, they are always plain");
  }
  if (wording.with_starts) {
    v.choice("start", o.start, kEmStartNames,
             "the first posterior: shares of votes, the majority label, or votes mixed with random noise");
    v.integer("restarts", o.restarts, 0, 1e6, "further random starts; the one with the best objective is kept");
  }
  v.real("gold_weight", o.gold_weight, 0, 1e6, "how many ordinary tasks a task with known truth counts for");
  tie_rule_parameter(v, o.ties);
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
    Trajectory path = Climb(pass, std::move(sums), *model, options, context).run();
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
