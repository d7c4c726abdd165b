#include "aggregate/categories/pgd/pgd.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/categories/shared/worker_links.hpp"
#include "aggregate/method.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::pgd {
namespace {

constexpr double kFirstSkill = 0.5;
constexpr double kFirstStep = 0.5;
constexpr double kLargestStep = 1;
constexpr double kSmallestStep = 1e-10;
constexpr std::size_t kTasksPerBlock = 2048;
constexpr std::size_t kWorkersPerBlock = 64;

/// f(s) = Σ_{j<j'} n_jj' (C_jj' − s_j s_j')² without its constant, and its gradient. With
/// φ(y) = √(K/(K−1)) (e_y − 1/K), n_jj' C_jj' = Σ_i <φ(y_ij), φ(y_ij')>, so all sums over pairs are squares of sums
/// over workers: one look at each answer, and no list of pairs.
class Agreement {
 public:
  Agreement(const CategoryData& data, const RunContext& context)
      : data_(data),
        context_(context),
        classes_(data.answers.class_count()),
        scale_(static_cast<double>(classes_) / static_cast<double>(classes_ - 1)),
        votes_(data.answers.task_count() * classes_),
        squares_(data.answers.task_count()) {}

  /// Fills the sums per task and returns f.
  double evaluate(const std::vector<double>& skill);
  /// With the sums of the last evaluation: for worker j the downhill direction, Σ_j' n (C − s s') s_j', and the
  /// curvature Σ_j' n s_j'².
  struct Slope {
    double downhill, curvature;
  };
  [[nodiscard]] Slope slope(std::size_t worker, const std::vector<double>& skill) const;

 private:
  const CategoryData& data_;
  const RunContext& context_;
  std::size_t classes_;
  double scale_;
  std::vector<double> votes_;    // H_i[l]: skill behind each label, gold with skill 1
  std::vector<double> squares_;  // B_i: Σ s²
};

double Agreement::evaluate(const std::vector<double>& skill) {
  const CategoryAnswers& answers = data_.answers;
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  std::vector<double> parts(blocks.count(), 0.0);
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    double sum = 0;
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const TaskId task{static_cast<std::uint32_t>(t)};
      const auto workers = answers.workers_of(task);
      const auto labels = answers.labels_of(task);
      double* votes = votes_.data() + t * classes_;
      std::fill_n(votes, classes_, 0.0);
      double total = 0, square = 0, fourth = 0;
      const auto add = [&](ClassId label, double s) {
        votes[index(label)] += s;
        total += s;
        square += s * s;
        fourth += s * s * s * s;
      };
      for (std::size_t a = 0; a < workers.size(); ++a) add(labels[a], skill[index(workers[a])]);
      if (data_.gold_of(task) != kNoClass) add(data_.gold_of(task), 1);
      double squared_votes = 0;
      for (std::size_t l = 0; l < classes_; ++l) squared_votes += votes[l] * votes[l];
      const double agreement = scale_ * (squared_votes - total * total / static_cast<double>(classes_)) - square;
      sum += (square * square - fourth) / 2 - agreement;
      // What a worker sees: agreement with the rest, the mean of all votes taken off.
      for (std::size_t l = 0; l < classes_; ++l) {
        votes[l] = scale_ * (votes[l] - total / static_cast<double>(classes_));
      }
      squares_[t] = square;
    }
    parts[block] = sum;
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

Agreement::Slope Agreement::slope(std::size_t worker, const std::vector<double>& skill) const {
  const CategoryAnswers& answers = data_.answers;
  const WorkerId id{static_cast<std::uint32_t>(worker)};
  const auto tasks = answers.tasks_of(id);
  const auto given = answers.answers_of(id);
  const double s = skill[worker];
  double agreement = 0, curvature = 0;
  for (std::size_t a = 0; a < tasks.size(); ++a) {
    agreement += votes_[index(tasks[a]) * classes_ + index(answers.labels()[given[a]])] - s;
    curvature += std::max(squares_[index(tasks[a])] - s * s, 0.0);
  }
  return {agreement - s * curvature, curvature};
}

/// s from a posterior: the expected accuracy, rescaled.
std::vector<double> skills_from(std::span<const double> posterior, const CategoryAnswers& answers) {
  const auto classes = static_cast<double>(answers.class_count());
  std::vector<double> skill(answers.worker_count(), kFirstSkill);
  for (std::uint32_t w = 0; w < skill.size(); ++w) {
    const auto tasks = answers.tasks_of(WorkerId{w});
    const auto given = answers.answers_of(WorkerId{w});
    double right = 0;
    for (std::size_t a = 0; a < tasks.size(); ++a) {
      right += posterior[index(tasks[a]) * answers.class_count() + index(answers.labels()[given[a]])];
    }
    if (!tasks.empty()) skill[w] = (classes * right / static_cast<double>(tasks.size()) - 1) / (classes - 1);
  }
  return skill;
}

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many gradient steps");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no skill moves by more than this");
  tie_rule_parameter(v, o.ties);
}

