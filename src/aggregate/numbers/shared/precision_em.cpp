#include "aggregate/numbers/shared/precision_em.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "base/huge_vector.hpp"
#include "base/intervals.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::numbers {
namespace {

constexpr double kLogTwoPi = 1.8378770664093454836;
constexpr double kLeastVariance = 1e-6;       // of anything, in units of the scatter within tasks
constexpr double kLeastBiasVariance = 0.01;   // biases of a tenth of the scatter are always thought possible
constexpr double kLeastShareOfMoments = 0.1;  // of the variance of the truth by moments: tasks do not all become alike

/// What a sweep reads of a worker, and what it adds up; each in one place of memory.
struct WorkerRow {
  double precision, bias;
};
struct WorkerSums {
  double weight, off, squares;  // Σ u, Σ u d, Σ u (d² + s), d = y − b − z
};

/// What a block of tasks adds up beside its workers' sums.
struct TaskSums {
  double objective = 0;
  double estimates = 0, squares = 0, variances = 0;  // of z_i
  double moved = 0;                                  // the largest step of an estimate
};

/// Sweeps over all answers: estimates given what is known of the workers, and sums for the next step.
class PrecisionSweep {
 public:
  PrecisionSweep(const NumberAnswers& answers, const StandardColumn& column, const PrecisionOptions& options,
                 const RunContext& context)
      : answers_(answers), column_(column), options_(options), context_(context) {
    // Every block has sums of its own for all workers: few blocks where workers are many.
    const std::size_t workers = answers.worker_count(), count = answers.answer_count();
    const std::size_t blocks = std::clamp<std::size_t>(count / (8 * workers + 65'536), count > 1'000'000 ? 4 : 1, 64);
    blocks_ = {answers.task_count(), std::max<std::size_t>((answers.task_count() + blocks - 1) / blocks, 1)};
    parts_.resize(blocks_.count() * workers);
    tasks_.resize(blocks_.count());
    rows_.resize(workers);
    sums_.resize(workers);
  }

  void run(PrecisionModel& model, bool first) {
    for (std::size_t w = 0; w < rows_.size(); ++w) rows_[w] = {1 / model.worker_variance[w], model.bias[w]};
    context_.pool().for_each_block(blocks_.count(), [&](std::size_t b, unsigned) {
      options_.degrees > 0 ? block<true>(b, model, first) : block<false>(b, model, first);
    });
    std::fill(sums_.begin(), sums_.end(), WorkerSums{});
    total_ = {};
    for (std::size_t b = 0; b < blocks_.count(); ++b) {
      const WorkerSums* const part = parts_.data() + b * sums_.size();
      for (std::size_t w = 0; w < sums_.size(); ++w) {
        sums_[w].weight += part[w].weight;
        sums_[w].off += part[w].off;
        sums_[w].squares += part[w].squares;
      }
      total_.objective += tasks_[b].objective;
      total_.estimates += tasks_[b].estimates;
      total_.squares += tasks_[b].squares;
      total_.variances += tasks_[b].variances;
      total_.moved = std::max(total_.moved, tasks_[b].moved);
    }
  }
  [[nodiscard]] const std::vector<WorkerSums>& workers() const { return sums_; }
  [[nodiscard]] const TaskSums& tasks() const { return total_; }

 private:
  template <bool student>
  void block(std::size_t b, PrecisionModel& model, bool first) {
    const auto offsets = answers_.task_offsets();
    const WorkerId* const worker = answers_.workers().data();
    const double* const y = column_.value.data();
    WorkerSums* const part = parts_.data() + b * sums_.size();
    std::fill(part, part + sums_.size(), WorkerSums{});
    const double prior = 1 / model.variance;
    TaskSums sums;
    std::vector<double> weights;
    for (std::size_t t = blocks_.begin(b); t < blocks_.end(b); ++t) {
      const AnswerIndex begin = offsets[t], end = offsets[t + 1];
      if (begin == end) continue;
      if constexpr (student) weigh(t, begin, end, model, first, weights, sums);
      double precision = prior, sum = prior * model.mean;
      for (AnswerIndex a = begin; a < end; ++a) {
        const WorkerRow& row = rows_[index(worker[a])];
        const double p = student ? row.precision * weights[a - begin] : row.precision;
        precision += p;
        sum += p * (y[a] - row.bias);
      }
      const bool known = !column_.gold.empty() && !std::isnan(column_.gold[t]);
      const double s = known ? 0 : 1 / precision;
      const double z = known ? column_.gold[t] : sum * s;
      double misfit = prior * (z - model.mean) * (z - model.mean);
      for (AnswerIndex a = begin; a < end; ++a) {
        const std::size_t w = index(worker[a]);
        const double u = student ? weights[a - begin] : 1.0;
        const double d = y[a] - rows_[w].bias - z;
        misfit += rows_[w].precision * d * d;
        if constexpr (student) part[w].weight += u;
        part[w].off += u * d;
        part[w].squares += u * (d * d + s);
      }
      if constexpr (!student) {
        sums.objective -= (misfit + (known ? kLogTwoPi - math::log(prior) : math::log(precision / prior))) / 2;
      }
      sums.moved = std::max(sums.moved, std::abs(z - model.estimate[t]));
      model.estimate[t] = z;
      model.estimate_variance[t] = s;
      sums.estimates += z;
      sums.squares += z * z;
      sums.variances += s;
    }
    tasks_[b] = sums;
  }

  /// Expected weights of a task's answers where errors are Student's, given the last estimate, and its part of the
  /// bound.
  void weigh(std::size_t t, AnswerIndex begin, AnswerIndex end, const PrecisionModel& model, bool first,
             std::vector<double>& weights, TaskSums& sums) const {
    weights.assign(end - begin, 1);
    if (first) return;
    const double nu = options_.degrees, z = model.estimate[t], s = model.estimate_variance[t];
    double product = 1, logs = 0;
    for (AnswerIndex a = begin; a < end; ++a) {
      const WorkerRow& row = rows_[index(answers_.workers()[a])];
      const double d = column_.value[a] - row.bias - z;
      const double stretch = 1 + (d * d + s) * row.precision / nu;
      weights[a - begin] = (nu + 1) / (nu * stretch);
      product *= stretch;
      if (product > 1e200) {
        logs += math::log(product);
        product = 1;
      }
    }
    logs += math::log(product);
    const double off = (z - model.mean) * (z - model.mean);
    const double prior_term = s > 0 ? math::log(model.variance / s) + (off + s) / model.variance - 1
                                    : kLogTwoPi + math::log(model.variance) + off / model.variance;
    sums.objective -= (nu + 1) / 2 * logs + prior_term / 2;
  }

  const NumberAnswers& answers_;
  const StandardColumn& column_;
  const PrecisionOptions& options_;
  const RunContext& context_;
  Blocks blocks_{0, 1};
  std::vector<WorkerRow> rows_;
  HugeVector<WorkerSums> parts_;
  std::vector<TaskSums> tasks_;
  std::vector<WorkerSums> sums_;
  TaskSums total_;
};

/// Variance of the workers' biases by moments: how far their mean distances from the tasks' means scatter beyond
/// chance.
double moment_of_biases(const NumberAnswers& answers, const StandardColumn& column) {
  std::vector<double> mean(answers.task_count(), 0);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a)
      mean[t] += column.value[a] / (offsets[t + 1] - offsets[t]);
    if (!column.gold.empty() && !std::isnan(column.gold[t])) mean[t] = column.gold[t];
  }
  double squares = 0, workers = 0, count = 0;
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    const auto own = answers.answers_of(WorkerId(w));
    const auto tasks = answers.tasks_of(WorkerId(w));
    if (own.empty()) continue;
    double sum = 0;
    for (std::size_t i = 0; i < own.size(); ++i) sum += column.value[own[i]] - mean[index(tasks[i])];
    squares += sum * sum / static_cast<double>(own.size());
    workers += 1;
    count += static_cast<double>(own.size());
  }
  return count > 0 ? std::max((squares - workers) / count, kLeastBiasVariance) : kLeastBiasVariance;
}

