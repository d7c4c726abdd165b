#include "learn/crowd_regression/layer_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/math.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::crowd_regression {
namespace {

const double kLogTwoPi = math::log(2 * std::numbers::pi);
constexpr double kLeastVariance = 1e-4;       // of a worker's noise, over the variance of all answers
constexpr double kLeastErrorVariance = 1e-6;  // of the network's error
constexpr double kLeastMeanSlope = 1e-3;      // a crowd whose slopes cancel each other has no gauge
constexpr std::size_t kStepsPerEpoch = 5, kErrorSteps = 30;
constexpr const char* kStart = "gaussian_em";

/// The answers of a set alone; task i of the set is task i there.
NumberData as_numbers(const TrainingSet& set, const StandardAnswers& answers) {
  std::vector<NumberAnswer> list;
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      list.push_back({TaskId(i), set.worker[a],
                      std::span(answers.value).subspan(set.answer[a] * answers.dimensions, answers.dimensions)});
    }
  }
  const auto numbers = [](std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t n = 0; n < count; ++n) names.push_back(fmt::format("{}", n));
    return NameTable(names);
  };
  return {make_number_answers(list, {numbers(set.task_count()), numbers(set.worker_count), numbers(answers.dimensions)},
                              DuplicatePolicy::repeat),
          {}};
}

}  // namespace

TrainingSet number_training_set(const NumberLearningData& data) {
  const NumberAnswers& answers = data.crowd.answers;
  TrainingSet set;
  set.worker_count = answers.worker_count();
  set.offset.push_back(0);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const std::uint32_t row = data.row_of_task[t];
    if (row == kNoRow || data.split[row] != Split::train || offsets[t] == offsets[t + 1]) continue;
    set.task.push_back(TaskId(t));
    set.row.push_back(row);
    set.gold.push_back(kNoClass);
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      set.worker.push_back(answers.workers()[a]);
      set.answer.push_back(static_cast<std::uint32_t>(a));
    }
    set.offset.push_back(static_cast<std::uint32_t>(set.worker.size()));
  }
  if (set.task.empty()) {
    throw Error(ErrorCode::bad_input,
                "there is nothing to learn from: no task of the train split has both features and an answer; check "
                "that the tasks of the answers and of the features have the same names");
  }
  return set;
}

StandardAnswers standard_answers(const NumberAnswers& answers, const TrainingSet& set) {
  StandardAnswers out;
  const std::size_t dimensions = answers.dimensions();
  out.dimensions = dimensions;
  out.centre.assign(dimensions, 0);
  out.unit.assign(dimensions, 0);
  const auto values = answers.values();
  const auto count = static_cast<double>(set.answer_count());
  for (const std::uint32_t a : set.answer) {
    for (std::size_t d = 0; d < dimensions; ++d) out.centre[d] += values[a * dimensions + d] / count;
  }
  for (const std::uint32_t a : set.answer) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const double off = values[a * dimensions + d] - out.centre[d];
      out.unit[d] += off * off / count;
    }
  }
  for (double& unit : out.unit) unit = unit > 0 ? std::sqrt(unit) : 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.value.push_back((values[i] - out.centre[i % dimensions]) / out.unit[i % dimensions]);
  }
  return out;
}

LayerModel::LayerModel(const TrainingSet& set, const StandardAnswers& answers, const Options& options,
                       const RunContext& context)
    : set_(&set),
      answers_(&answers),
      layer_(options.layer),
      own_noise_(options.own_noise),
      task_error_(options.task_error),
      prior_answers_(options.prior_answers),
      lines_(set.worker_count * answers.dimensions),
      count_(set.worker_count, 0),
      error_variance_(answers.dimensions, 0),
      alpha_(answers.dimensions, 1),
      beta_(answers.dimensions, 0) {
  for (const WorkerId w : set.worker) count_[index(w)] += 1;
  // Training begins with what the answers alone say of workers and of how far truths differ.
  const NumberFit fit =
      aggregate(as_numbers(set, answers), kStart, Parameters(method_of<Numbers>(kStart).parameters), context);
  const std::size_t dimensions = answers.dimensions;
  std::vector<double> spread(dimensions, 0);
  for (std::size_t i = 0; i < fit.estimate.size(); ++i) {
    spread[i % dimensions] += fit.estimate[i] * fit.estimate[i] / static_cast<double>(set.task_count());
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (task_error_) error_variance_[d] = std::max(spread[d], kLeastErrorVariance);
    double pooled = 0, all = 0;
    for (std::size_t w = 0; w < set.worker_count; ++w) {
      const double scale = fit.scale[w * dimensions + d], bias = fit.bias[w * dimensions + d];
      Line& own = line(w, d);
      if (has_bias() && std::isfinite(bias)) own.bias = bias;
      own.variance = (std::isfinite(scale) ? scale * scale : 1) + (task_error_ ? 0 : spread[d]);
      own.variance = std::max(own.variance, kLeastVariance);
      pooled += count_[w] * own.variance;
      all += count_[w];
    }
    if (own_noise_) continue;
    for (std::size_t w = 0; w < set.worker_count; ++w) line(w, d).variance = pooled / all;
  }
}

