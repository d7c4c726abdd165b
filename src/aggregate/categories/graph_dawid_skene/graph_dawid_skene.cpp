#include "aggregate/categories/graph_dawid_skene/graph_dawid_skene.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/graph_dawid_skene/smoothing.hpp"
#include "aggregate/categories/shared/fixed_smoothing.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd::graph_dawid_skene {
namespace {

constexpr std::size_t kTasksPerBlock = 1024;

constexpr auto kInferenceNames =
    enum_names<Options::Inference>({{Options::Inference::mean_field, "mean_field"}, {Options::Inference::bp, "bp"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.real("strength", o.strength, -1, 1e6,
         "how much neighbours count: the gain in log-odds of a class when all neighbours have it; -1 learns it by "
         "pseudo-likelihood, up to 20; 0 is dawid_skene");
  v.flag("normalise_weights", o.normalise_weights,
         "divide the weight of an edge by the square root of the product of its ends' degrees, so that tasks with many "
         "neighbours do not decide over all others");
  v.choice("inference", o.inference, kInferenceNames,
           "how the truths of neighbours are found together: by mean field, or by loopy belief propagation, which is "
           "exact on graphs without cycles");
  v.integer("sweeps", o.sweeps, 1, 1e6, "updates of all tasks within one iteration, unless they come to rest before");
  v.real("pseudo_count", o.pseudo_count, 0, 1e9, "answers added to every cell of every confusion table");
  v.choice("class_prior", o.learn_class_prior, kClassPriorNames,
           "how frequent classes are: estimated from the data, or all the same");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no probability moves by more than this");
  tie_rule_parameter(v, o.ties);
}

/// Everything that one fit works on.
class Fit {
 public:
  Fit(const CategoryData& data, const TaskGraph& graph, const RunContext& context, const Options& options,
      std::vector<double> posterior)
      : data_(data),
        context_(context),
        options_(options),
        field_(graph, options.normalise_weights),
        classes_(data.answers.class_count()),
        posterior_(std::move(posterior)),
        evidence_(posterior_.size()),
        fixed_(data.answers.task_count(), false),
        class_prior_(classes_, 1.0 / static_cast<double>(classes_)),
        strength_(options.strength < 0 ? 1 : options.strength) {
    for (std::size_t t = 0; t < data.gold.size(); ++t) fixed_[t] = data.gold[t] != kNoClass;
    pin_gold(data, posterior_);
  }

  struct Step {
    double objective = 0;
    double moved = 0;  // largest change of a probability
  };
  Step iterate();
  void finish(CategoryFit& result);

 private:
  [[nodiscard]] std::vector<double> log_prior() const;
  double renew_tables();
  void renew_evidence();
  [[nodiscard]] double bound() const;

  const CategoryData& data_;
  const RunContext& context_;
  const Options& options_;
  Field field_;
  std::size_t classes_;
  std::vector<double> posterior_, evidence_;
  std::vector<bool> fixed_;
  std::vector<double> class_prior_;
  WorkerTables tables_;
  double strength_;
};

/// One row for all tasks, or one for each.
std::vector<double> Fit::log_prior() const {
  std::vector<double> logs = data_.task_priors.empty() ? class_prior_ : data_.task_priors;
  for (double& p : logs) p = math::log(std::max(p, kProbabilityFloor));
  return logs;
}

/// The M-step; returns Σ pseudo-count × log th, what the pseudo-counts add to the objective.
double Fit::renew_tables() {
  tables_ = expected_counts(data_.answers, posterior_);
  tables_.add(std::vector<double>(classes_ * classes_, std::max(options_.pseudo_count, kProbabilityFloor)));
  tables_.normalise();
  double sum = 0;
  for (const double p : tables_.cells()) sum += math::log(p);
  return options_.pseudo_count * sum;
}

/// Log prior and log probability of the answers, tasks × classes.
void Fit::renew_evidence() {
  const CategoryAnswers& answers = data_.answers;
  const std::vector<double> prior = log_prior();
  std::vector<double> logs(tables_.cells().begin(), tables_.cells().end());
  for (double& p : logs) p = math::log(p);
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      double* const row = evidence_.data() + t * classes_;
      std::copy_n(prior.data() + (data_.task_priors.empty() ? 0 : t * classes_), classes_, row);
      const auto workers = answers.workers_of(TaskId(t));
      const auto labels = answers.labels_of(TaskId(t));
      for (std::size_t a = 0; a < workers.size(); ++a) {
        const double* const table = logs.data() + index(workers[a]) * classes_ * classes_ + index(labels[a]);
        for (std::size_t k = 0; k < classes_; ++k) row[k] += table[k * classes_];
      }
    }
  });
}

/// Σ q (evidence − log q) + δ Σ over edges of w q·q', the bound that mean field climbs, but for the constant of the
/// graph's own distribution.
double Fit::bound() const {
  const Blocks blocks{data_.answers.task_count(), kTasksPerBlock};
  std::vector<double> parts(blocks.count(), 0.0);
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block) * classes_; i < blocks.end(block) * classes_; ++i) {
      const double q = posterior_[i];
      if (q > 0) parts[block] += q * (evidence_[i] - math::log(q));
    }
  });
  double sum = strength_ * field_.agreement(posterior_, classes_);
  for (const double part : parts) sum += part;
  return sum;
}