/// What is left of the scatter of the tasks' means when that of their answers is taken off.
double least_truth_variance(const NumberAnswers& answers, const StandardColumn& column) {
  return std::max(kLeastShareOfMoments * truth_by_moments(answers, column).variance, kLeastVariance);
}

/// The steps between two sweeps: biases, variances, the distribution of the truth.
class PrecisionSteps {
 public:
  PrecisionSteps(const NumberAnswers& answers, const StandardColumn& column, const PrecisionOptions& options)
      : options_(options) {
    bool gold = false;
    for (const double known : column.gold) gold = gold || !std::isnan(known);
    anchored_ = gold;
    const auto offsets = answers.task_offsets();
    for (std::size_t t = 0; t < answers.task_count(); ++t) tasks_ += offsets[t + 1] > offsets[t] ? 1 : 0;
    count_.assign(answers.worker_count(), 0);
    for (const WorkerId w : answers.workers()) count_[index(w)] += 1;
    least_variance_ = least_truth_variance(answers, column);
    shape_ = 1 + options.prior_answers / 2;
    rate_ = options.prior_answers / 2;
  }

  [[nodiscard]] double count(std::size_t worker) const { return count_[worker]; }

  /// Log prior of the parameters that workers have, and what answers add to it whatever the estimates are.
  [[nodiscard]] double worker_terms(const PrecisionModel& model) const {
    const double nu = options_.degrees;
    const double each =
        nu > 0 ? log_gamma((nu + 1) / 2) - log_gamma(nu / 2) - math::log(nu * std::numbers::pi) / 2 : -kLogTwoPi / 2;
    double sum = 0;
    for (std::size_t w = 0; w < count_.size(); ++w) {
      const double v = model.worker_variance[w], log_v = math::log(v);
      sum += count_[w] * (each - log_v / 2) - (shape_ + 1) * log_v - rate_ / v;
      if (options_.bias) sum -= model.bias[w] * model.bias[w] / model.bias_variance / 2;
    }
    return sum;
  }

