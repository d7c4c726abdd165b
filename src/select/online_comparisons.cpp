#include "wisecrowd/online_comparisons.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kNodes = 20;
constexpr std::size_t kMostPairs = 1'000'000;
/// Fewest answers that a worker's reliability counts as.
constexpr double kFewestAnswers = 2;

struct Quadrature {
  std::array<double, kNodes> node, weight;  ///< for the standard normal distribution
};

/// Roots of the Hermite polynomial (of the probabilists) by Newton's method, from the outermost in.
Quadrature gauss_hermite() {
  const auto value = [](double x, double& before) {  // normalised, so that nothing overflows
    double previous = 0, here = 1;
    for (std::size_t n = 0; n < kNodes; ++n) {
      const double next =
          (x * here - std::sqrt(static_cast<double>(n)) * previous) / std::sqrt(static_cast<double>(n + 1));
      previous = here;
      here = next;
    }
    before = previous;
    return here;
  };
  Quadrature out{};
  const auto root = std::sqrt(static_cast<double>(kNodes));
  std::size_t found = 0;
  double last_x = -2 * root - 1, before = 0, last = value(last_x, before);
  for (double x = last_x; found < kNodes && x < 2 * root + 1; x += 0.01) {
    const double here = value(x, before);
    if (last * here < 0 || here == 0) {
      double low = last_x, high = x;
      for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        const double at = value(middle, before);
        (at * last > 0 ? low : high) = middle;
      }
      const double at = (low + high) / 2;
      (void)value(at, before);
      out.node[found] = at;
      out.weight[found++] = 1 / (static_cast<double>(kNodes) * before * before);
    }
    last_x = x;
    last = here;
  }
  return out;
}

const Quadrature& quadrature() {
  static const Quadrature rule = gauss_hermite();
  return rule;
}

double beta_kl(double a, double b, double a0, double b0) {
  return log_gamma(a0) + log_gamma(b0) - log_gamma(a0 + b0) - log_gamma(a) - log_gamma(b) + log_gamma(a + b) +
         (a - a0) * digamma(a) + (b - b0) * digamma(b) + (a0 + b0 - a - b) * digamma(a + b);
}

double normal_kl(double mean, double variance, double mean0, double variance0) {
  const double off = mean - mean0;
  return 0.5 * (variance / variance0 + off * off / variance0 - 1 - math::log(variance / variance0));
}

}  // namespace

/// What is believed after an answer, and how probable the answer was.
struct OnlineCrowdBt::Matched {
  double evidence = 0;
  double mean = 0, variance = 1;  ///< of the difference of the scores
  Reliability worker;
};

OnlineCrowdBt::OnlineCrowdBt(std::vector<Score> scores, std::vector<Reliability> workers)
    : scores_(std::move(scores)), workers_(std::move(workers)) {
  for (const Score& score : scores_) {
    if (!(score.variance > 0)) throw Error(ErrorCode::bad_parameter, "the variance of a score must be above 0");
  }
  for (const Reliability& worker : workers_) {
    if (!(worker.right > 0 && worker.wrong > 0)) {
      throw Error(ErrorCode::bad_parameter, "both parameters of a reliability must be above 0");
    }
  }
}

OnlineCrowdBt::OnlineCrowdBt(const ComparisonAnswers& answers, const ComparisonFit& fit) {
  double widest = 1;
  for (const double deviation : fit.deviation) {
    if (std::isfinite(deviation)) widest = std::max(widest, deviation);
  }
  for (std::size_t i = 0; i < fit.item_count; ++i) {
    const double deviation = std::isfinite(fit.deviation[i]) ? fit.deviation[i] : widest;
    scores_.push_back({fit.score[i], std::max(deviation * deviation, 1e-9)});
  }
  const Reliability unknown;
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    const double om = std::isfinite(fit.reliability[w]) ? fit.reliability[w] : unknown.mean();
    const double count = std::max(static_cast<double>(answers.answers_of(WorkerId(w)).size()), kFewestAnswers);
    workers_.push_back({unknown.right + om * count, unknown.wrong + (1 - om) * count});
  }
}

OnlineCrowdBt::Matched OnlineCrowdBt::matched(const Score& left, const Score& right, const Reliability& worker,
                                              double weight, bool left_won) const {
  const double mean = left.mean - right.mean, variance = left.variance + right.variance;
  const double deviation = std::sqrt(variance), om = worker.mean();
  const Quadrature& rule = quadrature();
  double zero = 0, one = 0, two = 0, agrees = 0;
  for (std::size_t k = 0; k < kNodes; ++k) {
    const double d = mean + deviation * rule.node[k];
    const double p = sigmoid(left_won ? d : -d);
    const double likelihood = om * p + (1 - om) * (1 - p);
    zero += rule.weight[k] * likelihood;
    one += rule.weight[k] * likelihood * d;
    two += rule.weight[k] * likelihood * d * d;
    agrees += rule.weight[k] * p;
  }
  Matched out;
  out.evidence = zero;
  out.mean = one / zero;
  out.variance = std::max(two / zero - out.mean * out.mean, variance * 1e-6);
  // The answer was meant (one more right) or not (one more wrong): a mixture of two Beta distributions, matched.
  const double meant = om * agrees / zero;
  const double total = worker.right + worker.wrong;
  const double first = meant * (worker.right + 1) / (total + 1) + (1 - meant) * worker.right / (total + 1);
  const double second =
      (meant * (worker.right + 1) * (worker.right + 2) + (1 - meant) * worker.right * (worker.right + 1)) /
      ((total + 1) * (total + 2));
  const double strength = (first - second) / std::max(second - first * first, 1e-12);
  out.worker = {std::max(first * strength, 1e-3), std::max((1 - first) * strength, 1e-3)};
  if (weight < 1) {  // part of an answer: part of the way
    out.mean = mean + weight * (out.mean - mean);
    out.variance = variance + weight * (out.variance - variance);
    out.worker.right = worker.right + weight * (out.worker.right - worker.right);
    out.worker.wrong = worker.wrong + weight * (out.worker.wrong - worker.wrong);
  }
  return out;
}

