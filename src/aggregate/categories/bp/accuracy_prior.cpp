#include "aggregate/categories/bp/accuracy_prior.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::bp {
namespace {

constexpr double kTiny = 1e-300;

double log_beta_function(double a, double b) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }

/// Eigenvalues of a symmetric tridiagonal matrix by implicit QL; `d` is overwritten by them.
void tridiagonal_eigenvalues(std::vector<double>& d, std::vector<double> e) {
  const std::size_t n = d.size();
  e.resize(n, 0.0);
  for (std::size_t l = 0; l < n; ++l) {
    for (;;) {
      std::size_t m = l;
      for (; m + 1 < n; ++m) {
        if (std::abs(e[m]) <= std::numeric_limits<double>::epsilon() * (std::abs(d[m]) + std::abs(d[m + 1]))) break;
      }
      if (m == l) break;
      double g = (d[l + 1] - d[l]) / (2 * e[l]);
      double r = math::hypot(g, 1.0);
      g = d[m] - d[l] + e[l] / (g + std::copysign(r, g));
      double s = 1, c = 1, p = 0;
      bool split = false;
      for (std::size_t i = m; i-- > l;) {
        const double f = s * e[i];
        const double b = c * e[i];
        r = math::hypot(f, g);
        e[i + 1] = r;
        if (r == 0) {
          d[i + 1] -= p;
          e[m] = 0;
          split = true;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
      }
      if (split) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
}

}  // namespace

AccuracyPrior beta_prior(double right, double wrong) { return {{.right = right, .wrong = wrong}}; }

AccuracyPrior spammer_hammer_prior(double spammer_share, double good, std::size_t classes) {
  const double guess = 1.0 / static_cast<double>(std::max<std::size_t>(classes, 1));
  return {{.share = 1 - spammer_share, .is_point = true, .point = good},
          {.share = spammer_share, .is_point = true, .point = guess}};
}

AccuracyPrior normalised(AccuracyPrior prior) {
  double total = 0;
  for (const PriorPart& part : prior) {
    const bool sound =
        part.share >= 0 && (part.is_point ? part.point >= 0 && part.point <= 1 : part.right > 0 && part.wrong > 0);
    if (!sound) {
      throw Error(ErrorCode::bad_parameter,
                  "a worker prior needs shares of at least 0, points within 0..1 and Beta parameters above 0");
    }
    total += part.share;
  }
  if (!(total > 0)) throw Error(ErrorCode::bad_parameter, "the shares of a worker prior must not all be 0");
  std::erase_if(prior, [](const PriorPart& part) { return part.share == 0; });
  for (PriorPart& part : prior) part.share /= total;
  return prior;
}

bool has_points(const AccuracyPrior& prior) {
  return std::any_of(prior.begin(), prior.end(), [](const PriorPart& part) { return part.is_point; });
}

double log_moment(const AccuracyPrior& prior, double right, double wrong) {
  std::vector<double> terms;
  terms.reserve(prior.size());
  for (const PriorPart& part : prior) {
    double term = math::log(part.share);
    if (part.is_point) {
      if (right > 0) term += right * math::log(part.point);
      if (wrong > 0) term += wrong * math::log1p(-part.point);
    } else {
      term += log_beta_function(part.right + right, part.wrong + wrong) - log_beta_function(part.right, part.wrong);
    }
    terms.push_back(term);
  }
  return log_sum_exp(terms);
}

double prior_mean(const AccuracyPrior& prior) { return math::exp(log_moment(prior, 1, 0)); }

double log_density(const AccuracyPrior& prior, double accuracy, double error) {
  const double log_w = math::log(std::max(accuracy, kTiny)), log_v = math::log(std::max(error, kTiny));
  std::vector<double> terms;
  for (const PriorPart& part : prior) {
    if (part.is_point) continue;
    terms.push_back(math::log(part.share) + (part.right - 1) * log_w + (part.wrong - 1) * log_v -
                    log_beta_function(part.right, part.wrong));
  }
  return log_sum_exp(terms);
}

NodeSet gauss_jacobi(std::size_t count, double a, double b) {
  // Recurrence of the orthonormal polynomials on [−1, 1] with weight (1−x)^A (1+x)^B, x = 2w − 1.
  const double A = b - 1, B = a - 1, sum = A + B;
  std::vector<double> diagonal(count), side(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const double k = static_cast<double>(i);
    diagonal[i] = i == 0 ? (B - A) / (sum + 2) : (B * B - A * A) / ((2 * k + sum) * (2 * k + sum + 2));
    if (i == 0) continue;
    // At k = 1 the factors k+A+B and 2k+A+B−1 are the same and may both be 0.
    side[i] = i == 1 ? 4 * (1 + A) * (1 + B) / ((2 + sum) * (2 + sum) * (3 + sum))
                     : 4 * k * (k + A) * (k + B) * (k + sum) /
                           ((2 * k + sum) * (2 * k + sum) * (2 * k + sum + 1) * (2 * k + sum - 1));
    side[i] = std::sqrt(side[i]);
  }
  std::vector<double> points = diagonal;
  tridiagonal_eigenvalues(points, {side.begin() + (count > 0 ? 1 : 0), side.end()});
  std::sort(points.begin(), points.end());
  NodeSet nodes;
  for (const double x : points) {
    // Weight = 1/Σ p_k(x)²: a sum of squares, so small weights keep their digits, which eigenvectors do not give.
    double before = 0, here = 1, total = 1, log_scale = 0;
    for (std::size_t k = 0; k + 1 < count; ++k) {
      const double next = ((x - diagonal[k]) * here - side[k] * before) / side[k + 1];
      before = here;
      here = next;
      total += here * here;
      if (total > 1e200) {
        before *= 1e-100;
        here *= 1e-100;
        total *= 1e-200;
        log_scale += 200 * math::log(10.0);
      }
    }
    const double w = std::clamp((1 + x) / 2, kTiny, 1.0), v = std::clamp((1 - x) / 2, kTiny, 1.0);
    nodes.add(w, v, -math::log(total) - log_scale);
  }
  return nodes;
}

std::size_t quadrature_size(const AccuracyPrior& prior, std::size_t answers) {
  double degree = 0;
  for (const PriorPart& part : prior) {
    if (!part.is_point) degree = std::max(degree, std::ceil(part.right) + std::ceil(part.wrong) - 2);
  }
  degree += static_cast<double>(answers);
  const double exact = std::ceil((degree + 1) / 2);
  const auto size = static_cast<std::size_t>(std::min(exact, 3.6 * std::sqrt(degree) + 8));
  const std::size_t step = size <= 8 ? 1 : size <= 64 ? 4 : size <= 512 ? 16 : 128;
  return std::max<std::size_t>((size + step - 1) / step * step, 1);
}

NodeSet quadrature(const AccuracyPrior& prior, std::size_t answers) {
  const std::size_t count = quadrature_size(prior, answers);
  NodeSet nodes;
  for (const PriorPart& part : prior) {
    const double log_share = math::log(part.share);
    if (part.is_point) {
      nodes.add(part.point, 1 - part.point, log_share);
      continue;
    }
    // Nodes for the broken parts of the powers; whole powers go to the weights.
    const double more_right = std::ceil(part.right) - 1, more_wrong = std::ceil(part.wrong) - 1;
    const double a = part.right - more_right, b = part.wrong - more_wrong;
    const NodeSet base = gauss_jacobi(count, a, b);
    const double log_norm = log_beta_function(a, b) - log_beta_function(part.right, part.wrong);
    for (std::size_t s = 0; s < base.size(); ++s) {
      nodes.add(base.accuracy[s], base.error[s],
                log_share + log_norm + base.log_weight[s] + more_right * math::log(base.accuracy[s]) +
                    more_wrong * math::log(base.error[s]));
    }
  }
  return nodes;
}

namespace {

/// One Beta draw with its complement, both right near the ends.
std::pair<double, double> beta_pair(double a, double b, Rng& rng) {
  const double log_ratio = rng.log_gamma_draw(b) - rng.log_gamma_draw(a);
  return {std::max(sigmoid(-log_ratio), kTiny), std::max(sigmoid(log_ratio), kTiny)};
}

const PriorPart& any_part(const AccuracyPrior& prior, Rng& rng) {
  double u = rng.uniform();
  for (const PriorPart& part : prior) {
    if (u < part.share) return part;
    u -= part.share;
  }
  return prior.back();
}

}  // namespace

NodeSet draws(const AccuracyPrior& prior, std::size_t count, Rng& rng) {
  NodeSet nodes;
  const double log_weight = -math::log(static_cast<double>(count));
  for (std::size_t s = 0; s < count; ++s) {
    const PriorPart& part = any_part(prior, rng);
    if (part.is_point) {
      nodes.add(part.point, 1 - part.point, log_weight);
    } else {
      const auto [w, v] = beta_pair(part.right, part.wrong, rng);
      nodes.add(w, v, log_weight);
    }
  }
  return nodes;
}

NodeSet importance_draws(const AccuracyPrior& prior, double right, double wrong, std::size_t count, Rng& rng) {
  // The three proposals, as mixtures of Betas themselves: each part of the prior moved by the counts.
  const std::array<double, 3> shares = {0.5, 0.25, 0.25};
  const std::array<double, 3> moves = {1, 0.5, 0};
  AccuracyPrior proposal;
  for (std::size_t p = 0; p < shares.size(); ++p) {
    for (const PriorPart& part : prior) {
      proposal.push_back({.share = shares[p] * part.share,
                          .right = part.right + moves[p] * right,
                          .wrong = part.wrong + moves[p] * wrong});
    }
  }
  NodeSet nodes;
  const double log_count = math::log(static_cast<double>(count));
  for (std::size_t s = 0; s < count; ++s) {
    const PriorPart& part = any_part(proposal, rng);
    const auto [w, v] = beta_pair(part.right, part.wrong, rng);
    nodes.add(w, v, log_density(prior, w, v) - log_density(proposal, w, v) - log_count);
  }
  return nodes;
}

}  // namespace wisecrowd::bp