  void move(const PrecisionSweep& sweep, PrecisionModel& model) const {
    std::vector<double> step(count_.size(), 0);
    if (options_.bias) step = bias_steps(sweep, model);
    for (std::size_t w = 0; w < count_.size(); ++w) {
      const WorkerSums& sums = sweep.workers()[w];
      const double weight = options_.degrees > 0 ? sums.weight : count_[w];
      const double squares = sums.squares - 2 * step[w] * sums.off + weight * step[w] * step[w];
      model.bias[w] += step[w];
      model.worker_variance[w] =
          std::max((rate_ + std::max(squares, 0.0) / 2) / (shape_ + 1 + count_[w] / 2), kLeastVariance);
    }
    const TaskSums& tasks = sweep.tasks();
    if (tasks_ == 0) return;
    model.mean = tasks.estimates / tasks_;
    const double around = tasks.squares / tasks_ - model.mean * model.mean;
    model.variance = std::max(std::max(around, 0.0) + tasks.variances / tasks_, least_variance_);
  }

 private:
  /// The best biases among those with Σ n_j b_j = 0; all of them where gold says where 0 is.
  [[nodiscard]] std::vector<double> bias_steps(const PrecisionSweep& sweep, const PrecisionModel& model) const {
    std::vector<double> step(count_.size(), 0);
    double above = 0, below = 0;
    std::vector<double> curvature(count_.size());
    for (std::size_t w = 0; w < count_.size(); ++w) {
      const WorkerSums& sums = sweep.workers()[w];
      const double weight = options_.degrees > 0 ? sums.weight : count_[w];
      const double slope = sums.off / model.worker_variance[w] - model.bias[w] / model.bias_variance;
      curvature[w] = weight / model.worker_variance[w] + 1 / model.bias_variance;
      step[w] = slope / curvature[w];
      above += count_[w] * (model.bias[w] + step[w]);
      below += count_[w] * count_[w] / curvature[w];
    }
    if (anchored_ || !(below > 0)) return step;
    for (std::size_t w = 0; w < count_.size(); ++w) step[w] -= above / below * count_[w] / curvature[w];
    return step;
  }

  const PrecisionOptions& options_;
  bool anchored_ = false;
  double tasks_ = 0, shape_ = 0, rate_ = 0, least_variance_ = 0;
  std::vector<double> count_;
};

}  // namespace

