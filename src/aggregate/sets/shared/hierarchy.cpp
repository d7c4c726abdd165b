#include "aggregate/sets/shared/hierarchy.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::sets {
namespace {

constexpr std::size_t kWorkersPerStep = 16;
constexpr double kFarthest = 12;      // logit m: closer to 0 or 1 makes no difference
constexpr double kLongestStep = 1.5;  // of an effect, in one iteration
constexpr double kLeastStrength = 0.5, kMostStrength = 1e4;
constexpr double kLeastCount = 1e-9;  // cells with fewer answers say nothing

double logit(double p) { return math::log(p / (1 - p)); }

double mean_of(double center) { return sigmoid(std::clamp(center, -kFarthest, kFarthest)); }

/// ln Γ(x + n) − ln Γ(x)
double log_rise(double x, double n) { return log_gamma_positive(x + n) - log_gamma_positive(x); }

/// Newton's step, towards larger values whatever the curvature.
double step_of(double first, double second) {
  const double step = second < 0 ? -first / second : first;
  return std::clamp(step, -kLongestStep, kLongestStep);
}

}  // namespace

RateHierarchy::RateHierarchy(std::size_t workers, std::size_t classes)
    : right(workers * classes),
      wrong(workers * classes),
      worker_effect(workers),
      class_effect(classes),
      workers_(workers),
      classes_(classes),
      class_step_(classes, 1) {}

void RateHierarchy::start() {
  double good = 1, bad = 1;
  for (std::size_t i = 0; i < right.size(); ++i) {
    good += right[i];
    bad += wrong[i];
  }
  center_ = logit(good / (good + bad));
  std::fill(worker_effect.begin(), worker_effect.end(), center_);
}

double RateHierarchy::above(std::size_t worker, std::size_t label) const noexcept {
  return strength_ * mean_of(worker_effect[worker] + class_effect[label]);
}
double RateHierarchy::below(std::size_t worker, std::size_t label) const noexcept {
  return strength_ * (1 - mean_of(worker_effect[worker] + class_effect[label]));
}

void RateHierarchy::add_cell(double center, std::size_t cell, bool with_slopes, Slope& sum) const {
  const double r = right[cell], w = wrong[cell];
  if (r + w < kLeastCount) return;
  const double m = mean_of(center), a = strength_ * m, b = strength_ * (1 - m);
  sum.value += log_rise(a, r) + log_rise(b, w);  // and what does not depend on the center
  if (!with_slopes) return;
  const double da = digamma_positive(a + r) - digamma_positive(a);
  const double db = digamma_positive(b + w) - digamma_positive(b);
  const double width = strength_ * m * (1 - m);
  sum.first += width * (da - db);
  sum.second +=
      width * width * (trigamma(a + r) - trigamma(a) + trigamma(b + w) - trigamma(b)) + width * (1 - 2 * m) * (da - db);
}

RateHierarchy::Slope RateHierarchy::of_worker(std::size_t worker, double effect, bool with_slopes) const {
  Slope sum{-0.5 * (effect - center_) * (effect - center_), -(effect - center_), -1};
  for (std::size_t k = 0; k < classes_; ++k)
    add_cell(effect + class_effect[k], worker * classes_ + k, with_slopes, sum);
  return sum;
}

void RateHierarchy::climb_worker(std::size_t worker) {
  const Slope here = of_worker(worker, worker_effect[worker], true);
  double step = step_of(here.first, here.second);
  for (int tries = 0; tries < 3; ++tries, step /= 3) {
    if (of_worker(worker, worker_effect[worker] + step, false).value < here.value) continue;
    worker_effect[worker] += step;
    return;
  }
}

void RateHierarchy::climb_classes(const RunContext& context) {
  const Blocks blocks{workers_, kWorkersPerStep};
  std::vector<std::vector<Slope>> parts(blocks.count());
  const auto sums_at = [&](const std::vector<double>& effects, bool with_slopes) {
    context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      parts[b].assign(classes_, {});
      for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) {
        for (std::size_t k = 0; k < classes_; ++k) {
          add_cell(worker_effect[w] + effects[k], w * classes_ + k, with_slopes, parts[b][k]);
        }
      }
    });
    std::vector<Slope> sums(classes_);
    for (std::size_t k = 0; k < classes_; ++k) {
      sums[k] = {-0.5 * effects[k] * effects[k], -effects[k], -1};
      for (const auto& part : parts) {
        sums[k].value += part[k].value;
        sums[k].first += part[k].first;
        sums[k].second += part[k].second;
      }
    }
    return sums;
  };
  const std::vector<Slope> here = sums_at(class_effect, true);
  std::vector<double> tried = class_effect;
  for (std::size_t k = 0; k < classes_; ++k) tried[k] += class_step_[k] * step_of(here[k].first, here[k].second);
  const std::vector<Slope> there = sums_at(tried, false);
  for (std::size_t k = 0; k < classes_; ++k) {
    const bool better = there[k].value >= here[k].value;
    if (better) class_effect[k] = tried[k];
    class_step_[k] = better ? std::min(1.0, 2 * class_step_[k]) : class_step_[k] / 3;
  }
}

