#include "aggregate/numbers/crh_numbers/crh_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "aggregate/method.hpp"
#include "aggregate/numbers/shared/precision_em.hpp"
#include "base/math.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::crh_numbers {
namespace {

constexpr double kLeastDistance = 1e-9;

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("distance", o.distance, kDistanceNames, "squared, with weighted means, or absolute, with weighted medians");
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "rounds at most");
  v.real("tolerance", o.tolerance, 0, 1, "largest change of a weight that ends it");
}

/// min Σ_j w_j Σ_i dist(z_i, y_ij) subject to Σ_j exp(−w_j) = 1, z and w in turn.
class Rounds {
 public:
  Rounds(const NumberData& data, std::vector<numbers::StandardColumn> columns, Distance distance,
         const RunContext& context)
      : answers_(data.answers), columns_(std::move(columns)), distance_(distance), context_(context) {
    weight_.assign(answers_.worker_count(), 1);
    mean_distance_.assign(answers_.worker_count(), 0);
    estimate_.assign(columns_.size(), std::vector<double>(answers_.task_count(), 0));
  }

  void place_estimates() {
    const Blocks blocks{answers_.task_count(), 4096};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      std::vector<std::pair<double, double>> list;
      for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
        for (std::size_t c = 0; c < columns_.size(); ++c) estimate_[c][t] = estimate_of(t, columns_[c], list);
      }
    });
  }

  /// Returns the largest change of a weight.
  double weigh() {
    double all = 0;
    for (std::size_t w = 0; w < weight_.size(); ++w) {
      const auto own = answers_.answers_of(WorkerId(w));
      const auto tasks = answers_.tasks_of(WorkerId(w));
      double sum = 0;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        for (std::size_t i = 0; i < own.size(); ++i) {
          const double off = columns_[c].value[own[i]] - estimate_[c][index(tasks[i])];
          sum += distance_ == Distance::squared ? off * off : std::abs(off);
        }
      }
      const auto count = static_cast<double>(own.size() * columns_.size());
      mean_distance_[w] = own.empty() ? 0 : sum / count + kLeastDistance;
      all += mean_distance_[w];
    }
    double moved = 0;
    for (std::size_t w = 0; w < weight_.size(); ++w) {
      // A worker alone has all of the distance, and the weight 0: it counts all the same.
      const double weight = mean_distance_[w] > 0 ? std::max(-math::log(mean_distance_[w] / all), kLeastDistance) : 1;
      moved = std::max(moved, std::abs(weight - weight_[w]));
      weight_[w] = weight;
    }
    return moved;
  }

  [[nodiscard]] double weight(WorkerId worker) const { return weight_[index(worker)]; }
  [[nodiscard]] double estimate(std::size_t column, std::size_t task) const { return estimate_[column][task]; }
  /// A worker's mean square of errors.
  [[nodiscard]] double variance(WorkerId worker) const {
    const double own = mean_distance_[index(worker)];
    return distance_ == Distance::squared ? own : own * own * std::numbers::pi / 2;
  }
  [[nodiscard]] const std::vector<numbers::StandardColumn>& columns() const { return columns_; }

 private:
  double estimate_of(std::size_t task, const numbers::StandardColumn& column,
                     std::vector<std::pair<double, double>>& list) const {
    if (!column.gold.empty() && !std::isnan(column.gold[task])) return column.gold[task];
    const auto offsets = answers_.task_offsets();
    double sum = 0, weights = 0;
    list.clear();
    for (AnswerIndex a = offsets[task]; a < offsets[task + 1]; ++a) {
      const double w = weight(answers_.workers()[a]);
      sum += w * column.value[a];
      weights += w;
      if (distance_ == Distance::absolute) list.emplace_back(column.value[a], w);
    }
    if (weights == 0) return 0;
    return distance_ == Distance::absolute ? weighted_median(list) : sum / weights;
  }

  const NumberAnswers& answers_;
  std::vector<numbers::StandardColumn> columns_;
  Distance distance_;
  const RunContext& context_;
  std::vector<double> weight_, mean_distance_;
  std::vector<std::vector<double>> estimate_;
};