void precision_parameters(ParameterVisitor& v, PrecisionOptions& o) {
  v.flag("bias", o.bias, "whether workers have a bias each; without, they differ in scatter alone");
  v.real("prior_answers", o.prior_answers, 0.01, 1e6,
         "answers with the crowd's scatter that are added to every worker's own");
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "iterations at most");
  v.real("tolerance", o.tolerance, 0, 1, "largest step of an estimate, over the scatter of answers, that ends it");
}

StandardColumn standard_column(const NumberData& data, const Spread& spread, std::size_t dimension) {
  StandardColumn column;
  const double scatter = spread.deviation[dimension];
  if (!(scatter > 0)) return column;
  column.centre = spread.all[dimension].middle;
  column.unit = scatter;
  const std::size_t dimensions = data.answers.dimensions();
  const auto values = data.answers.values();
  column.value.resize(data.answers.answer_count());
  for (std::size_t a = 0; a < column.value.size(); ++a) {
    column.value[a] = (values[a * dimensions + dimension] - column.centre) / column.unit;
  }
  if (data.has_gold()) {
    column.gold.resize(data.answers.task_count());
    for (std::size_t t = 0; t < column.gold.size(); ++t) {
      column.gold[t] = (data.gold[t * dimensions + dimension] - column.centre) / column.unit;
    }
  }
  return column;
}

Truth truth_by_moments(const NumberAnswers& answers, const StandardColumn& column) {
  const auto offsets = answers.task_offsets();
  std::vector<double> means;
  double sum = 0, squares = 0, inverse = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (offsets[t] == offsets[t + 1]) continue;
    const double count = offsets[t + 1] - offsets[t];
    double own = 0;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) own += column.value[a] / count;
    means.push_back(own);
    sum += own;
    inverse += 1 / count;
  }
  if (means.empty()) return {};
  const auto tasks = static_cast<double>(means.size());
  for (const double m : means) squares += (m - sum / tasks) * (m - sum / tasks);
  return {sum / tasks, std::max(squares / std::max(tasks - 1, 1.0) - inverse / tasks, 0.01)};
}

PrecisionModel fit_precision(const NumberAnswers& answers, const StandardColumn& column,
                             const PrecisionOptions& options, const RunContext& context) {
  PrecisionModel model;
  model.bias.assign(answers.worker_count(), 0);
  model.worker_variance.assign(answers.worker_count(), 1);
  model.estimate.assign(answers.task_count(), 0);
  model.estimate_variance.assign(answers.task_count(), 1);
  model.variance = 0;
  for (const double y : column.value) model.variance += y * y / static_cast<double>(column.value.size());
  model.variance = std::max(model.variance, kLeastVariance);
  model.bias_variance = options.bias ? moment_of_biases(answers, column) : kLeastBiasVariance;
  PrecisionSweep sweep(answers, column, options, context);
  const PrecisionSteps steps(answers, column, options);
  model.status = Status::iteration_limit;
  for (std::size_t i = 0; i <= options.max_iterations; ++i) {
    if (context.cancelled()) {
      model.status = Status::cancelled;
      break;
    }
    sweep.run(model, i == 0);
    // The first sweep of Student's errors has no weights yet, and so no bound.
    if (options.degrees == 0 || i > 0) model.trace.push_back(sweep.tasks().objective + steps.worker_terms(model));
    if (i > 0) model.iterations = i;
    if (i > 0 && sweep.tasks().moved < options.tolerance) {
      model.status = Status::converged;
      break;
    }
    if (i == options.max_iterations) break;
    steps.move(sweep, model);
    context.report({.stage = "iterating",
                    .done = static_cast<double>(i + 1),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = model.trace.empty() ? 0 : model.trace.back(),
                    .has_objective = !model.trace.empty()});
  }
  return model;
}

MeanStart mean_start(const NumberData& data, const RunContext& context) {
  MeanStart start{start_number_fit(data), {}};
  start.spread = locate(data, mean_of, start.fit, context);
  finish_fit(
      data, start.spread,
      [](const Spread& spread, std::size_t d, double answers) { return spread.deviation[d] / std::sqrt(answers); },
      start.fit, context);
  return start;
}

