#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/sets/shared/relevance_pass.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::sets {
namespace {

/// Tasks among which profiles look for a start.
constexpr std::size_t kMostStartTasks = 4096;

/// How probable classes are, from the tasks that have them.
class ProfileStep {
 public:
  ProfileStep(double pseudo_count, std::vector<double> usual) : pseudo_count_(pseudo_count), usual_(std::move(usual)) {}
  [[nodiscard]] const std::vector<double>& usual() const { return usual_; }
  void update(const std::vector<double>& mass, const std::vector<double>& tasks, Profiles& profiles) const {
    const std::size_t classes = usual_.size();
    double total = 0;
    for (const double count : tasks) total += count;
    for (std::size_t g = 0; g < profiles.count; ++g) {
      profiles.weight[g] = total > 0 ? tasks[g] / total : 1 / static_cast<double>(profiles.count);
      const double below = tasks[g] + pseudo_count_;
      for (std::size_t k = 0; k < classes; ++k) {
        profiles.probability[g * classes + k] =
            below > 0 ? (mass[g * classes + k] + pseudo_count_ * usual_[k]) / below : usual_[k];
      }
    }
  }
  /// What the added tasks contribute to the objective.
  [[nodiscard]] double log_prior(const Profiles& profiles) const {
    double sum = 0;
    for (std::size_t i = 0; i < profiles.probability.size() && pseudo_count_ > 0; ++i) {
      const double p = profiles.probability[i], usual = usual_[i % usual_.size()];
      sum += usual * math::log(std::max(p, kProbabilityFloor)) +
             (1 - usual) * math::log(std::max(1 - p, kProbabilityFloor));
    }
    return pseudo_count_ * sum;
  }

 private:
  double pseudo_count_;
  std::vector<double> usual_;
};

/// Profiles around tasks that differ much from one another: each next one is drawn in proportion to its squared
/// distance from those before.
void start_profiles(const SetFit& fit, const std::vector<double>& usual, Profiles& profiles,
                    const RunContext& context) {
  const std::size_t classes = fit.class_count;
  profiles.weight.assign(profiles.count, 1 / static_cast<double>(profiles.count));
  profiles.probability.clear();
  for (std::size_t g = 0; g < profiles.count; ++g) {
    profiles.probability.insert(profiles.probability.end(), usual.begin(), usual.end());
  }
  if (profiles.count == 1) return;
  Rng rng = context.rng("profiles");
  std::vector<std::size_t> tasks;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    if (fit.known[t] != 0) tasks.push_back(t);
  }
  if (tasks.empty()) return;
  rng.shuffle(std::span(tasks));
  tasks.resize(std::min(tasks.size(), kMostStartTasks));
  std::vector<double> distance(tasks.size(), 1);
  std::vector<double> center(classes);
  for (std::size_t g = 0; g < profiles.count; ++g) {
    double total = 0;
    for (const double d : distance) total += d;
    double left = rng.uniform() * total;
    std::size_t chosen = 0;
    while (chosen + 1 < tasks.size() && left >= distance[chosen]) left -= distance[chosen++];
    std::fill(center.begin(), center.end(), 0);
    const auto own = fit.candidates_of(TaskId(tasks[chosen]));
    for (std::size_t c = 0; c < own.size(); ++c) center[index(own[c])] = fit.probabilities_of(TaskId(tasks[chosen]))[c];
    for (std::size_t k = 0; k < classes; ++k) {
      profiles.probability[g * classes + k] = 0.5 * center[k] + 0.5 * usual[k];
    }
    double norm = 0;
    for (const double p : center) norm += p * p;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto classes_of = fit.candidates_of(TaskId(tasks[i]));
      const auto q = fit.probabilities_of(TaskId(tasks[i]));
      double off = norm;
      for (std::size_t c = 0; c < q.size(); ++c) off += q[c] * q[c] - 2 * q[c] * center[index(classes_of[c])];
      distance[i] = g == 0 ? std::max(off, 0.0) : std::min(distance[i], std::max(off, 0.0));
    }
  }
}

/// A start that another method gives, where its candidates are ours.
void take_start(const SetStart& start, SetFit& fit) {
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const auto own = fit.candidates_of(TaskId(t));
    for (std::size_t c = 0; c < own.size(); ++c) {
      fit.probability[fit.offsets[t] + c] = start.fit->probability_of(TaskId(t), own[c]);
    }
  }
}

void finish_fit(const RelevancePass& pass, const WorkerModel& model, const Profiles& profiles, SetFit& fit) {
  const std::size_t classes = fit.class_count;
  std::fill(fit.class_prior.begin(), fit.class_prior.end(), 0.0);
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    model.estimate(pass.counts(), w, fit.sensitivity.data() + w * classes, fit.specificity.data() + w * classes);
  }
  for (std::size_t g = 0; g < profiles.count; ++g) {
    for (std::size_t k = 0; k < classes; ++k) {
      fit.class_prior[k] += profiles.weight[g] * profiles.probability[g * classes + k];
    }
  }
  model.finish(fit);
  if (fit.status == Status::iteration_limit) {
    fit.warnings.push_back({"not_converged",
                            fmt::format("stopped after {} iterations before the objective stood still", fit.iterations),
                            "raise max_iterations or tolerance if the probabilities matter to the last digit."});
  }
}

}  // namespace

SetFit fit_relevance(const SetData& data, WorkerModel& model, const RelevanceOptions& options, const SetStart& start,
                     std::string_view objective, const RunContext& context, Profiles* learned) {
  SetFit fit = start_set_fit(data, options.sets);
  vote(data, fit, context);
  take_class_prior(fit);
  const ProfileStep step(options.class_pseudo_count, fit.class_prior);
  Profiles own;
  Profiles& profiles = learned != nullptr ? *learned : own;
  profiles.count = options.profiles;
  start_profiles(fit, step.usual(), profiles, context);
  if (!start.empty()) take_start(start, fit);
  RelevancePass pass(data, fit, context);
  std::vector<double> mass, tasks;
  const auto started = std::chrono::steady_clock::now();
  fit.status = Status::iteration_limit;
  fit.objective_name = objective;
  fit.objective_is_monotone = true;
  pass.count();
  while (fit.iterations < options.max_iterations && !context.cancelled()) {
    double value = model.prepare(pass.counts(), context);
    value += pass.update_workers(model);
    if (!mass.empty()) step.update(mass, tasks, profiles);
    fit.log_likelihood = pass.posterior(profiles, mass, tasks);
    value += step.log_prior(profiles) + fit.log_likelihood;
    pass.count();
    ++fit.iterations;
    fit.trace.push_back(value);
    context.report({.stage = "iterating",
                    .done = static_cast<double>(fit.iterations),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = value,
                    .has_objective = true});
    if (fit.iterations < 2) continue;
    const double gain = value - fit.trace[fit.iterations - 2];
    if (std::abs(gain) <= options.tolerance * std::max(std::abs(value), 1.0)) {
      fit.status = Status::converged;
      break;
    }
  }
  if (context.cancelled()) fit.status = Status::cancelled;
  fit.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                              static_cast<double>(std::max<std::size_t>(fit.iterations, 1));
  finish_fit(pass, model, profiles, fit);
  return fit;
}

}  // namespace wisecrowd::sets