void write(const NumberData& data, const Rounds& rounds, const std::vector<std::size_t>& dimensions, NumberFit& fit) {
  for (std::size_t c = 0; c < dimensions.size(); ++c) {
    const numbers::StandardColumn& column = rounds.columns()[c];
    for (std::size_t t = 0; t < fit.task_count; ++t) {
      double weights = 0, variance = 0;
      for (const WorkerId w : data.answers.workers_of(TaskId(t))) {
        weights += rounds.weight(w);
        variance += rounds.weight(w) * rounds.weight(w) * rounds.variance(w);
      }
      if (weights == 0) continue;
      numbers::set_estimate(fit, t, dimensions[c], column, rounds.estimate(c, t), variance / (weights * weights));
    }
    for (std::size_t w = 0; w < fit.worker_count; ++w) {
      if (data.answers.answers_of(WorkerId(w)).empty()) continue;
      fit.scale[w * fit.dimensions + dimensions[c]] = column.unit * std::sqrt(rounds.variance(WorkerId(w)));
    }
  }
}

}  // namespace

double weighted_median(std::span<std::pair<double, double>> values_and_weights) {
  std::sort(values_and_weights.begin(), values_and_weights.end());
  double all = 0, below = 0;
  for (const auto& [value, weight] : values_and_weights) all += weight;
  for (std::size_t i = 0; i < values_and_weights.size(); ++i) {
    below += values_and_weights[i].second;
    if (below > all / 2 * (1 + 1e-12)) return values_and_weights[i].first;
    if (below >= all / 2 * (1 - 1e-12) && i + 1 < values_and_weights.size()) {
      return values_and_weights[i].first / 2 + values_and_weights[i + 1].first / 2;
    }
  }
  return values_and_weights.back().first;
}

NumberMethod method() {
  MethodInfo info;
  info.title = "CRH for numbers";
  info.summary = "Weighted means, and weights of workers by how far they are from them, in turn.";
  info.when_to_use = "When workers differ in care and no model of their errors is wanted.";
  info.reference =
      "Q. Li et al., Resolving conflicts in heterogeneous data by truth discovery and source reliability estimation, "
      "SIGMOD 2014";
  info.assumptions = "Errors are independent and without bias; a worker's mean distance shows its care.";
  info.cost = "time S·D per iteration; memory S·D";
  info.uses_gold = true;
  return NumberMethod::of<CrhNumbers, parameters>(std::move(info));
}

NumberFit CrhNumbers::fit(const NumberData& data, const RunContext& context, const NumberStart&) const {
  numbers::MeanStart start = numbers::mean_start(data, context);
  NumberFit fit = std::move(start.fit);
  std::vector<std::size_t> dimensions;
  std::vector<numbers::StandardColumn> columns;
  for (std::size_t d = 0; d < fit.dimensions; ++d) {
    numbers::StandardColumn column = numbers::standard_column(data, start.spread, d);
    if (column.unit == 0) continue;
    dimensions.push_back(d);
    columns.push_back(std::move(column));
  }
  if (dimensions.empty()) return fit;
  Rounds rounds(data, std::move(columns), options_.distance, context);
  fit.status = Status::iteration_limit;
  for (std::size_t i = 0; i < options_.max_iterations && fit.status == Status::iteration_limit; ++i) {
    rounds.place_estimates();
    const double moved = rounds.weigh();
    fit.iterations = i + 1;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(i + 1),
                    .total = static_cast<double>(options_.max_iterations)});
    if (moved < options_.tolerance) fit.status = Status::converged;
    if (context.cancelled()) fit.status = Status::cancelled;
  }
  write(data, rounds, dimensions, fit);
  numbers::pin_gold(data, fit);
  return fit;
}

}  // namespace wisecrowd::crh_numbers
