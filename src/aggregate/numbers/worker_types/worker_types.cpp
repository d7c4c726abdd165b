#include "aggregate/numbers/worker_types/worker_types.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "aggregate/method.hpp"
#include "aggregate/numbers/worker_types/type_messages.hpp"
#include "base/huge_vector.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::worker_types {
namespace {

constexpr std::size_t kKeptDensities = 16'000'000;  // 128 MB; beyond that they are computed in every iteration
constexpr std::size_t kTasksPerPart = 512;

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("types", o.types, 2, 10, "types of workers");
  v.real("ratio", o.ratio, 1.1, 1e6, "variance of a type over that of the next better one; the middle is the crowd's");
  v.flag("learn_shares", o.learn_shares, "whether the shares of the types are learned, or equal");
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "rounds of messages at most");
  v.real("tolerance", o.tolerance, 0, 1, "largest change of a belief that ends it");
}

/// Passes messages; everything a round writes has a place of its own, so that threads change nothing.
class Passing {
 public:
  Passing(const NumberData& data, TypeModel& model, const Options& options, const RunContext& context)
      : answers_(data.answers), model_(model), types_(model.variances.size()), options_(options), context_(context) {
    const auto offsets = answers_.task_offsets();
    first_.assign(answers_.task_count() + 1, 0);
    for (std::size_t t = 0; t < answers_.task_count(); ++t) {
      const std::size_t count = offsets[t + 1] - offsets[t];
      std::size_t own = 0;
      if (count > 0 && is_exact(count, types_)) {
        own = 1;
        for (std::size_t a = 0; a < count; ++a) own *= types_;
      } else if (count > 0) {
        ++model.approximate_tasks;
      }
      first_[t + 1] = first_[t] + own;
    }
    keeps_ = first_.back() <= kKeptDensities;
    model.log_messages.assign(answers_.answer_count() * types_, 0);
    model.worker_types.assign(answers_.worker_count() * types_, 1.0 / static_cast<double>(types_));
    log_belief_.assign(answers_.worker_count() * types_, 0);
  }

  void run() {
    believe();
    if (keeps_) keep_densities();
    model_.status = Status::iteration_limit;
    for (std::size_t i = 0; i < options_.max_iterations; ++i) {
      if (context_.cancelled()) {
        model_.status = Status::cancelled;
        return;
      }
      const Blocks blocks{answers_.task_count(), kTasksPerPart};
      context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
        std::vector<double> beliefs, densities;
        for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) send(t, beliefs, densities);
      });
      const double moved = believe();
      model_.iterations = i + 1;
      context_.report({.stage = "iterating",
                       .done = static_cast<double>(i + 1),
                       .total = static_cast<double>(options_.max_iterations)});
      if (moved < options_.tolerance) {
        model_.status = Status::converged;
        return;
      }
    }
  }

  [[nodiscard]] std::vector<TaskView> views_of(std::size_t task) const {
    const auto offsets = answers_.task_offsets();
    std::vector<TaskView> views;
    for (std::size_t i = 0; i < model_.columns.size(); ++i) {
      const numbers::StandardColumn& column = model_.columns[i];
      TaskView view{std::span(column.value).subspan(offsets[task], offsets[task + 1] - offsets[task]),
                    model_.truth[i].mean, model_.truth[i].variance};
      if (!column.gold.empty() && !std::isnan(column.gold[task])) view = {view.answers, column.gold[task], 0};
      views.push_back(view);
    }
    return views;
  }

  /// What the workers' other tasks say of their types.
  void beliefs_of(std::size_t task, std::vector<double>& beliefs) const {
    const auto offsets = answers_.task_offsets();
    beliefs.clear();
    for (AnswerIndex a = offsets[task]; a < offsets[task + 1]; ++a) {
      const std::size_t w = index(answers_.workers()[a]);
      for (std::size_t t = 0; t < types_; ++t) {
        beliefs.push_back(log_belief_[w * types_ + t] - model_.log_messages[a * types_ + t]);
      }
      softmax(std::span(beliefs).last(types_));
    }
  }

 private:
  void keep_densities() {
    densities_.resize(first_.back());
    const Blocks blocks{answers_.task_count(), kTasksPerPart};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      std::vector<double> own;
      for (std::size_t t = blocks.begin(b); t < blocks.end(b) && !context_.cancelled(); ++t) {
        if (first_[t] == first_[t + 1]) continue;
        combination_densities(views_of(t), model_.variances, own);
        std::copy(own.begin(), own.end(), densities_.begin() + static_cast<std::ptrdiff_t>(first_[t]));
      }
    });
  }

  void send(std::size_t task, std::vector<double>& beliefs, std::vector<double>& own) {
    const auto offsets = answers_.task_offsets();
    const std::size_t count = offsets[task + 1] - offsets[task];
    if (count == 0) return;
    beliefs_of(task, beliefs);
    const auto out = std::span(model_.log_messages).subspan(offsets[task] * types_, count * types_);
    if (first_[task] == first_[task + 1]) {
      approximate_messages(views_of(task), beliefs, model_.variances, out);
    } else if (keeps_) {
      exact_messages(std::span(densities_).subspan(first_[task], first_[task + 1] - first_[task]), beliefs, types_,
                     out);
    } else {
      combination_densities(views_of(task), model_.variances, own);
      exact_messages(own, beliefs, types_, out);
    }
  }

  /// Sums of the messages that each worker got; returns how far a belief moved.
  double believe() {
    const Blocks blocks{answers_.worker_count(), 256};
    std::vector<double> moved(blocks.count(), 0);
    context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      std::vector<double> row(types_);
      for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) {
        for (std::size_t t = 0; t < types_; ++t) row[t] = math::log(model_.shares[t]);
        for (const AnswerIndex a : answers_.answers_of(WorkerId(w))) {
          for (std::size_t t = 0; t < types_; ++t) row[t] += model_.log_messages[a * types_ + t];
        }
        std::copy(row.begin(), row.end(), log_belief_.begin() + static_cast<std::ptrdiff_t>(w * types_));
        softmax(row);
        for (std::size_t t = 0; t < types_; ++t) {
          double& belief = model_.worker_types[w * types_ + t];
          moved[b] = std::max(moved[b], std::abs(row[t] - belief));
          belief = row[t];
        }
      }
    });
    if (options_.learn_shares) {
      // One worker of each type is added, so that no type dies out.
      std::vector<double> sums(types_, 1);
      for (std::size_t at = 0; at < model_.worker_types.size(); ++at) sums[at % types_] += model_.worker_types[at];
      normalise(sums);
      model_.shares = sums;
    }
    return moved.empty() ? 0 : *std::max_element(moved.begin(), moved.end());
  }

  const NumberAnswers& answers_;
  TypeModel& model_;
  std::size_t types_;
  const Options& options_;
  const RunContext& context_;
  std::vector<std::size_t> first_;  // of a task's densities
  bool keeps_ = false;
  HugeVector<double> densities_;
  std::vector<double> log_belief_;
};

