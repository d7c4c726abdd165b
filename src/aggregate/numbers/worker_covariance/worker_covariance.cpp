#include "aggregate/numbers/worker_covariance/worker_covariance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "aggregate/method.hpp"
#include "aggregate/numbers/shared/precision_em.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::worker_covariance {
namespace {

constexpr double kLeastOthers = 3;         // whose median two workers are held against: two or one of them err too much
constexpr double kLeastCorrelation = 0.6;  // unequal noise makes weaker and negative ones, too
constexpr double kLeastSlope = 0.2;        // and five times the typical one at most
constexpr std::size_t kShownPairs = 5;     // of those that err together, in a warning

void parameters(ParameterVisitor& v, Options& o) {
  v.real("prior_tasks", o.prior_tasks, 0, 1e6, "tasks like the typical worker's that are added to every worker's own");
  v.real("strictness", o.strictness, 0.1, 100,
         "errors of a pair go together when their covariance is so many times what chance makes of the largest one");
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "rounds at most");
}

void check_size(const NumberAnswers& answers) {
  if (answers.worker_count() <= kMostWorkers) return;
  throw Error(
      ErrorCode::unsupported,
      fmt::format("worker_covariance compares all workers with one another: {} are more than {}; take gaussian_em",
                  answers.worker_count(), kMostWorkers));
}

/// One dimension, fitted, in standard units.
struct Covariances {
  numbers::StandardColumn column;
  PairMoments moments;
  Split split;
  numbers::Truth truth;
  std::vector<double> bias;
  double deviation_of_truth = 1;                                      // mean gain
  std::vector<std::vector<std::pair<std::size_t, double>>> partners;  // by worker: whom its errors go with, covariance
};

/// Mean distance of each worker from the tasks' means, two answers without any added.
std::vector<double> biases_of(const NumberAnswers& answers, const numbers::StandardColumn& column) {
  std::vector<double> sum(answers.worker_count(), 0), count(answers.worker_count(), 2);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    double mean = 0;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) mean += column.value[a] / (offsets[t + 1] - offsets[t]);
    if (!column.gold.empty() && !std::isnan(column.gold[t])) mean = column.gold[t];
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      sum[index(answers.workers()[a])] += column.value[a] - mean;
      count[index(answers.workers()[a])] += 1;
    }
  }
  for (std::size_t w = 0; w < sum.size(); ++w) sum[w] /= count[w];
  return sum;
}

PairMoments moments_of(const NumberAnswers& answers, const Covariances& fitted) {
  PairMoments moments;
  moments.workers = answers.worker_count();
  moments.covariance.assign(moments.workers * moments.workers, 0);
  moments.tasks = moments.covariance;
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      const std::size_t j = index(answers.workers()[a]);
      const double own = fitted.column.value[a] - fitted.bias[j] - fitted.truth.mean;
      for (AnswerIndex b = offsets[t]; b < offsets[t + 1]; ++b) {
        const std::size_t k = index(answers.workers()[b]);
        if (k == j && a != b) continue;  // a repeated answer
        moments.covariance_of(j, k) += own * (fitted.column.value[b] - fitted.bias[k] - fitted.truth.mean);
        moments.tasks[j * moments.workers + k] += 1;
      }
    }
  }
  for (std::size_t i = 0; i < moments.tasks.size(); ++i) {
    if (moments.tasks[i] > 0) moments.covariance[i] /= moments.tasks[i];
  }
  return moments;
}

double partner_covariance(const Covariances& fitted, std::size_t a, std::size_t b) {
  for (const auto& [other, covariance] : fitted.partners[a]) {
    if (other == b) return covariance;
  }
  return 0;
}

/// One task's answers without bias and mean, and the slopes of their workers.
struct TaskResiduals {
  std::vector<std::size_t> worker;
  std::vector<double> own, slope, left;

  void take(const NumberAnswers& answers, const Covariances& fitted, std::size_t task) {
    worker.clear();
    own.clear();
    slope.clear();
    const auto offsets = answers.task_offsets();
    for (AnswerIndex a = offsets[task]; a < offsets[task + 1]; ++a) {
      const std::size_t j = index(answers.workers()[a]);
      worker.push_back(j);
      own.push_back(fitted.column.value[a] - fitted.bias[j] - fitted.truth.mean);
      slope.push_back(std::clamp(fitted.split.gain[j] / fitted.deviation_of_truth, kLeastSlope, 1 / kLeastSlope));
    }
  }
  /// Median of the others, without the two at `a` and `b` and without known partners of theirs, so that a careless
  /// worker does not move it; returns how many they are.
  double others(const Covariances& fitted, std::size_t a, std::size_t b, double& middle) {
    left.clear();
    for (std::size_t c = 0; c < own.size(); ++c) {
      if (c == a || c == b || partner_covariance(fitted, worker[a], worker[c]) != 0 ||
          partner_covariance(fitted, worker[b], worker[c]) != 0) {
        continue;
      }
      left.push_back(own[c] / slope[c]);
    }
    std::sort(left.begin(), left.end());
    if (!left.empty()) middle = numbers::median_of(left, left.size());
    return static_cast<double>(left.size());
  }
};

