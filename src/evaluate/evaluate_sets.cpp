#include "wisecrowd/evaluate_sets.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/intervals.hpp"
#include "base/math.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kNothingToDivideBy = std::numeric_limits<double>::quiet_NaN();

double share_of(double part, double whole) { return whole > 0 ? part / whole : kNothingToDivideBy; }

/// Mean of values between 0 and 1, with a normal interval.
class SharesOfTasks {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
    ++count_;
  }
  [[nodiscard]] Estimate estimate() const {
    const auto n = static_cast<double>(count_);
    const double mean = sum_ / n;
    const double error =
        count_ < 2 ? kNothingToDivideBy : std::sqrt(std::max(squares_ / n - mean * mean, 0.0) / (n - 1));
    return {mean, std::max(mean - kNormal95 * error, 0.0), std::min(mean + kNormal95 * error, 1.0)};
  }

 private:
  double sum_ = 0, squares_ = 0;
  std::size_t count_ = 0;
};

/// A task's part of the pooled counts.
struct PooledTask {
  double right, either;  ///< either: predicted + gold
};

/// 2 Σ right / Σ (predicted + gold), with the interval of a ratio of sums over tasks.
Estimate pooled_f1(const std::vector<PooledTask>& tasks) {
  double right = 0, either = 0;
  for (const PooledTask& task : tasks) {
    right += task.right;
    either += task.either;
  }
  const double f1 = share_of(2 * right, either);
  double squares = 0;
  for (const PooledTask& task : tasks) squares += math::pow(2 * task.right - f1 * task.either, 2);
  const double error = share_of(std::sqrt(squares), either);
  return {f1, std::max(f1 - kNormal95 * error, 0.0), std::min(f1 + kNormal95 * error, 1.0)};
}

}  // namespace

double SetClassScore::precision() const noexcept {
  return share_of(static_cast<double>(right), static_cast<double>(predicted));
}
double SetClassScore::recall() const noexcept {
  return share_of(static_cast<double>(right), static_cast<double>(gold));
}
double SetClassScore::f1() const noexcept {
  return share_of(2 * static_cast<double>(right), static_cast<double>(predicted + gold));
}

GoldSets sets_of(const SetFit& fit) {
  GoldSets sets(fit.task_count);
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    if (fit.is_known(TaskId(t))) sets[t] = fit.set_of(TaskId(t));
  }
  return sets;
}

SetEvaluation evaluate_sets(const GoldSets& predicted, const GoldSets& gold, std::size_t class_count) {
  if (predicted.size() != gold.size()) {
    throw Error(ErrorCode::bad_parameter, "sets and gold must have one entry per task");
  }
  SetEvaluation evaluation;
  evaluation.brier = kNothingToDivideBy;
  evaluation.classes.resize(class_count);
  SharesOfTasks jaccard, hamming;
  std::vector<PooledTask> pooled;
  double exact = 0;
  for (std::size_t t = 0; t < gold.size(); ++t) {
    if (!gold[t]) continue;
    if (!predicted[t]) {
      ++evaluation.missing;
      continue;
    }
    ++evaluation.tasks;
    std::vector<ClassId> both;
    std::set_intersection(gold[t]->begin(), gold[t]->end(), predicted[t]->begin(), predicted[t]->end(),
                          std::back_inserter(both));
    for (const ClassId label : *gold[t]) ++evaluation.classes.at(index(label)).gold;
    for (const ClassId label : *predicted[t]) ++evaluation.classes.at(index(label)).predicted;
    for (const ClassId label : both) ++evaluation.classes[index(label)].right;
    const auto right = static_cast<double>(both.size());
    const auto either = static_cast<double>(gold[t]->size() + predicted[t]->size());
    jaccard.add(either > 0 ? right / (either - right) : 1);
    hamming.add(class_count > 0 ? (either - 2 * right) / static_cast<double>(class_count) : 0);
    exact += *gold[t] == *predicted[t] ? 1 : 0;
    pooled.push_back({right, either});
  }
  if (evaluation.tasks == 0) {
    throw Error(ErrorCode::bad_input, "no task has both a set and gold, so there is nothing to score");
  }
  const auto tasks = static_cast<double>(evaluation.tasks);
  const Interval whole = wilson_interval(exact, tasks);
  evaluation.exact_match = {exact / tasks, whole.low, whole.high};
  evaluation.jaccard = jaccard.estimate();
  evaluation.hamming = hamming.estimate();
  evaluation.micro_f1 = pooled_f1(pooled);
  SetClassScore all;
  double sum = 0, classes = 0;
  for (const SetClassScore& score : evaluation.classes) {
    all.gold += score.gold;
    all.predicted += score.predicted;
    all.right += score.right;
    if (score.gold + score.predicted == 0) continue;
    sum += score.f1();
    classes += 1;
  }
  evaluation.micro_precision = all.precision();
  evaluation.micro_recall = all.recall();
  evaluation.macro_f1 = share_of(sum, classes);
  return evaluation;
}

SetEvaluation evaluate_sets(const SetFit& fit, const GoldSets& gold) {
  SetEvaluation evaluation = evaluate_sets(sets_of(fit), gold, fit.class_count);
  double squares = 0, cells = 0;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    if (!gold[t] || !fit.is_known(TaskId(t))) continue;
    cells += static_cast<double>(fit.class_count);
    // A class of gold that is no candidate has probability 0, so it is off by 1.
    squares += static_cast<double>(gold[t]->size());
    const auto own = fit.candidates_of(TaskId(t));
    for (std::size_t c = 0; c < own.size(); ++c) {
      const double q = fit.probabilities_of(TaskId(t))[c];
      const bool is = std::binary_search(gold[t]->begin(), gold[t]->end(), own[c]);
      squares += is ? q * q - 2 * q : q * q;
    }
  }
  evaluation.brier = share_of(squares, cells);
  return evaluation;
}

}  // namespace wisecrowd