/// Estimates of all tasks by the last messages.
std::vector<TaskEstimate> estimates(const NumberData& data, const Passing& passing, const TypeModel& model,
                                    const RunContext& context) {
  std::vector<TaskEstimate> out(data.answers.task_count());
  const Blocks blocks{out.size(), kTasksPerPart};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    std::vector<double> beliefs;
    for (std::size_t t = blocks.begin(b); t < blocks.end(b) && !context.cancelled(); ++t) {
      if (data.answers.workers_of(TaskId(t)).empty()) continue;
      passing.beliefs_of(t, beliefs);
      out[t] = estimate_task(passing.views_of(t), beliefs, model.variances);
    }
  });
  return out;
}

TypeModel prepared(const NumberData& data, const numbers::Spread& spread, const Options& options,
                   std::vector<double> shares, std::vector<numbers::Truth> truth) {
  TypeModel model;
  for (std::size_t d = 0; d < data.answers.dimensions(); ++d) {
    numbers::StandardColumn column = numbers::standard_column(data, spread, d);
    if (column.unit == 0) continue;
    model.dimensions.push_back(d);
    if (truth.empty()) model.truth.push_back(numbers::truth_by_moments(data.answers, column));
    model.columns.push_back(std::move(column));
  }
  if (!truth.empty()) model.truth = std::move(truth);
  model.shares = std::move(shares);
  if (model.shares.empty()) model.shares.assign(options.types, 1.0 / static_cast<double>(options.types));
  for (std::size_t t = 0; t < options.types; ++t) {
    model.variances.push_back(
        math::pow(options.ratio, static_cast<double>(t) - static_cast<double>(options.types - 1) / 2));
  }
  return model;
}

struct Fitted {
  TypeModel model;
  std::vector<TaskEstimate> estimates;
};

Fitted run(const NumberData& data, const numbers::Spread& spread, const Options& options, const RunContext& context) {
  Fitted fitted{prepared(data, spread, options, {}, {}), {}};
  if (fitted.model.dimensions.empty()) return fitted;
  Passing passing(data, fitted.model, options, context);
  passing.run();
  fitted.estimates = estimates(data, passing, fitted.model, context);
  return fitted;
}

}  // namespace

TypeModel fit_types(const NumberData& data, const numbers::Spread& spread, const Options& options,
                    std::vector<double> shares, std::vector<numbers::Truth> truth, const RunContext& context) {
  TypeModel model = prepared(data, spread, options, std::move(shares), std::move(truth));
  if (model.dimensions.empty()) return model;
  Passing(data, model, options, context).run();
  return model;
}

