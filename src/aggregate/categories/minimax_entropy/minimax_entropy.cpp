#include "aggregate/categories/minimax_entropy/minimax_entropy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/huge_vector.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd::minimax_entropy {
namespace {

constexpr std::size_t kWorkersPerBlock = 16;
constexpr std::size_t kTasksPerBlock = 256;
constexpr double kMostBytes = 8e9;

constexpr auto kFormNames = enum_names<TableForm>({{TableForm::categorical, "categorical"},
                                                   {TableForm::ordinal, "ordinal"},
                                                   {TableForm::ordinal_pairs, "ordinal_pairs"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("form", o.form, kFormNames,
           "categorical: any class can be taken for any other; ordinal: classes are ordered and "
           "confusions follow the order; ordinal_pairs: ordered, but freer");
  decision_parameter(v, o.decision);
  v.real("worker_penalty", o.worker_penalty, 0, 1e15,
         "how strongly the tables of workers are pulled to zero; 0 stands for classes²/4");
  v.real("task_penalty", o.task_penalty, 0, 1e15,
         "how strongly the tables of tasks are pulled to zero; 0 stands for worker_penalty × tasks / "
         "workers; a huge one switches them off");
  v.choice("class_prior", o.learn_class_prior, kClassPriorNames,
           "how frequent classes are: estimated from the data, or all the same");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no probability moves by more than this");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Minimax conditional entropy";
  info.summary = "Every answer depends on a table of its worker and a table of its task, both kept small by a penalty.";
  info.when_to_use =
      "Some tasks are misleading in their own way, and there are several answers per task; set form=ordinal when "
      "classes are ordered.";
  info.reference =
      "D. Zhou, Q. Liu, J. Platt and C. Meek, Aggregating ordinal labels from crowds by minimax conditional entropy, "
      "ICML 2014";
  info.assumptions = "The log-odds of an answer are a sum of what the worker and what the task contribute.";
  info.cost = "time S·K² exponentials per Newton step, a few of them per iteration; memory (N + M)·K²";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  return CategoryMethod::of<MinimaxEntropy, parameters>(std::move(info));
}

namespace {

/// The tables of all workers or of all tasks. Coefficients are kept apart only when they are not the tables.
class Side {
 public:
  Side(const TableBasis& basis, std::size_t count)
      : basis_(basis), cells_(basis.classes() * basis.classes()), tables_(count * cells_) {
    std::fill(tables_.begin(), tables_.end(), 0.0);
    if (!basis.is_identity()) {
      coefficients_.resize(count * basis.size());
      std::fill(coefficients_.begin(), coefficients_.end(), 0.0);
    }
  }
  [[nodiscard]] const double* table(std::size_t i) const noexcept { return tables_.data() + i * cells_; }
  /// Solves for table i and returns |u|².
  double solve(std::size_t i, std::span<const TableItem> items, TableSolver& solver, std::vector<double>& scratch) {
    double* table = tables_.data() + i * cells_;
    double* coefficients = coefficients_.data() + i * basis_.size();
    if (basis_.is_identity()) {
      scratch.assign(table, table + cells_);
      coefficients = scratch.data();
    }
    solver.solve(items, coefficients, table);
    double square = 0;
    for (std::size_t f = 0; f < basis_.size(); ++f) square += coefficients[f] * coefficients[f];
    return square;
  }

 private:
  const TableBasis& basis_;
  std::size_t cells_;
  HugeVector<double> tables_, coefficients_;
};

/// Everything that one fit works on.
class Fit {
 public:
  Fit(const CategoryData& data, const RunContext& context, const Options& options, const TableBasis& basis,
      std::vector<double> posterior, double worker_penalty, double task_penalty)
      : data_(data),
        context_(context),
        options_(options),
        basis_(basis),
        classes_(basis.classes()),
        worker_penalty_(worker_penalty),
        task_penalty_(task_penalty),
        posterior_(std::move(posterior)),
        class_prior_(classes_, 1.0 / static_cast<double>(classes_)),
        workers_(basis, data.answers.worker_count()),
        tasks_(basis, data.answers.task_count()) {}

  struct Step {
    double log_likelihood = 0;
    double objective = 0;
    double moved = 0;  // largest change of a probability
  };
  Step iterate();
  void finish(CategoryFit& result);

 private:
  [[nodiscard]] double solve_workers();
  double expect(std::size_t task, std::span<const TableItem> items, std::span<double> logs, double& moved);

  const CategoryData& data_;
  const RunContext& context_;
  const Options& options_;
  const TableBasis& basis_;
  std::size_t classes_;
  double worker_penalty_, task_penalty_;
  std::vector<double> posterior_;
  std::vector<double> class_prior_;
  Side workers_, tasks_;
};

/// Returns Σ |u_j|².
double Fit::solve_workers() {
  const CategoryAnswers& answers = data_.answers;
  const Blocks blocks{answers.worker_count(), kWorkersPerBlock};
  std::vector<double> squares(blocks.count(), 0.0);
  std::vector<std::optional<TableSolver>> solvers(context_.threads());
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    auto& solver = solvers[thread];
    if (!solver) solver.emplace(basis_, worker_penalty_);
    std::vector<TableItem> items;
    std::vector<double> scratch;
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      const WorkerId worker{static_cast<std::uint32_t>(w)};
      const auto tasks = answers.tasks_of(worker);
      const auto given = answers.answers_of(worker);
      items.resize(tasks.size());
      for (std::size_t a = 0; a < tasks.size(); ++a) {
        items[a] = {posterior_.data() + index(tasks[a]) * classes_, tasks_.table(index(tasks[a])),
                    index(answers.labels()[given[a]])};
      }
      squares[block] += workers_.solve(w, items, *solver, scratch);
    }
  });
  double sum = 0;
  for (const double square : squares) sum += square;
  return sum;
}

/// E-step of one task; returns its log-likelihood.
double Fit::expect(std::size_t task, std::span<const TableItem> items, std::span<double> logs, double& moved) {
  const double* own_prior = data_.task_priors.empty() ? nullptr : data_.task_priors.data() + task * classes_;
  double* row = posterior_.data() + task * classes_;
  const double* table = tasks_.table(task);
  double* const log_answer = logs.data() + classes_;
  double* const probabilities = log_answer + classes_;
  for (std::size_t k = 0; k < classes_; ++k) {
    logs[k] = math::log(std::max(own_prior != nullptr ? own_prior[k] : class_prior_[k], kProbabilityFloor));
  }
  for (const TableItem& item : items) {
    answer_probabilities(table, item.other, classes_, item.label, probabilities, log_answer);
    for (std::size_t k = 0; k < classes_; ++k) logs[k] += log_answer[k];
  }
  const ClassId gold = data_.gold_of(TaskId{static_cast<std::uint32_t>(task)});
  if (gold != kNoClass) return items.empty() ? 0 : logs[index(gold)];
  const double log_likelihood = softmax(logs.first(classes_));
  for (std::size_t k = 0; k < classes_; ++k) {
    moved = std::max(moved, std::abs(logs[k] - row[k]));
    row[k] = logs[k];
  }
  return items.empty() ? 0 : log_likelihood;
}

/// M-step for workers, then for each task M-step and E-step in one go.
Fit::Step Fit::iterate() {
  const CategoryAnswers& answers = data_.answers;
  if (options_.learn_class_prior) class_prior_ = mean_posterior(answers, posterior_);
  const double worker_squares = solve_workers();
  struct Part {
    double squares = 0, log_likelihood = 0, moved = 0;
  };
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  std::vector<Part> parts(blocks.count());
  std::vector<std::optional<TableSolver>> solvers(context_.threads());
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    auto& solver = solvers[thread];
    if (!solver) solver.emplace(basis_, task_penalty_);
    Part& part = parts[block];
    std::vector<TableItem> items;
    std::vector<double> scratch, logs((2 + classes_) * classes_);
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const TaskId task{static_cast<std::uint32_t>(t)};
      const auto workers = answers.workers_of(task);
      const auto labels = answers.labels_of(task);
      items.resize(workers.size());
      for (std::size_t a = 0; a < workers.size(); ++a) {
        items[a] = {posterior_.data() + t * classes_, workers_.table(index(workers[a])), index(labels[a])};
      }
      if (!items.empty()) part.squares += tasks_.solve(t, items, *solver, scratch);
      part.log_likelihood += expect(t, items, logs, part.moved);
    }
  });
  Step step;
  double task_squares = 0;
  for (const Part& part : parts) {
    step.log_likelihood += part.log_likelihood;
    step.moved = std::max(step.moved, part.moved);
    task_squares += part.squares;
  }
  step.objective = step.log_likelihood - worker_penalty_ / 2 * worker_squares - task_penalty_ / 2 * task_squares;
  return step;
}

