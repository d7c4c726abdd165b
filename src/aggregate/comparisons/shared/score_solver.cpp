#include "aggregate/comparisons/shared/score_solver.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/linear_algebra.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kItemsPerBlock = 256;
/// A factorisation of so many items takes about as long as the conjugate gradients of a step.
constexpr std::size_t kMostDenseItems = 400;
constexpr std::size_t kMostGradientSteps = 200;
constexpr double kLastStep = 1e-4, kRounding = 1e-13;

/// Sums of blocks are added in their order, so that the number of threads does not matter.
double block_sum(const RunContext& context, std::size_t items,
                 const std::function<double(std::size_t begin, std::size_t end)>& part) {
  const Blocks blocks{items, kItemsPerBlock};
  std::vector<double> sums(blocks.count());
  context.pool().for_each_block(blocks.count(),
                                [&](std::size_t b, unsigned) { sums[b] = part(blocks.begin(b), blocks.end(b)); });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

double dot(const std::vector<double>& a, const std::vector<double>& b, const RunContext& context) {
  return block_sum(context, a.size(), [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += a[i] * b[i];
    return sum;
  });
}

}  // namespace

void centre(std::span<double> scores) {
  double mean = 0;
  for (const double s : scores) mean += s;
  mean /= static_cast<double>(std::max<std::size_t>(scores.size(), 1));
  for (double& s : scores) s -= mean;
}

ScoreSolver::ScoreSolver(const ItemGraph& graph, ScorePrior prior, const RunContext& context)
    : graph_(graph), prior_(prior), context_(context), own_(graph.edges()), against_(graph.edges()) {}

void ScoreSolver::set_weights(std::span<const double> first, std::span<const double> second) {
  const Blocks blocks{graph_.items(), kItemsPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      for (std::uint32_t e = graph_.offsets[i]; e < graph_.offsets[i + 1]; ++e) {
        const bool is_first = i < graph_.other[e];
        own_[e] = (is_first ? first : second)[graph_.pair[e]];
        against_[e] = (is_first ? second : first)[graph_.pair[e]];
      }
    }
  });
}

void ScoreSolver::set_ties(std::span<const double> ties, double nu) {
  nu_ = nu;
  ties_.resize(graph_.edges());
  for (std::size_t e = 0; e < ties_.size(); ++e) ties_[e] = ties[graph_.pair[e]];
}

/// What an edge adds to an item whose score is ahead by so much.
struct ScoreSolver::Edge {
  double value, slope, bend;
};

inline ScoreSolver::Edge ScoreSolver::plain_edge(std::uint32_t edge, double d) const noexcept {
  const double tail = exp_nonpositive(-std::abs(d));
  const double small = tail / (1 + tail);
  const double p = d >= 0 ? 1 - small : small;
  const double games = own_[edge] + against_[edge];
  // The loser's side pays |d|, the winner's nothing, and both log(1 + e^−|d|).
  const double paid = d >= 0 ? against_[edge] * d : -own_[edge] * d;
  return {-paid - games * log_positive(1 + tail), own_[edge] - games * p, games * small * (1 - small)};
}

/// P(i), P(i'), P(tie) in proportion to e^(d/2), e^(−d/2), ν.
inline ScoreSolver::Edge ScoreSolver::davidson_edge(std::uint32_t edge, double d) const noexcept {
  const double half = std::abs(d) / 2;
  const double tail = exp_nonpositive(-half);
  const double sum = 1 + tail * tail + nu_ * tail;
  const double ahead = 1 / sum, behind = tail * tail / sum;
  const double own = d >= 0 ? ahead : behind, other = d >= 0 ? behind : ahead;
  const double games = own_[edge] + against_[edge] + ties_[edge];
  const double value =
      (own_[edge] - against_[edge]) * d / 2 + ties_[edge] * math::log(nu_) - games * (half + log_positive(sum));
  return {value, (own_[edge] - against_[edge] - games * (own - other)) / 2,
          games * (own + other - (own - other) * (own - other)) / 4};
}

template <bool with_ties>
void ScoreSolver::evaluate_as(std::span<const double> scores, Point& point) const {
  const std::size_t items = graph_.items();
  point.gradient.resize(items);
  point.diagonal.resize(items);
  point.curvature.resize(graph_.edges());
  point.objective = block_sum(context_, items, [&](std::size_t begin, std::size_t end) {
    double objective = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double s = scores[i];
      const double off = s - (prior_.mean.empty() ? 0 : prior_.mean[i]);
      double slope = -prior_.ridge * off, bend = prior_.ridge, value = 0;
      for (std::uint32_t e = graph_.offsets[i]; e < graph_.offsets[i + 1]; ++e) {
        const double d = s - scores[graph_.other[e]];
        const Edge edge = with_ties ? davidson_edge(e, d) : plain_edge(e, d);
        point.curvature[e] = edge.bend;
        bend += edge.bend;
        slope += edge.slope;
        value += edge.value;
      }
      objective += value / 2 - prior_.ridge * off * off / 2;  // half, because edges stand twice
      if (prior_.games > 0) {
        const double p = sigmoid(s);
        slope += prior_.games * (1 - 2 * p);
        bend += 2 * prior_.games * p * (1 - p);
        objective += prior_.games * (log_sigmoid(s) + log_sigmoid(-s));
      }
      point.gradient[i] = slope;
      point.diagonal[i] = bend;
    }
    return objective;
  });
}