double RateHierarchy::total(double strength, const RunContext& context) const {
  const Blocks blocks{workers_, kWorkersPerStep};
  std::vector<double> parts(blocks.count());
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) {
      for (std::size_t k = 0; k < classes_; ++k) {
        const std::size_t cell = w * classes_ + k;
        const double r = right[cell], n = r + wrong[cell];
        if (n < kLeastCount) continue;
        const double m = mean_of(worker_effect[w] + class_effect[k]);
        parts[b] += log_rise(strength * m, r) + log_rise(strength * (1 - m), wrong[cell]) - log_rise(strength, n);
      }
    }
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

void RateHierarchy::climb_strength(const RunContext& context) {
  const double here = total(strength_, context);
  for (const double direction : {1.0, -1.0}) {
    const double tried = std::clamp(strength_ * math::exp(direction * strength_step_), kLeastStrength, kMostStrength);
    if (tried == strength_ || total(tried, context) <= here) continue;
    strength_ = tried;
    strength_step_ = std::min(1.0, 1.5 * strength_step_);
    return;
  }
  strength_step_ = std::max(strength_step_ / 3, 1e-3);
}

double RateHierarchy::climb(const RunContext& context) {
  const Blocks blocks{workers_, kWorkersPerStep};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) climb_worker(w);
  });
  climb_classes(context);
  climb_strength(context);
  double sum = 0;
  for (const double effect : worker_effect) sum += effect;
  if (workers_ > 0) center_ = sum / static_cast<double>(workers_);
  return log_prior();
}

double RateHierarchy::log_prior() const {
  double sum = 0;
  for (const double effect : worker_effect) sum -= 0.5 * (effect - center_) * (effect - center_);
  for (const double effect : class_effect) sum -= 0.5 * effect * effect;
  return sum;
}

HierarchicalWorkers::HierarchicalWorkers(std::size_t workers, std::size_t classes)
    : classes_(classes), sensitivity_(workers, classes), specificity_(workers, classes) {}

double HierarchicalWorkers::prepare(const Counts& counts, const RunContext& context) {
  for (std::size_t cell = 0; cell < counts.hits.size(); ++cell) {
    // They are differences of sums, so that rounding may take them below 0.
    sensitivity_.right[cell] = std::max(counts.hits[cell], 0.0);
    sensitivity_.wrong[cell] = std::max(counts.misses(cell), 0.0);
    specificity_.right[cell] = std::max(counts.clear(cell, cell / classes_), 0.0);
    specificity_.wrong[cell] = std::max(counts.false_alarms(cell), 0.0);
  }
  if (!started_) {
    sensitivity_.start();
    specificity_.start();
    started_ = true;
  }
  return sensitivity_.climb(context) + specificity_.climb(context);
}

double HierarchicalWorkers::update(const Counts&, std::size_t worker, LogRow& logs) const {
  double objective = 0;
  // Expected logarithms under the posterior of a rate, and minus its divergence from the prior.
  const auto settle = [&](const RateHierarchy& rates, std::size_t k, double& log_right, double& log_wrong) {
    const double r = rates.right[worker * classes_ + k], w = rates.wrong[worker * classes_ + k];
    const double a = rates.above(worker, k), b = rates.below(worker, k);
    const double total = digamma_positive(a + b + r + w);
    log_right = digamma_positive(a + r) - total;
    log_wrong = digamma_positive(b + w) - total;
    objective += log_rise(a, r) + log_rise(b, w) - log_rise(a + b, r + w) - r * log_right - w * log_wrong;
  };
  for (std::size_t k = 0; k < classes_; ++k) {
    settle(sensitivity_, k, logs.hit[k], logs.miss[k]);
    settle(specificity_, k, logs.clear[k], logs.false_alarm[k]);
  }
  return objective;
}

void HierarchicalWorkers::estimate(const Counts& counts, std::size_t worker, double* sensitivity,
                                   double* specificity) const {
  const auto rate = [&](const RateHierarchy& rates, std::size_t k, double r, double w) {
    return (rates.above(worker, k) + std::max(r, 0.0)) / (rates.strength() + std::max(r, 0.0) + std::max(w, 0.0));
  };
  for (std::size_t k = 0; k < classes_; ++k) {
    const std::size_t cell = worker * classes_ + k;
    sensitivity[k] = rate(sensitivity_, k, counts.hits[cell], counts.misses(cell));
    specificity[k] = rate(specificity_, k, counts.clear(cell, worker), counts.false_alarms(cell));
  }
}

void HierarchicalWorkers::finish(SetFit& fit) const {
  fit.learned.emplace_back("sensitivity_strength", sensitivity_.strength());
  fit.learned.emplace_back("specificity_strength", specificity_.strength());
}

}  // namespace wisecrowd::sets