void Fit::finish(CategoryFit& result) {
  const std::size_t cells = classes_ * classes_;
  result.class_prior = options_.learn_class_prior ? class_prior_ : mean_posterior(data_.answers, posterior_);
  result.posterior = std::move(posterior_);
  result.confusion.resize(result.worker_count * cells);
  result.skill.assign(result.worker_count, 0.0);
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    double* confusion = result.confusion.data() + w * cells;
    std::copy_n(workers_.table(w), cells, confusion);
    for (std::size_t k = 0; k < classes_; ++k) {
      softmax({confusion + k * classes_, classes_});
      result.skill[w] += result.class_prior[k] * confusion[k * classes_ + k];
    }
  }
  result.task_score_name = "difficulty";
  result.task_score.assign(result.task_count, 0.0);
  for (std::size_t t = 0; t < result.task_count; ++t) {
    const double* table = tasks_.table(t);
    double square = 0;
    for (std::size_t c = 0; c < cells; ++c) square += table[c] * table[c];
    result.task_score[t] = std::sqrt(square);
  }
}

}  // namespace

CategoryFit MinimaxEntropy::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "penalised log-likelihood";
  result.objective_is_monotone = true;
  if (result.class_count == 0) return result;
  const auto classes = static_cast<double>(result.class_count);
  const bool needs_order = options_.form != TableForm::categorical || options_.decision != Decision::mode;
  if (needs_order && result.class_count > 2 && !is_ordered(data.answers))
    refuse_unordered("this form of minimax_entropy");
  const TableBasis basis(options_.form, result.class_count);
  const double numbers = classes * classes + (basis.is_identity() ? 0.0 : static_cast<double>(basis.size()));
  const double bytes = 8 * (static_cast<double>(result.task_count + result.worker_count) * numbers +
                            static_cast<double>(context.threads()) * classes * classes * classes);
  if (bytes > kMostBytes) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("minimax_entropy keeps a {0} × {0} table for each task and worker, {1:.0f} GB here, which is "
                    "too much: use hierarchical_dawid_skene, or cut the data into parts",
                    result.class_count, bytes / 1e9));
  }

  // Means over those who take part, so that silent workers and unanswered tasks do not change the penalties.
  const auto offsets = data.answers.task_offsets();
  double answered = 0;
  for (std::size_t t = 0; t < result.task_count; ++t) answered += offsets[t + 1] > offsets[t] ? 1 : 0;
  std::vector<bool> spoke(result.worker_count);
  for (const WorkerId w : data.answers.workers()) spoke[index(w)] = true;
  const auto active = static_cast<double>(std::count(spoke.begin(), spoke.end(), true));
  const double worker_penalty = options_.worker_penalty > 0 ? options_.worker_penalty : 0.25 * classes * classes;
  const double task_penalty =
      options_.task_penalty > 0 ? options_.task_penalty : worker_penalty * (active > 0 ? answered / active : 1);

  std::vector<double> posterior = start.empty() ? vote_fractions(data, context)
                                                : std::vector<double>(start.posterior.begin(), start.posterior.end());
  pin_gold(data, posterior);
  Fit fit(data, context, options_, basis, std::move(posterior), worker_penalty, task_penalty);
  result.status = Status::iteration_limit;
  const auto started = std::chrono::steady_clock::now();
  while (result.iterations < options_.max_iterations) {
    const Fit::Step step = fit.iterate();
    ++result.iterations;
    result.trace.push_back(step.objective);
    result.log_likelihood = step.log_likelihood;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(result.iterations),
                    .total = static_cast<double>(options_.max_iterations),
                    .objective = step.objective,
                    .has_objective = true});
    if (context.cancelled()) {
      result.status = Status::cancelled;
      break;
    }
    if (step.moved <= options_.tolerance) {
      result.status = Status::converged;
      break;
    }
  }
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  result.has_log_likelihood = true;
  fit.finish(result);
  result.labels = decided_labels(result.posterior, result.class_count, options_.decision, options_.ties, context);
  result.learned = {{"worker_penalty", worker_penalty}, {"task_penalty", task_penalty}};
  if (result.status == Status::iteration_limit) {
    result.warnings.push_back(
        {"not_converged", fmt::format("stopped after {} iterations while probabilities still moved", result.iterations),
         "raise max_iterations or tolerance."});
  }
  return result;
}

}  // namespace wisecrowd::minimax_entropy