/// A gradient step measured by each worker's own curvature D_j = Σ n s², projected onto the box; shorter until f falls
/// by what the bound f(s) + g·d + |d|²_D / (2 length) promises. Returns how far the skill went that moved most.
double descend(Agreement& agreement, std::span<const Agreement::Slope> slopes, double lowest,
               std::vector<double>& skill, std::vector<double>& next, double& error, double& length) {
  for (;; length /= 2) {
    double promised = 0, moved = 0;
    for (std::size_t w = 0; w < skill.size(); ++w) {
      const auto [downhill, curvature] = slopes[w];
      next[w] = skill[w];
      if (!(curvature > 1e-12)) continue;
      next[w] = std::clamp(skill[w] + length * downhill / curvature, lowest, 1.0);
      const double step = next[w] - skill[w];
      promised += -2 * downhill * step + curvature * step * step / length;
      moved = std::max(moved, std::abs(step));
    }
    const double reached = agreement.evaluate(next);
    if (!(reached <= error + promised) && length >= kSmallestStep) continue;
    if (reached <= error) {
      skill.swap(next);
      error = reached;
    } else {
      agreement.evaluate(skill);
    }
    return moved;
  }
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Projected gradient on agreements";
  info.summary = "One skill per worker, fitted to how often pairs of workers agree; then a vote weighted by log-odds.";
  info.when_to_use = "Workers who err alike on all classes, any number of classes; fast and without EM's local optima.";
  info.reference =
      "Y. Ma, A. Olshevsky, V. Saligrama and C. Szepesvari, Gradient descent for sparse rank-one matrix completion for "
      "crowd-sourced aggregation of sparsely interacting workers, ICML 2018";
  info.assumptions =
      "Answers are independent given the truth, wrong answers are spread evenly over the other classes, and most "
      "workers are better than chance.";
  info.cost = "time S + N·K per iteration; memory N·K";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  info.allows_repeats = false;
  return CategoryMethod::of<Pgd, parameters>(std::move(info));
}

CategoryFit Pgd::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "explained agreement";
  result.objective_is_monotone = true;
  if (result.class_count == 0) return result;
  if (result.class_count == 1) {
    result.status = context.cancelled() ? Status::cancelled : Status::converged;
    conclude_one_coin(data, context, std::vector<double>(result.worker_count, 1.0), options_.ties, result);
    return result;
  }
  const double lowest = -1 / static_cast<double>(result.class_count - 1);
  std::vector<double> skill = start.empty() ? std::vector<double>(result.worker_count, kFirstSkill)
                                            : skills_from(start.posterior, data.answers);
  std::vector<double> next(skill.size());
  std::vector<Agreement::Slope> slopes(skill.size());
  const Blocks blocks{skill.size(), kWorkersPerBlock};
  Agreement agreement(data, context);
  double error = agreement.evaluate(skill);
  double length = kFirstStep;
  result.status = Status::iteration_limit;
  const auto started = std::chrono::steady_clock::now();
  while (result.iterations < options_.max_iterations) {
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) slopes[w] = agreement.slope(w, skill);
    });
    const double moved = descend(agreement, slopes, lowest, skill, next, error, length);
    length = std::min(kLargestStep, 1.5 * length);
    ++result.iterations;
    result.trace.push_back(-error);
    context.report({.stage = "iterating",
                    .done = static_cast<double>(result.iterations),
                    .total = static_cast<double>(options_.max_iterations),
                    .objective = -error,
                    .has_objective = true});
    if (context.cancelled()) {
      result.status = Status::cancelled;
      break;
    }
    if (moved <= options_.tolerance) {
      result.status = Status::converged;
      break;
    }
  }
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  const WorkerLinks links = link_workers(data);
  auto answers = answer_counts(data);
  if (data.has_gold()) skill.push_back(1);
  orient_parts(links, answers, skill);
  fill_alone(links, answers, skill, kFirstSkill);
  conclude_one_coin(data, context, skill, options_.ties, result);
  warn_of_links(links, result);
  if (result.status == Status::iteration_limit) {
    result.warnings.push_back({"not_converged",
                               fmt::format("stopped after {} steps while skills still moved", result.iterations),
                               "raise max_iterations."});
  }
  return result;
}

}  // namespace wisecrowd::pgd