void OnlineCrowdBt::observe(WorkerId worker, ItemId left, ItemId right, Outcome outcome) {
  const auto take = [&](bool left_won, double weight) {
    Score& a = scores_[index(left)];
    Score& b = scores_[index(right)];
    const double variance = a.variance + b.variance, mean = a.mean - b.mean;
    const Matched after = matched(a, b, workers_[index(worker)], weight, left_won);
    const double share_a = a.variance / variance, share_b = b.variance / variance;
    a.mean += share_a * (after.mean - mean);
    b.mean -= share_b * (after.mean - mean);
    a.variance = std::max(a.variance + share_a * share_a * (after.variance - variance), 1e-9);
    b.variance = std::max(b.variance + share_b * share_b * (after.variance - variance), 1e-9);
    workers_[index(worker)] = after.worker;
  };
  if (outcome == Outcome::tie) {
    take(true, 0.5);
    take(false, 0.5);
  } else {
    take(outcome == Outcome::left, 1);
  }
}

double OnlineCrowdBt::left_probability(WorkerId worker, ItemId left, ItemId right) const {
  return matched(scores_[index(left)], scores_[index(right)], workers_[index(worker)], 1, true).evidence;
}

double OnlineCrowdBt::expected_gain(WorkerId worker, ItemId left, ItemId right) const {
  const Score& a = scores_[index(left)];
  const Score& b = scores_[index(right)];
  const Reliability& before = workers_[index(worker)];
  double gain = 0;
  for (const bool left_won : {true, false}) {
    const Matched after = matched(a, b, before, 1, left_won);
    gain += after.evidence * (normal_kl(after.mean, after.variance, a.mean - b.mean, a.variance + b.variance) +
                              beta_kl(after.worker.right, after.worker.wrong, before.right, before.wrong));
  }
  return std::max(gain, 0.0);
}

std::vector<PairQuestion> OnlineCrowdBt::choose(std::size_t count, const RunContext& context) const {
  std::vector<PairQuestion> questions;
  const std::size_t items = scores_.size();
  if (items < 2 || workers_.empty() || count == 0) return questions;
  const auto surest = std::max_element(
      workers_.begin(), workers_.end(),
      [](const Reliability& x, const Reliability& y) { return std::abs(x.mean() - 0.5) < std::abs(y.mean() - 0.5); });
  const auto judge = WorkerId(surest - workers_.begin());
  const auto consider = [&](std::size_t i, std::size_t j) {
    questions.push_back({ItemId(i), ItemId(j), judge, expected_gain(judge, ItemId(i), ItemId(j))});
  };
  if (items * (items - 1) / 2 <= kMostPairs) {
    for (std::size_t i = 0; i < items && !context.cancelled(); ++i) {
      for (std::size_t j = i + 1; j < items; ++j) consider(i, j);
    }
  } else {
    Rng rng = context.rng("pairs to ask");
    for (std::size_t n = 0; n < kMostPairs && !context.cancelled(); ++n) {
      const std::size_t i = rng.below(items), j = (i + 1 + rng.below(items - 1)) % items;
      consider(std::min(i, j), std::max(i, j));
    }
  }
  const auto better = [](const PairQuestion& x, const PairQuestion& y) {
    if (x.gain != y.gain) return x.gain > y.gain;
    return std::pair(x.left, x.right) < std::pair(y.left, y.right);
  };
  const auto same = [](const PairQuestion& x, const PairQuestion& y) { return x.left == y.left && x.right == y.right; };
  std::sort(questions.begin(), questions.end(), better);
  questions.erase(std::unique(questions.begin(), questions.end(), same), questions.end());
  questions.resize(std::min(count, questions.size()));
  std::vector<bool> asked(workers_.size(), false);
  std::size_t free = workers_.size();
  for (PairQuestion& question : questions) {
    if (free == 0) {
      asked.assign(workers_.size(), false);
      free = workers_.size();
    }
    double best = -1;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (asked[w]) continue;
      const double gain = expected_gain(WorkerId(w), question.left, question.right);
      if (gain <= best) continue;
      best = gain;
      question.worker = WorkerId(w);
    }
    question.gain = best;
    asked[index(question.worker)] = true;
    --free;
  }
  std::stable_sort(questions.begin(), questions.end(),
                   [](const PairQuestion& x, const PairQuestion& y) { return x.gain > y.gain; });
  return questions;
}

}  // namespace wisecrowd