/// The same of what a worker's answer differs from the median of the others', both workers of a pair left out, each by
/// its slope. The truth is gone from it, so that errors are seen where tasks differ much more than answers do; what is
/// left in common is the error of the others' median, of which `common` is the typical variance.
PairMoments residual_moments_of(const NumberAnswers& answers, const Covariances& fitted, double& common) {
  PairMoments moments;
  moments.workers = answers.worker_count();
  moments.covariance.assign(moments.workers * moments.workers, 0);
  moments.tasks = moments.covariance;
  double of_one = 0, of_pairs = 0, ones = 0, pairs = 0;
  TaskResiduals task;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    task.take(answers, fitted, t);
    for (std::size_t a = 0; a < task.own.size(); ++a) {
      for (std::size_t b = 0; b < task.own.size(); ++b) {
        if (task.worker[a] == task.worker[b] && a != b) continue;
        double mean = 0;
        const double left = task.others(fitted, a, b, mean);
        if (left < (a == b ? 1 : kLeastOthers)) continue;
        moments.covariance_of(task.worker[a], task.worker[b]) +=
            (task.own[a] - task.slope[a] * mean) * (task.own[b] - task.slope[b] * mean);
        moments.tasks[task.worker[a] * moments.workers + task.worker[b]] += 1;
        (a == b ? of_one : of_pairs) += 1 / left;
        (a == b ? ones : pairs) += 1;
      }
    }
  }
  for (std::size_t i = 0; i < moments.tasks.size(); ++i) {
    if (moments.tasks[i] > 0) moments.covariance[i] /= moments.tasks[i];
  }
  common = pairs > 0 ? of_pairs / pairs : ones > 0 ? of_one / ones : 1;
  return moments;
}

Covariances fit_covariances(const NumberData& data, const numbers::Spread& spread, std::size_t dimension,
                            const Options& options) {
  Covariances fitted;
  fitted.column = numbers::standard_column(data, spread, dimension);
  if (fitted.column.unit == 0) return fitted;
  fitted.truth = numbers::truth_by_moments(data.answers, fitted.column);
  fitted.bias = biases_of(data.answers, fitted.column);
  fitted.moments = moments_of(data.answers, fitted);
  fitted.split = split(fitted.moments, {.prior_tasks = options.prior_tasks,
                                        .typical_gain = std::sqrt(fitted.truth.variance),
                                        .strictness = options.strictness,
                                        .max_iterations = options.max_iterations});
  double gains = 0, count = 0, common = 1;
  for (std::size_t w = 0; w < fitted.bias.size(); ++w) {
    gains += fitted.moments.tasks_of(w, w) * fitted.split.gain[w];
    count += fitted.moments.tasks_of(w, w);
  }
  fitted.deviation_of_truth = count > 0 && gains > 0 ? gains / count : 1;
  // Found pairs are left out of each other's means, and looked for again: they would make others look correlated.
  fitted.partners.resize(fitted.bias.size());
  for (int round = 0; round < 2; ++round) {
    const PairMoments residuals = residual_moments_of(data.answers, fitted, common);
    const Split errors = split(residuals, {.prior_tasks = options.prior_tasks,
                                           .typical_gain = std::sqrt(common),
                                           .strictness = options.strictness,
                                           .max_iterations = options.max_iterations});
    fitted.split.variance = errors.variance;
    fitted.split.pairs = errors.pairs;
    std::erase_if(fitted.split.pairs, [&](const Split::Pair& pair) {
      return pair.covariance <
             kLeastCorrelation * std::sqrt(errors.variance[pair.first] * errors.variance[pair.second]);
    });
    for (auto& list : fitted.partners) list.clear();
    for (const Split::Pair& pair : fitted.split.pairs) {
      fitted.partners[pair.first].emplace_back(pair.second, pair.covariance);
      fitted.partners[pair.second].emplace_back(pair.first, pair.covariance);
    }
  }
  return fitted;
}