TaskPosterior LayerModel::posterior(double o, double error_variance, std::span<const WorkerId> workers,
                                    std::span<const double> values, std::size_t dimension, double noise) const {
  // Covariance of the answers: diag(v) + τ² s sᵀ.
  double a = 0, b = 0, squares = 0, log_variances = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const Line& own = line(index(workers[i]), dimension);
    const double off = values[i] - own.slope * o - own.bias, variance = own.variance * noise;
    a += own.slope * own.slope / variance;
    b += own.slope * off / variance;
    squares += off * off / variance;
    log_variances += math::log(variance);
  }
  const double spread = 1 + error_variance * a;
  TaskPosterior found;
  found.variance = error_variance / spread;
  found.shift = found.variance * b;
  found.log_density = -(static_cast<double>(workers.size()) * kLogTwoPi + log_variances + math::log(spread) + squares -
                        found.shift * b) /
                      2;
  return found;
}

void LayerModel::gather(const TrainingSet& set, std::size_t task, std::size_t dimension,
                        std::vector<double>& values) const {
  values.clear();
  for (std::uint32_t a = set.offset[task]; a < set.offset[task + 1]; ++a) {
    values.push_back(answers_->value[set.answer[a] * answers_->dimensions + dimension]);
  }
}

double LayerModel::loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                        MatrixView<double> output_gradients) {
  std::size_t answers = 0;
  for (const std::uint32_t task : tasks) answers += set_->offset[task + 1] - set_->offset[task];
  const double share = 1 / static_cast<double>(std::max<std::size_t>(answers, 1));
  double sum = 0;
  std::vector<double> values;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto workers = set_->workers_of(tasks[i]);
    for (std::size_t d = 0; d < answers_->dimensions; ++d) {
      gather(*set_, tasks[i], d, values);
      const double o = truth(outputs(i, d), d);
      const TaskPosterior found = posterior(o, error_variance_[d], workers, values, d);
      // The constant of the densities is left out: the loss of the specification.
      sum -= (found.log_density + static_cast<double>(workers.size()) * kLogTwoPi / 2) * share;
      double gradient = 0;
      for (std::size_t a = 0; a < workers.size(); ++a) {
        const Line& own = line(index(workers[a]), d);
        const double off = values[a] - own.slope * (o + found.shift) - own.bias;
        gradient -= own.slope * off / own.variance;
      }
      output_gradients(i, d) = gradient * share * alpha_[d];
    }
  }
  return sum;
}

double LayerModel::fit_line(const Sums& sums, Line& line) const {
  // As if the worker had answered `prior_answers` more tasks, of mean 0 and variance 1, with the truth.
  const double p = prior_answers_, n = sums.n + p, zz = sums.zz + p, zy = sums.zy + p;
  line.slope = 1;
  line.bias = 0;
  if (layer_ == Layer::scale) {
    line.slope = zy / std::max(zz, kLeastErrorVariance);
  } else if (layer_ == Layer::bias) {
    line.bias = (sums.y - sums.z) / std::max(n, kLeastErrorVariance);
  } else if (has_slope()) {
    const double determinant = n * zz - sums.z * sums.z;
    if (determinant > kLeastErrorVariance * n * zz) {
      line.slope = (n * zy - sums.z * sums.y) / determinant;
      line.bias = (zz * sums.y - sums.z * zy) / determinant;
    }
  }
  const double s = line.slope, b = line.bias;
  return std::max(sums.yy - 2 * s * sums.zy - 2 * b * sums.y + s * s * sums.zz + 2 * s * b * sums.z + b * b * sums.n,
                  0.0);
}