void ScoreSolver::evaluate(std::span<const double> scores, Point& point) const {
  if (ties_.empty()) {
    evaluate_as<false>(scores, point);
  } else {
    evaluate_as<true>(scores, point);
  }
}

std::vector<double> ScoreSolver::dense_step(const Point& point) const {
  const auto items = static_cast<Eigen::Index>(graph_.items());
  Eigen::MatrixXd bend = Eigen::MatrixXd::Zero(items, items);
  double mean = 0;
  for (const double d : point.diagonal) mean += d / static_cast<double>(items);
  // Without a prior only differences count; adding the same to every entry fixes their sum at 0.
  if (!prior_.proper()) bend.setConstant(std::max(mean, 1e-300) / static_cast<double>(items));
  for (std::size_t i = 0; i < graph_.items(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    // An item that was compared with none stays where it is.
    bend(row, row) += point.diagonal[i] > 0 ? point.diagonal[i] : std::max(mean, 1.0);
    for (std::uint32_t e = graph_.offsets[i]; e < graph_.offsets[i + 1]; ++e) {
      bend(row, static_cast<Eigen::Index>(graph_.other[e])) -= point.curvature[e];
    }
  }
  const Eigen::VectorXd slope = Eigen::Map<const Eigen::VectorXd>(point.gradient.data(), items);
  const Eigen::VectorXd step = cholesky_solve(bend, slope);
  return {step.data(), step.data() + items};
}

/// Conjugate gradients, with the diagonal as preconditioner.
std::vector<double> ScoreSolver::gradient_step(const Point& point) const {
  const std::size_t items = graph_.items();
  std::vector<double> step(items, 0), residual = point.gradient, scaled(items), direction(items), image(items);
  const auto precondition = [&] {
    for (std::size_t i = 0; i < items; ++i) scaled[i] = point.diagonal[i] > 0 ? residual[i] / point.diagonal[i] : 0;
  };
  precondition();
  direction = scaled;
  double energy = dot(residual, scaled, context_);
  // A hundredth of the way that is left, at each step: more would be spoiled by the next one.
  const double enough = energy * 1e-4;
  for (std::size_t k = 0; k < kMostGradientSteps && energy > enough && energy > 0; ++k) {
    const double bent = block_sum(context_, items, [&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i) {
        double value = point.diagonal[i] * direction[i];
        for (std::uint32_t e = graph_.offsets[i]; e < graph_.offsets[i + 1]; ++e) {
          value -= point.curvature[e] * direction[graph_.other[e]];
        }
        image[i] = value;
        sum += value * direction[i];
      }
      return sum;
    });
    if (!(bent > 0)) break;
    const double length = energy / bent;
    for (std::size_t i = 0; i < items; ++i) {
      step[i] += length * direction[i];
      residual[i] -= length * image[i];
    }
    precondition();
    const double next = dot(residual, scaled, context_);
    for (std::size_t i = 0; i < items; ++i) direction[i] = scaled[i] + next / energy * direction[i];
    energy = next;
  }
  return step;
}

std::vector<double> ScoreSolver::newton_step(const Point& point) const {
  return graph_.items() <= kMostDenseItems ? dense_step(point) : gradient_step(point);
}

ScoreSolver::Progress ScoreSolver::improve(std::vector<double>& scores, std::size_t most, double tolerance) {
  Progress progress;
  Point here, there;
  evaluate(scores, here);
  progress.objective = here.objective;
  std::vector<double> next(scores.size());
  while (progress.steps < most && !context_.cancelled()) {
    const std::vector<double> step = newton_step(here);
    double largest = 0;
    for (const double s : step) largest = std::max(largest, std::abs(s));
    // Beyond a few units curvature says nothing of the way.
    double length = largest > 5 ? 5 / largest : 1;
    bool better = false;
    for (int half = 0; half < 40 && !better; ++half, length /= 2) {
      for (std::size_t i = 0; i < scores.size(); ++i) next[i] = scores[i] + length * step[i];
      evaluate(next, there);
      // The last step of all gains less than the objective's own rounding.
      const double rounding = length * largest < kLastStep ? kRounding * (1 + std::abs(here.objective)) : 0;
      better = there.objective >= here.objective - rounding;
      if (!better && length * largest <= tolerance) break;
    }
    ++progress.steps;
    if (!better) {  // rounding hides any further gain
      progress.converged = true;
      break;
    }
    std::swap(scores, next);
    std::swap(here, there);
    progress.step = 2 * length * largest;
    progress.objective = here.objective;
    if (progress.step <= tolerance) {
      progress.converged = true;
      break;
    }
  }
  if (!prior_.proper()) centre(scores);
  return progress;
}

}  // namespace wisecrowd::comparisons