/// Solves with a small positive definite matrix in place (Cholesky); false if it is none.
bool solve(std::vector<double> matrix, std::size_t size, std::vector<double>& right) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i * size + j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i * size + k] * matrix[j * size + k];
      if (i == j && !(sum > 1e-9 * matrix[i * size + i])) return false;
      matrix[i * size + j] = i == j ? std::sqrt(sum) : sum / matrix[j * size + j];
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= matrix[i * size + k] * right[k];
    right[i] /= matrix[i * size + i];
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) right[i] -= matrix[k * size + i] * right[k];
    right[i] /= matrix[i * size + i];
  }
  return true;
}

/// Ψ⁻¹ r over the workers of a task; only those with a partner among them need more than a division.
std::vector<double> weigh(const Covariances& fitted, std::span<const WorkerId> workers,
                          const std::vector<double>& right) {
  std::vector<double> out(right.size());
  std::vector<std::size_t> tied;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const std::size_t w = index(workers[i]);
    out[i] = right[i] / fitted.split.variance[w];
    const bool has_partner = std::any_of(workers.begin(), workers.end(), [&](WorkerId other) {
      return partner_covariance(fitted, w, index(other)) != 0;
    });
    if (!fitted.partners[w].empty() && has_partner) tied.push_back(i);
  }
  if (tied.empty()) return out;
  for (double share = 1; share > 1e-3; share /= 2) {  // less of the covariances until they are possible together
    std::vector<double> matrix(tied.size() * tied.size()), part;
    for (std::size_t i = 0; i < tied.size(); ++i) {
      const std::size_t a = index(workers[tied[i]]);
      part.push_back(right[tied[i]]);
      for (std::size_t k = 0; k < tied.size(); ++k) {
        matrix[i * tied.size() + k] =
            i == k ? fitted.split.variance[a] : share * partner_covariance(fitted, a, index(workers[tied[k]]));
      }
    }
    if (!solve(std::move(matrix), tied.size(), part)) continue;
    for (std::size_t i = 0; i < tied.size(); ++i) out[tied[i]] = part[i];
    break;
  }
  return out;
}

/// Mean and variance of a task's truth, as z ~ N(0, 1).
struct TaskTruth {
  double mean = 0, variance = 1;
};
TaskTruth truth_of(const NumberData& data, const Covariances& fitted, std::size_t task) {
  const auto workers = data.answers.workers_of(TaskId(task));
  if (workers.empty()) return {};
  const AnswerIndex first = data.answers.task_offsets()[task];
  std::vector<double> gain, off;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    gain.push_back(fitted.split.gain[index(workers[i])]);
    off.push_back(fitted.column.value[first + i] - fitted.bias[index(workers[i])] - fitted.truth.mean);
  }
  const std::vector<double> weights = weigh(fitted, workers, gain);
  double precision = 1, sum = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    precision += weights[i] * gain[i];
    sum += weights[i] * off[i];
  }
  precision = std::max(precision, 1.0);
  return {sum / precision, 1 / precision};
}

std::vector<CorrelatedWorkers> pairs_of(const Covariances& fitted, std::size_t dimension) {
  std::vector<CorrelatedWorkers> pairs;
  for (const Split::Pair& pair : fitted.split.pairs) {
    pairs.push_back(
        {WorkerId(pair.first), WorkerId(pair.second), dimension,
         pair.covariance / std::sqrt(fitted.split.variance[pair.first] * fitted.split.variance[pair.second]),
         static_cast<std::uint64_t>(fitted.moments.tasks_of(pair.first, pair.second))});
  }
  return pairs;
}

void sort_by_strength(std::vector<CorrelatedWorkers>& pairs) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const CorrelatedWorkers& a, const CorrelatedWorkers& b) {
    return std::abs(a.correlation) > std::abs(b.correlation);
  });
}

/// Says which workers err together, the strongest pairs by name.
void warn_of_pairs(const NumberAnswers& answers, NumberFit& fit) {
  const std::vector<CorrelatedWorkers>& pairs = fit.correlated;
  if (pairs.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < std::min(pairs.size(), kShownPairs); ++i) {
    const CorrelatedWorkers& pair = pairs[i];
    const std::string where =
        answers.dimensions() > 1 ? fmt::format(" in {}", printable(answers.dimension_names()[pair.dimension])) : "";
    list += fmt::format("{}{} and {} ({:.2f}{}, {} tasks)", i > 0 ? "; " : "",
                        printable(answers.worker_names()[index(pair.first)]),
                        printable(answers.worker_names()[index(pair.second)]), pair.correlation, where, pair.tasks);
  }
  if (pairs.size() > kShownPairs) list += fmt::format("; {} more", pairs.size() - kShownPairs);
  fit.warnings.push_back(
      {"correlated_workers", fmt::format("the errors of some workers go together (correlation): {}.", list),
       "Ask whether they copy or share a source; this method counts such a pair as less than two.", Severity::caution});
}

}  // namespace

