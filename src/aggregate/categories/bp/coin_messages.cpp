#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "aggregate/categories/bp/leave_one_out.hpp"
#include "aggregate/categories/bp/node_product.hpp"
#include "aggregate/categories/bp/worker_messages.hpp"
#include "base/lanes.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::bp {

double coin_messages_by_nodes(const NodeSet& nodes, const CoinAnswers& answers, std::span<double> log_ratio,
                              CoinWork& work) {
  const std::size_t count = nodes.size(), n = answers.size();
  NodeProduct product(count, work.product, work.smallest, work.exponent);
  const double* const w = nodes.accuracy.data();
  const double* const v = nodes.error.data();
  double* const all = work.product.data();
  double* const smallest = work.smallest.data();
  std::size_t e = 0;
  for (; e + 4 <= n; e += 4) {
    const double* const a = answers.if_right.data() + e;
    const double* const b = answers.if_wrong.data() + e;
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
#pragma omp simd
    for (std::size_t s = 0; s < count; ++s) {
      const double s0 = larger(a0 * w[s] + b0 * v[s], kSmallestFactor);
      const double s1 = larger(a1 * w[s] + b1 * v[s], kSmallestFactor);
      const double s2 = larger(a2 * w[s] + b2 * v[s], kSmallestFactor);
      const double s3 = larger(a3 * w[s] + b3 * v[s], kSmallestFactor);
      smallest[s] = smaller(smallest[s], smaller(smaller(s0, s1), smaller(s2, s3)));
      all[s] *= (s0 * s1) * (s2 * s3);
    }
    product.take_exponents();
  }
  for (; e < n; ++e) {
    const double a0 = answers.if_right[e], b0 = answers.if_wrong[e];
    for (std::size_t s = 0; s < count; ++s) {
      const double s0 = larger(a0 * w[s] + b0 * v[s], kSmallestFactor);
      smallest[s] = smaller(smallest[s], s0);
      all[s] *= s0;
    }
    product.take_exponents();
  }
  const double log_evidence = product.finish(nodes.log_weight, work.log_weight);

  work.accuracy.clear();
  work.error.clear();
  work.weight.clear();
  for (std::size_t s = 0; s < count; ++s) {
    const double weight = math::exp(work.log_weight[s]);
    if (is_negligible(weight, smallest[s])) continue;
    work.accuracy.push_back(w[s]);
    work.error.push_back(v[s]);
    work.weight.push_back(weight);
  }
  work.right.resize(n);
  work.wrong.resize(n);
  const std::size_t active = work.weight.size();
  const double* const aw = work.accuracy.data();
  const double* const av = work.error.data();
  const double* const g = work.weight.data();
  for (e = 0; e < n; ++e) {
    const double a0 = answers.if_right[e], b0 = answers.if_wrong[e];
    const auto sums = lane_sums<double, 2>(active, [&](std::size_t s) {
      const double r = g[s] / larger(a0 * aw[s] + b0 * av[s], kSmallestFactor);
      return std::array{r * aw[s], r * av[s]};
    });
    work.right[e] = larger(sums[0], 1e-300);
    work.wrong[e] = larger(sums[1], 1e-300);
  }
  const double* const right = work.right.data();
  const double* const wrong = work.wrong.data();
  double* const out = log_ratio.data();
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) out[i] = log_positive(right[i]) - log_positive(wrong[i]);
  return log_evidence;
}

double posterior_mean(const CoinWork& work) {
  double total = 0, right = 0;
  for (std::size_t s = 0; s < work.weight.size(); ++s) {
    total += work.weight[s];
    right += work.weight[s] * work.accuracy[s];
  }
  return right / total;
}

CoinCentre coin_centre(const AccuracyPrior& prior, const CoinAnswers& answers) {
  constexpr int kSteps = 30;
  const auto n = static_cast<double>(answers.size());
  const double a = prior.front().right, b = prior.front().wrong;
  double w = prior_mean(prior);
  for (int step = 0; step < kSteps; ++step) {  // EM for the mode
    double right = 0;
    for (std::size_t e = 0; e < answers.size(); ++e) {
      const double yes = answers.if_right[e] * w, no = answers.if_wrong[e] * (1 - w);
      right += yes / std::max(yes + no, kSmallestFactor);
    }
    w = (a + right) / (a + b + n);
  }
  double information = 0;
  for (std::size_t e = 0; e < answers.size(); ++e) {
    const double s = std::max(answers.if_right[e] * w + answers.if_wrong[e] * (1 - w), kSmallestFactor);
    const double slope = (answers.if_right[e] - answers.if_wrong[e]) / s;
    information += slope * slope;
  }
  const double strength = std::min(information * w * (1 - w), n);
  return {strength * w, strength * (1 - w)};
}

