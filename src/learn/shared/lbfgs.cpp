#include "learn/shared/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

namespace wisecrowd {
namespace {

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct Pair {
  Vector step, change;
  double inverse_curvature;
};

/// Minus the inverse Hessian that the pairs imply, times the gradient (the two loops).
Vector direction(const std::deque<Pair>& pairs, const Vector& gradient) {
  Vector d(gradient.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = -gradient[i];
  Vector weight(pairs.size());
  for (std::size_t p = pairs.size(); p-- > 0;) {
    weight[p] = pairs[p].inverse_curvature * dot(pairs[p].step, d);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] -= weight[p] * pairs[p].change[i];
  }
  if (!pairs.empty()) {
    const Pair& last = pairs.back();
    const double scale = 1 / (last.inverse_curvature * dot(last.change, last.change));
    for (double& value : d) value *= scale;
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const double back = weight[p] - pairs[p].inverse_curvature * dot(pairs[p].change, d);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] += back * pairs[p].step[i];
  }
  return d;
}

}  // namespace

double lbfgs(std::span<double> point, const Objective& objective, const LbfgsOptions& options) {
  constexpr double kEnough = 1e-4;  // of the decrease that the slope promises
  constexpr int kHalvings = 30;
  Vector gradient(point.size()), trial(point.size()), trial_gradient(point.size());
  double value = objective(point, gradient);
  std::deque<Pair> pairs;
  for (std::size_t iteration = 0; iteration < options.iterations; ++iteration) {
    double largest = 0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    if (largest < options.tolerance) break;
    const Vector d = direction(pairs, gradient);
    const double slope = dot(d, gradient);
    // The first step has no idea of the scale: one unit at most.
    double length = pairs.empty() ? std::min(1.0, 1 / std::sqrt(dot(gradient, gradient))) : 1.0;
    double reached = value;
    int halvings = 0;
    for (; halvings < kHalvings; ++halvings, length /= 2) {
      for (std::size_t i = 0; i < trial.size(); ++i) trial[i] = point[i] + length * d[i];
      reached = objective(trial, trial_gradient);
      if (reached <= value + kEnough * length * slope) break;
    }
    if (halvings == kHalvings) break;
    Pair pair{Vector(point.size()), Vector(point.size()), 0};
    for (std::size_t i = 0; i < trial.size(); ++i) {
      pair.step[i] = trial[i] - point[i];
      pair.change[i] = trial_gradient[i] - gradient[i];
    }
    const double curvature = dot(pair.step, pair.change);
    if (curvature > 1e-12 * dot(pair.change, pair.change)) {
      pair.inverse_curvature = 1 / curvature;
      pairs.push_back(std::move(pair));
      if (pairs.size() > options.memory) pairs.pop_front();
    }
    std::copy(trial.begin(), trial.end(), point.begin());
    std::swap(gradient, trial_gradient);
    value = reached;
  }
  return value;
}

}  // namespace wisecrowd