NumberMethod method() {
  MethodInfo info;
  info.title = "Worker covariance";
  info.summary = "Splits the workers' covariances into what the truth explains and pairs whose errors go together.";
  info.when_to_use = "When some workers may copy or share a source, and pairs of workers have many tasks in common.";
  info.reference =
      "Y. Tenzer, O. Dror, B. Nadler, E. Bilal, Y. Kluger, Crowdsourcing regression: a spectral approach, AISTATS 2022";
  info.assumptions =
      "Answers are linear in the truth; errors do not depend on it, and few pairs of workers err together.";
  info.cost = "time Σ m² and M² per iteration; memory M²";
  info.uses_gold = true;
  info.max_workers = kMostWorkers;
  return NumberMethod::of<WorkerCovariance, parameters>(std::move(info));
}

NumberFit WorkerCovariance::fit(const NumberData& data, const RunContext& context, const NumberStart&) const {
  check_size(data.answers);
  numbers::MeanStart start = numbers::mean_start(data, context);
  NumberFit fit = std::move(start.fit);
  fit.iterations = 0;
  for (std::size_t d = 0; d < fit.dimensions && !context.cancelled(); ++d) {
    const Covariances fitted = fit_covariances(data, start.spread, d, options_);
    if (fitted.column.unit == 0) continue;
    fit.iterations += fitted.split.iterations;
    if (!fitted.split.converged) fit.status = Status::iteration_limit;
    const Blocks blocks{fit.task_count, 1024};
    context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
        if (data.answers.workers_of(TaskId(t)).empty()) continue;
        const TaskTruth truth = truth_of(data, fitted, t);
        const double s = fitted.deviation_of_truth;
        numbers::set_estimate(fit, t, d, fitted.column, fitted.truth.mean + s * truth.mean, s * s * truth.variance);
      }
    });
    for (std::size_t w = 0; w < fit.worker_count; ++w) {
      fit.bias[w * fit.dimensions + d] = fitted.column.unit * fitted.bias[w];
      fit.scale[w * fit.dimensions + d] = fitted.column.unit * std::sqrt(fitted.split.variance[w]);
    }
    const auto found = pairs_of(fitted, d);
    fit.correlated.insert(fit.correlated.end(), found.begin(), found.end());
  }
  sort_by_strength(fit.correlated);
  fit.learned.emplace_back("correlated_pairs", static_cast<double>(fit.correlated.size()));
  warn_of_pairs(data.answers, fit);
  if (context.cancelled()) fit.status = Status::cancelled;
  numbers::pin_gold(data, fit);
  return fit;
}

std::vector<double> WorkerCovariance::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                     const RunContext& context) const {
  check_size(data.answers);
  const numbers::MeanStart start = numbers::mean_start(data, context);
  std::vector<double> logs(answers.size(), 0);
  for (std::size_t d = 0; d < data.answers.dimensions(); ++d) {
    const Covariances fitted = fit_covariances(data, start.spread, d, options_);
    std::vector<TaskTruth> truths(data.answers.task_count());
    for (std::size_t t = 0; t < truths.size() && fitted.column.unit > 0; ++t) truths[t] = truth_of(data, fitted, t);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::size_t t = index(answers[i].task), w = index(answers[i].worker);
      numbers::Around known{start.fit.estimate[t * data.answers.dimensions() + d], start.spread.deviation[d]};
      double degrees = 1e6;
      if (fitted.column.unit > 0) {
        const TaskTruth& truth = truths[t];
        const double gain = fitted.split.gain[w];
        const double width = std::sqrt(gain * gain * truth.variance + fitted.split.variance[w]);
        known = {fitted.column.centre + fitted.column.unit * (fitted.truth.mean + fitted.bias[w] + gain * truth.mean),
                 fitted.column.unit * width};
        degrees = 4 + fitted.moments.tasks_of(w, w);
      }
      const numbers::Around around = numbers::usable(known, start.spread.all[d]);
      logs[i] += numbers::student_log_density(answers[i].value[d] - around.middle, around.deviation, degrees);
    }
  }
  return logs;
}

}  // namespace wisecrowd::worker_covariance
