#include "aggregate/categories/shared/covariance_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace wisecrowd {
namespace {

constexpr double kFirstV = 0.5;

/// The answers as deviations from each worker's mean, by worker, gold last.
struct Deviations {
  std::vector<std::size_t> offsets{0};
  std::vector<std::uint32_t> tasks;
  std::vector<double> values;

  explicit Deviations(const CategoryData& data, std::vector<double>& means) {
    const CategoryAnswers& answers = data.answers;
    tasks.reserve(answers.answer_count());
    values.reserve(answers.answer_count());
    const auto close = [&] {
      const std::size_t begin = offsets.back(), end = values.size();
      double sum = 0;
      for (std::size_t a = begin; a < end; ++a) sum += values[a];
      means.push_back(end > begin ? sum / static_cast<double>(end - begin) : 0);
      for (std::size_t a = begin; a < end; ++a) values[a] -= means.back();
      offsets.push_back(end);
    };
    const auto add = [&](TaskId task, ClassId label) {
      tasks.push_back(static_cast<std::uint32_t>(index(task)));
      values.push_back(index(label) == 1 ? 1 : -1);
    };
    for (std::uint32_t w = 0; w < answers.worker_count(); ++w) {
      const auto own = answers.tasks_of(WorkerId{w});
      const auto given = answers.answers_of(WorkerId{w});
      for (std::size_t a = 0; a < own.size(); ++a) add(own[a], answers.labels()[given[a]]);
      close();
    }
    if (!data.has_gold()) return;
    for (std::uint32_t t = 0; t < data.gold.size(); ++t) {
      if (data.gold[t] != kNoClass) add(TaskId{t}, data.gold[t]);
    }
    close();
  }
};

/// Per task: Σ x v, Σ v², and what is needed to leave a worker out.
struct TaskSums {
  std::vector<double> products, squares;

  void refresh(const Deviations& x, const std::vector<double>& v, std::size_t tasks) {
    products.assign(tasks, 0.0);
    squares.assign(tasks, 0.0);
    for (std::size_t w = 0; w < v.size(); ++w) {
      for (std::size_t a = x.offsets[w]; a < x.offsets[w + 1]; ++a) {
        products[x.tasks[a]] += x.values[a] * v[w];
        squares[x.tasks[a]] += v[w] * v[w];
      }
    }
  }
};

/// Σ over pairs of 2 x x' v v' − (v v')², from sums over workers: Σ_{j<j'} a_j a_j' = ((Σ a)² − Σ a²)/2.
double explained(const Deviations& x, const std::vector<double>& v, const TaskSums& sums) {
  double total = 0;
  for (std::size_t t = 0; t < sums.products.size(); ++t) {
    total += sums.products[t] * sums.products[t] - sums.squares[t] * sums.squares[t] / 2;
  }
  for (std::size_t w = 0; w < v.size(); ++w) {
    const double square = v[w] * v[w];
    for (std::size_t a = x.offsets[w]; a < x.offsets[w + 1]; ++a) {
      total += square * square / 2 - x.values[a] * x.values[a] * square;
    }
  }
  return total;
}

/// Best v of one worker, the others fixed; the task sums follow.
double improve(std::size_t w, const Deviations& x, std::vector<double>& v, TaskSums& sums) {
  const double old = v[w];
  double above = 0, below = 0;
  for (std::size_t a = x.offsets[w]; a < x.offsets[w + 1]; ++a) {
    above += x.values[a] * (sums.products[x.tasks[a]] - x.values[a] * old);
    below += std::max(sums.squares[x.tasks[a]] - old * old, 0.0);
  }
  if (!(below > 1e-12)) return 0;
  v[w] = std::clamp(above / below, -1.0, 1.0);
  const double step = v[w] - old, growth = v[w] * v[w] - old * old;
  for (std::size_t a = x.offsets[w]; a < x.offsets[w + 1]; ++a) {
    sums.products[x.tasks[a]] += x.values[a] * step;
    sums.squares[x.tasks[a]] += growth;
  }
  return std::abs(step);
}

/// v as covariance with the truth that a posterior describes, z = 2 P(+1) − 1.
void start_from(std::span<const double> posterior, const Deviations& x, std::vector<double>& v) {
  for (std::size_t w = 0; w < v.size(); ++w) {
    double sum = 0;
    for (std::size_t a = x.offsets[w]; a < x.offsets[w + 1]; ++a) {
      sum += x.values[a] * (2 * posterior[x.tasks[a] * 2 + 1] - 1);
    }
    const auto count = static_cast<double>(x.offsets[w + 1] - x.offsets[w]);
    v[w] = count > 0 ? std::clamp(sum / count, -1.0, 1.0) : 0;
  }
}

}  // namespace