Fit::Step Fit::iterate() {
  const double smoothing = renew_tables();
  if (options_.learn_class_prior) class_prior_ = mean_posterior(data_.answers, posterior_);
  if (options_.strength < 0) {
    strength_ = pseudo_likelihood_strength(field_, log_prior(), posterior_, classes_, strength_, context_);
  }
  renew_evidence();
  const std::vector<double> before = posterior_;
  const double enough = options_.tolerance / 10;
  if (options_.inference == Options::Inference::bp) {
    propagate(field_, strength_, evidence_, fixed_, options_.sweeps, enough, posterior_, context_);
  } else {
    sweep_mean_field(field_, strength_, evidence_, fixed_, options_.sweeps, enough, posterior_, context_);
  }
  Step step;
  for (std::size_t i = 0; i < before.size(); ++i) {
    step.moved = std::max(step.moved, std::abs(posterior_[i] - before[i]));
  }
  step.objective = bound() + smoothing;
  return step;
}

void Fit::finish(CategoryFit& result) {
  const std::vector<double> prior = log_prior();
  result.labels = hard_labels(posterior_, classes_, options_.ties, context_);
  // What the neighbours alone say of the label.
  result.task_score_name = "neighbour_support";
  std::vector<double> row(classes_);
  for (std::size_t t = 0; t < result.task_count; ++t) {
    field_.support(t, posterior_, row);
    for (std::size_t k = 0; k < classes_; ++k) {
      row[k] = prior[data_.task_priors.empty() ? k : t * classes_ + k] + strength_ * row[k];
    }
    softmax(row);
    result.task_score.push_back(row[index(result.labels[t])]);
  }
  result.class_prior = class_prior_;
  result.confusion = std::move(tables_).release();
  result.learned = {{"strength", strength_}, {"edges", static_cast<double>(field_.graph().edge_count())}};
  result.posterior = std::move(posterior_);
}

/// Where the graph is not looked at yet: the model of Dawid and Skene.
std::vector<double> without_graph(const CategoryData& data, const RunContext& context, const Options& options,
                                  const CategoryStart& start) {
  EmOptions em;
  em.class_prior = options.learn_class_prior ? EmOptions::ClassPrior::learned : EmOptions::ClassPrior::uniform;
  CategoryFit fit = fit_confusion_em(data, context, em, start, [&](const ConfusionPass& pass) {
    return std::make_unique<FixedSmoothing>(pass.class_count(), pass.stride(), options.pseudo_count, 0);
  });
  return std::move(fit.posterior);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Dawid–Skene on a graph of tasks";
  info.summary = "Dawid–Skene's tables, and neighbours in a graph of tasks are likely to have the same truth.";
  info.when_to_use =
      "Tasks that are linked, lie on a grid, or have features by which alike ones can be found; two or three answers "
      "per "
      "task are then enough.";
  info.reference =
      "J. Besag, On the statistical analysis of dirty pictures, J. R. Stat. Soc. B 1986 (field and pseudo-likelihood), "
      "with the tables of A. P. Dawid and A. M. Skene, 1979";
  info.assumptions =
      "Neighbours mostly have the same truth; answers are independent given the truth; workers fill their tables.";
  info.cost = "time S·K + sweeps·E·K per iteration, E edges; memory N·K + M·K² + E (bp: + E·K)";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  return CategoryMethod::of<GraphDawidSkene, parameters>(std::move(info));
}

CategoryFit GraphDawidSkene::fit(const CategoryData& data, const RunContext& context,
                                 const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  const auto graph = task_graph(data.answers);
  if (!graph) throw Error(ErrorCode::unsupported, "graph_dawid_skene needs a graph of tasks");
  if (result.class_count == 0) return result;
  const bool climbs = options_.strength >= 0 && options_.inference == Options::Inference::mean_field &&
                      !options_.learn_class_prior && data.task_priors.empty();
  result.objective_name = "evidence lower bound";
  result.objective_is_monotone = climbs;
  Fit fit(data, *graph, context, options_, without_graph(data, context, options_, start));
  const auto started = std::chrono::steady_clock::now();
  result.status = Status::iteration_limit;
  for (std::size_t i = 0; i < options_.max_iterations && result.status == Status::iteration_limit; ++i) {
    const auto step = fit.iterate();
    result.trace.push_back(step.objective);
    context.report({.stage = "iterating",
                    .done = static_cast<double>(i + 1),
                    .total = static_cast<double>(options_.max_iterations),
                    .objective = step.objective,
                    .has_objective = true});
    if (step.moved < options_.tolerance) result.status = Status::converged;
    if (context.cancelled()) result.status = Status::cancelled;
  }
  result.iterations = result.trace.size();
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  fit.finish(result);
  if (result.status == Status::iteration_limit) {
    result.warnings.push_back(
        {"not_converged", fmt::format("stopped after {} iterations while probabilities still moved", result.iterations),
         "raise max_iterations or tolerance."});
  }
  return result;
}

}  // namespace wisecrowd::graph_dawid_skene