void set_estimate(NumberFit& fit, std::size_t task, std::size_t dimension, const StandardColumn& column,
                  double estimate, double variance) {
  const std::size_t at = task * fit.dimensions + dimension;
  fit.estimate[at] = column.centre + column.unit * estimate;
  fit.deviation[at] = column.unit * std::sqrt(variance);
  fit.low[at] = fit.estimate[at] - kNormal95 * fit.deviation[at];
  fit.high[at] = fit.estimate[at] + kNormal95 * fit.deviation[at];
}

NumberFit precision_fit(const NumberData& data, const PrecisionOptions& options, const RunContext& context) {
  MeanStart start = mean_start(data, context);
  NumberFit fit = std::move(start.fit);
  fit.objective_name = options.degrees > 0 ? "lower bound of the log posterior" : "log posterior";
  fit.objective_is_monotone = true;
  fit.iterations = 0;
  // A Student's error is wider than its width.
  const double stretch = options.degrees > 2 ? options.degrees / (options.degrees - 2) : 1;
  double seconds = 0;
  for (std::size_t d = 0; d < fit.dimensions; ++d) {
    const StandardColumn column = standard_column(data, start.spread, d);
    if (column.unit == 0) continue;
    const auto began = std::chrono::steady_clock::now();
    const PrecisionModel model = fit_precision(data.answers, column, options, context);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    for (std::size_t t = 0; t < fit.task_count; ++t) {
      if (data.answers.workers_of(TaskId(t)).empty()) continue;
      set_estimate(fit, t, d, column, model.estimate[t], model.estimate_variance[t]);
    }
    for (std::size_t w = 0; w < fit.worker_count; ++w) {
      fit.bias[w * fit.dimensions + d] = column.unit * model.bias[w];
      fit.scale[w * fit.dimensions + d] = column.unit * std::sqrt(stretch * model.worker_variance[w]);
    }
    // Dimensions are fitted one after the other; each goes on from where the others ended.
    if (fit.trace.empty()) {
      fit.trace = model.trace;
    } else {
      const double before = fit.trace.back(), first = model.trace.empty() ? 0 : model.trace.front();
      for (const double value : model.trace) fit.trace.push_back(before + value - first);
    }
    fit.iterations += model.iterations;
    if (fit.status == Status::converged) fit.status = model.status;
  }
  if (fit.iterations > 0) fit.seconds_per_iteration = seconds / static_cast<double>(fit.iterations);
  if (context.cancelled()) fit.status = Status::cancelled;
  pin_gold(data, fit);
  return fit;
}

std::vector<double> precision_log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                             const PrecisionOptions& options, const RunContext& context) {
  const MeanStart start = mean_start(data, context);
  std::vector<double> logs(answers.size(), 0);
  std::vector<double> count(data.answers.worker_count(), 0);
  for (const WorkerId w : data.answers.workers()) count[index(w)] += 1;
  for (std::size_t d = 0; d < data.answers.dimensions(); ++d) {
    const StandardColumn column = standard_column(data, start.spread, d);
    const Around& all = start.spread.all[d];
    PrecisionModel model;
    if (column.unit > 0) model = fit_precision(data.answers, column, options, context);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::size_t t = index(answers[i].task), w = index(answers[i].worker);
      if (column.unit == 0) {
        const Around around =
            usable({start.fit.estimate[t * data.answers.dimensions() + d], start.spread.deviation[d]}, all);
        logs[i] += normal_log_density(answers[i].value[d] - around.middle, around.deviation);
        continue;
      }
      const bool seen = !data.answers.workers_of(answers[i].task).empty();
      const double z = seen ? model.estimate[t] : model.mean;
      const double s = seen ? model.estimate_variance[t] : model.variance;
      const double v = model.worker_variance[w];
      // v is a mode; its posterior, integrated out, makes a normal error Student's.
      const double shape = 1 + options.prior_answers / 2 + count[w] / 2;
      const double degrees = options.degrees > 0 ? std::min(options.degrees, 2 * shape) : 2 * shape;
      const double unsure = options.bias ? 1 / (count[w] / v + 1 / model.bias_variance) : 0;
      const double width = std::sqrt(s + unsure + v * (shape + 1) / shape);
      const Around around = usable({column.centre + column.unit * (z + model.bias[w]), column.unit * width}, all);
      logs[i] += student_log_density(answers[i].value[d] - around.middle, around.deviation, degrees);
    }
  }
  return logs;
}

}  // namespace wisecrowd::numbers