void LayerModel::step_of_em(std::span<const double> outputs) {
  const std::size_t dimensions = answers_->dimensions;
  std::vector<double> values;
  std::vector<Sums> sums(set_->worker_count);
  std::vector<double> squares(set_->worker_count);
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::fill(sums.begin(), sums.end(), Sums{});
    double errors = 0;
    for (std::size_t i = 0; i < set_->task_count(); ++i) {
      const auto workers = set_->workers_of(i);
      gather(*set_, i, d, values);
      const double o = truth(outputs[i * dimensions + d], d);
      const TaskPosterior found = posterior(o, error_variance_[d], workers, values, d);
      errors += found.shift * found.shift + found.variance;
      const double z = o + found.shift;
      for (std::size_t a = 0; a < workers.size(); ++a) {
        Sums& own = sums[index(workers[a])];
        own.n += 1;
        own.z += z;
        own.zz += z * z + found.variance;
        own.y += values[a];
        own.zy += z * values[a];
        own.yy += values[a] * values[a];
      }
    }
    double all_squares = 0, all = 0;
    for (std::size_t w = 0; w < sums.size(); ++w) {
      squares[w] = fit_line(sums[w], line(w, d));
      all_squares += squares[w];
      all += sums[w].n;
    }
    const double pooled = std::max(all_squares / all, kLeastVariance), p = prior_answers_;
    for (std::size_t w = 0; w < sums.size(); ++w) {
      Line& own = line(w, d);
      const double off = 1 - own.slope;
      const double prior = p * (off * off + own.bias * own.bias + pooled);
      own.variance =
          own_noise_ && sums[w].n + p > 0 ? std::max((squares[w] + prior) / (sums[w].n + p), kLeastVariance) : pooled;
    }
    if (task_error_) {
      error_variance_[d] = std::max(errors / static_cast<double>(set_->task_count()), kLeastErrorVariance);
    }
  }
}

void LayerModel::end_epoch(const Epoch& epoch) {
  std::vector<double> outputs(set_->task_count() * answers_->dimensions);
  epoch.predict(outputs);
  for (std::size_t step = 0; step < kStepsPerEpoch; ++step) step_of_em(outputs);
  fix_gauge();
}

void LayerModel::fix_gauge() {
  const double all = std::accumulate(count_.begin(), count_.end(), 0.0);
  for (std::size_t d = 0; d < answers_->dimensions; ++d) {
    double scale = 0;
    for (std::size_t w = 0; w < count_.size(); ++w) scale += count_[w] / all * line(w, d).slope;
    if (!has_slope() || !(std::abs(scale) > kLeastMeanSlope)) scale = 1;
    // z' = scale · z + shift. Where the bias is inside the scale, that of the truth is what must vanish in the mean.
    double shift = 0;
    for (std::size_t w = 0; w < count_.size(); ++w) {
      const Line& own = line(w, d);
      shift += count_[w] / all * (layer_ == Layer::bias_scale ? scale * own.bias / own.slope : own.bias);
    }
    if (!has_bias() || !std::isfinite(shift)) shift = 0;
    for (std::size_t w = 0; w < count_.size(); ++w) {
      Line& own = line(w, d);
      own.slope /= scale;
      own.bias -= own.slope * shift;
    }
    alpha_[d] *= scale;
    beta_[d] = scale * beta_[d] + shift;
    error_variance_[d] *= scale * scale;
  }
}

std::vector<double> LayerModel::answer_likelihoods(const TrainingSet& set, std::span<const double> outputs) const {
  return likelihoods(set, outputs, error_of(set, outputs));
}

std::vector<double> LayerModel::likelihoods(const TrainingSet& set, std::span<const double> outputs,
                                            const NetworkError& error) const {
  const std::size_t dimensions = answers_->dimensions;
  std::vector<double> sums(set.task_count(), 0), values;
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      gather(set, i, d, values);
      const double o = truth(outputs[i * dimensions + d], d);
      sums[i] += posterior(o, error.variance[d], set.workers_of(i), values, d, error.noise[d]).log_density;
    }
  }
  return sums;
}

NetworkError LayerModel::error_of(const TrainingSet& set, std::span<const double> outputs) const {
  const std::size_t dimensions = answers_->dimensions;
  NetworkError error{error_variance_, std::vector<double>(dimensions, 1)};
  std::vector<double> values;
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (std::size_t step = 0; task_error_ && step < kErrorSteps; ++step) {
      double errors = 0;
      for (std::size_t i = 0; i < set.task_count(); ++i) {
        gather(set, i, d, values);
        const double o = truth(outputs[i * dimensions + d], d);
        const TaskPosterior found = posterior(o, error.variance[d], set.workers_of(i), values, d);
        errors += found.shift * found.shift + found.variance;
      }
      error.variance[d] = std::max(errors / static_cast<double>(set.task_count()), kLeastErrorVariance);
    }
    if (task_error_) continue;
    double squares = 0;
    for (std::size_t i = 0; i < set.task_count(); ++i) {
      for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
        const Line& own = line(index(set.worker[a]), d);
        const double off = answers_->value[set.answer[a] * dimensions + d] - own.bias -
                           own.slope * truth(outputs[i * dimensions + d], d);
        squares += off * off / own.variance;
      }
    }
    error.noise[d] = std::max(squares / static_cast<double>(set.answer_count()), kLeastVariance);
  }
  return error;
}

}  // namespace wisecrowd::crowd_regression