NumberMethod method() {
  MethodInfo info;
  info.title = "Worker types";
  info.summary = "Every worker is of one of a few types, from careful to careless; messages find out which.";
  info.when_to_use = "When workers have answered few tasks each: a type is sooner known than a variance.";
  info.reference =
      "J. Ok, S. Oh, Y. Jang, J. Shin, Y. Yi, Iterative Bayesian learning for crowdsourced regression, AISTATS 2019";
  info.assumptions = "Errors are independent and normal, without bias, their variance one of a few.";
  info.cost =
      "time T^m per task of m answers and iteration while T^(m−1) ≤ 4096, then m·T; memory S·T and 128 MB at most";
  info.uses_gold = true;
  info.allows_repeats = false;
  return NumberMethod::of<WorkerTypes, parameters>(std::move(info));
}

NumberFit WorkerTypes::fit(const NumberData& data, const RunContext& context, const NumberStart&) const {
  numbers::MeanStart start = numbers::mean_start(data, context);
  NumberFit fit = std::move(start.fit);
  const Fitted fitted = run(data, start.spread, options_, context);
  const TypeModel& model = fitted.model;
  fit.iterations = model.iterations;
  fit.status = context.cancelled() ? Status::cancelled : model.status;
  if (fit.status == Status::cancelled) return fit;
  for (std::size_t i = 0; i < model.dimensions.size(); ++i) {
    for (std::size_t t = 0; t < fit.task_count; ++t) {
      if (data.answers.workers_of(TaskId(t)).empty()) continue;
      numbers::set_estimate(fit, t, model.dimensions[i], model.columns[i], fitted.estimates[t].mean[i],
                            fitted.estimates[t].variance[i]);
    }
    for (std::size_t w = 0; w < fit.worker_count; ++w) {
      double variance = 0;
      for (std::size_t t = 0; t < options_.types; ++t) {
        variance += model.worker_types[w * options_.types + t] * model.variances[t];
      }
      fit.scale[w * fit.dimensions + model.dimensions[i]] = model.columns[i].unit * std::sqrt(variance);
    }
  }
  if (model.approximate_tasks > 0) {
    fit.warnings.push_back(
        {"approximate_messages",
         fmt::format("{} of {} tasks have too many answers to sum over all types of their workers: their messages are "
                     "approximate.",
                     model.approximate_tasks, fit.task_count),
         "Take fewer `types`, or gaussian_em.", Severity::note});
  }
  for (std::size_t t = 0; t < model.shares.size() && !model.dimensions.empty(); ++t) {
    fit.learned.emplace_back(fmt::format("share_of_type_{}", t + 1), model.shares[t]);
  }
  numbers::pin_gold(data, fit);
  return fit;
}

std::vector<double> WorkerTypes::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                const RunContext& context) const {
  const numbers::MeanStart start = numbers::mean_start(data, context);
  const Fitted fitted = run(data, start.spread, options_, context);
  const TypeModel& model = fitted.model;
  std::vector<double> logs;
  std::vector<double> by_type(options_.types);
  for (const NumberAnswer& answer : answers) {
    double sum = 0;
    for (std::size_t d = 0, i = 0; d < data.answers.dimensions(); ++d) {
      if (i < model.dimensions.size() && model.dimensions[i] == d) {
        ++i;
        continue;
      }
      const numbers::Around around = numbers::usable(
          {start.fit.estimate[index(answer.task) * start.fit.dimensions + d], start.spread.deviation[d]},
          start.spread.all[d]);
      sum += numbers::normal_log_density(answer.value[d] - around.middle, around.deviation);
    }
    if (model.dimensions.empty() || context.cancelled()) {
      logs.push_back(sum);
      continue;
    }
    const bool seen = !data.answers.workers_of(answer.task).empty();
    for (std::size_t t = 0; t < options_.types; ++t) {
      by_type[t] = math::log(std::max(model.worker_types[index(answer.worker) * options_.types + t], 1e-300));
      for (std::size_t i = 0; i < model.dimensions.size(); ++i) {
        const std::size_t d = model.dimensions[i];
        const TaskEstimate& task = fitted.estimates[index(answer.task)];
        const double z = seen ? task.mean[i] : model.truth[i].mean;
        const double s = seen ? task.variance[i] : model.truth[i].variance;
        const numbers::Around around = numbers::usable({model.columns[i].centre + model.columns[i].unit * z,
                                                        model.columns[i].unit * std::sqrt(s + model.variances[t])},
                                                       start.spread.all[d]);
        by_type[t] += numbers::normal_log_density(answer.value[d] - around.middle, around.deviation);
      }
    }
    logs.push_back(sum + log_sum_exp(by_type));
  }
  return logs;
}

}  // namespace wisecrowd::worker_types