CovarianceFit fit_covariances(const CategoryData& data, const RunContext& context, const CovarianceOptions& options,
                              const CategoryStart& start) {
  const std::size_t tasks = data.answers.task_count();
  CovarianceFit fit;
  fit.links = link_workers(data);
  fit.answers = answer_counts(data);
  const Deviations x(data, fit.mean);
  fit.v.assign(fit.mean.size(), kFirstV);
  if (!start.empty()) start_from(start.posterior, x, fit.v);
  double pairs = 0;
  const auto offsets = data.answers.task_offsets();
  for (std::size_t t = 0; t < tasks; ++t) {
    const double present = static_cast<double>(offsets[t + 1] - offsets[t]) +
                           (data.gold_of(TaskId{static_cast<std::uint32_t>(t)}) != kNoClass ? 1 : 0);
    pairs += present * (present - 1) / 2;
  }
  const auto started = std::chrono::steady_clock::now();
  TaskSums sums;
  while (fit.iterations < options.max_iterations) {
    sums.refresh(x, fit.v, tasks);  // anew in each sweep, so that rounding cannot pile up
    double moved = 0;
    for (std::size_t w = 0; w < fit.v.size(); ++w) moved = std::max(moved, improve(w, x, fit.v, sums));
    fit.trace.push_back(explained(x, fit.v, sums) / std::max(pairs, 1.0));
    ++fit.iterations;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(fit.iterations),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = fit.trace.back(),
                    .has_objective = true});
    if (context.cancelled()) {
      fit.status = Status::cancelled;
      break;
    }
    if (moved <= options.tolerance) {
      fit.status = Status::converged;
      break;
    }
  }
  fit.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  orient_parts(fit.links, fit.answers, fit.v);
  fill_alone(fit.links, fit.answers, fit.v, kFirstV);
  return fit;
}

ThirdMoment fit_third_moment(const CategoryData& data, const CovarianceFit& fit) {
  const CategoryAnswers& answers = data.answers;
  double above = 0, below = 0;
  // Third elementary symmetric sums, which run over all triples of a task's workers.
  struct Symmetric {
    double first = 0, second = 0, third = 0;
    void add(double a) {
      third += second * a;
      second += first * a;
      first += a;
    }
  };
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    const TaskId task{t};
    const auto workers = answers.workers_of(task);
    const auto labels = answers.labels_of(task);
    Symmetric products, squares;
    const auto add = [&](std::size_t w, ClassId label) {
      const double x = (index(label) == 1 ? 1 : -1) - fit.mean[w];
      products.add(x * fit.v[w]);
      squares.add(fit.v[w] * fit.v[w]);
    };
    for (std::size_t a = 0; a < workers.size(); ++a) add(index(workers[a]), labels[a]);
    if (data.gold_of(task) != kNoClass) add(fit.v.size() - 1, data.gold_of(task));
    above += products.third;
    below += squares.third;
  }
  if (!(below > 1e-12)) return {};
  return {above / below, true};
}

double balance_from(double alpha) noexcept { return -alpha / std::sqrt(4 + alpha * alpha); }

TableModel tables_from_balance(const CovarianceFit& fit, std::size_t workers, double balance) {
  TableModel model{2, std::vector<double>(workers * 4), {(1 - balance) / 2, (1 + balance) / 2}};
  const double ratio = std::sqrt((1 - balance) / (1 + balance));
  for (std::size_t w = 0; w < workers; ++w) {
    const double margin = 1 / (fit.answers[w] + 2);
    const double sensitivity = std::clamp((1 + fit.mean[w] + fit.v[w] * ratio) / 2, margin, 1 - margin);
    const double specificity = std::clamp((1 - fit.mean[w] + fit.v[w] / ratio) / 2, margin, 1 - margin);
    const auto table = model.table(w);
    table[0] = specificity;
    table[1] = 1 - specificity;
    table[2] = 1 - sensitivity;
    table[3] = sensitivity;
  }
  return model;
}

}  // namespace wisecrowd