namespace {

/// Chances p_e = a/(a+b) that each answer is right, and Σ log(a+b), which they leave out.
double chances(const CoinAnswers& answers, std::vector<long double>& p) {
  double log_scale = 0;
  p.resize(answers.size());
  for (std::size_t e = 0; e < p.size(); ++e) {
    const long double total = static_cast<long double>(answers.if_right[e]) + answers.if_wrong[e];
    p[e] = answers.if_right[e] / total;
    log_scale += static_cast<double>(std::log(total));
  }
  return log_scale;
}

/// h(c) = E[w^c (1−w)^{n−c}], divided by its largest value, whose logarithm is returned.
double moments(const AccuracyPrior& prior, std::size_t n, std::vector<long double>& h) {
  std::vector<double> logs(n + 1);
  for (std::size_t c = 0; c <= n; ++c) logs[c] = log_moment(prior, static_cast<double>(c), static_cast<double>(n - c));
  const double top = *std::max_element(logs.begin(), logs.end());
  h.resize(n + 1);
  for (std::size_t c = 0; c <= n; ++c) h[c] = std::exp(static_cast<long double>(logs[c] - top));
  return top;
}

double log_difference(long double right, long double wrong) {
  return static_cast<double>(std::log(right) - std::log(wrong));
}

}  // namespace

double coin_messages_by_recursion(const AccuracyPrior& prior, const CoinAnswers& answers, std::span<double> log_ratio) {
  std::vector<long double> p, h;
  double log_evidence = chances(answers, p) + moments(prior, answers.size(), h);
  const LeaveOneOut sums = leave_one_out(p, h);
  for (std::size_t e = 0; e < p.size(); ++e) log_ratio[e] = log_difference(sums.with[e], sums.without[e]);
  return log_evidence + static_cast<double>(std::log(sums.total));
}

double coin_messages_by_division(const AccuracyPrior& prior, const CoinAnswers& answers, std::span<double> log_ratio) {
  const std::size_t n = answers.size();
  std::vector<long double> p, h;
  double log_evidence = chances(answers, p) + moments(prior, n, h);
  if (n == 0) return log_evidence;
  // products[d] holds the polynomials Π (1−p + p t) of the pieces at depth d, one after the other.
  struct Piece {
    std::size_t begin, end;
    std::vector<long double> polynomial, outside;  // outside: what the rest of the tree says of c right answers here
    std::size_t left = 0, right = 0;
  };
  std::vector<Piece> pieces = {{0, n, {}, {}, 0, 0}};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t begin = pieces[i].begin, end = pieces[i].end;
    if (end - begin == 1) {
      pieces[i].polynomial = {1 - p[begin], p[begin]};
      continue;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    pieces[i].left = pieces.size();
    pieces[i].right = pieces.size() + 1;
    pieces.push_back({begin, middle, {}, {}, 0, 0});
    pieces.push_back({middle, end, {}, {}, 0, 0});
  }
  for (std::size_t i = pieces.size(); i-- > 0;) {
    if (pieces[i].left == 0) continue;
    const auto& x = pieces[pieces[i].left].polynomial;
    const auto& y = pieces[pieces[i].right].polynomial;
    auto& product = pieces[i].polynomial;
    product.assign(x.size() + y.size() - 1, 0);
    for (std::size_t c = 0; c < x.size(); ++c) {
      for (std::size_t d = 0; d < y.size(); ++d) product[c + d] += x[c] * y[d];
    }
  }
  long double total = 0;
  for (std::size_t c = 0; c <= n; ++c) total += pieces[0].polynomial[c] * h[c];
  log_evidence += static_cast<double>(std::log(total));
  pieces[0].outside = h;
  // b_L[c] = Σ_d P_R[d] b[c+d]: all terms positive, so nothing cancels. A Fourier transform would be faster and wrong:
  // its error is absolute, and b spans hundreds of orders of magnitude.
  const auto pass_down = [](const Piece& from, const Piece& sibling, Piece& to) {
    const std::size_t size = to.end - to.begin + 1;
    to.outside.assign(size, 0);
    long double top = 0;
    for (std::size_t c = 0; c < size; ++c) {
      for (std::size_t d = 0; d < sibling.polynomial.size(); ++d) {
        to.outside[c] += sibling.polynomial[d] * from.outside[c + d];
      }
      top = std::max(top, to.outside[c]);
    }
    for (auto& value : to.outside) value /= top;
  };
  for (Piece& piece : pieces) {
    if (piece.left == 0) {
      log_ratio[piece.begin] = log_difference(piece.outside[1], piece.outside[0]);
      continue;
    }
    pass_down(piece, pieces[piece.right], pieces[piece.left]);
    pass_down(piece, pieces[piece.left], pieces[piece.right]);
    piece.outside = {};
  }
  return log_evidence;
}

}  // namespace wisecrowd::bp
