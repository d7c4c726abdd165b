#include "learn/shared/logistic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "support/features.hpp"

namespace wisecrowd {
namespace {

using testing::as_sparse;

struct Problem {
  Features features;
  std::vector<std::uint32_t> rows;
  std::vector<double> targets;
  std::size_t classes;
};

/// Rows of mixed sizes, soft targets, some rows weighted.
Problem problem(std::size_t rows, std::size_t columns, std::size_t classes, std::uint64_t seed) {
  Problem p{{}, std::vector<std::uint32_t>(rows), {}, classes};
  Rng rng(seed);
  p.features.rows = rows + 3;
  p.features.shape = {columns};
  for (std::size_t c = 0; c < p.features.rows * columns; ++c) {
    p.features.dense.push_back(rng.bernoulli(0.4) ? 0.0F
                                                  : static_cast<float>(rng.normal() * (1.0 + double(c % columns))));
  }
  std::iota(p.rows.begin(), p.rows.end(), 2U);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> t(classes);
    for (std::size_t k = 0; k < classes; ++k) {
      t[k] = 2 * rng.normal() + 0.3 * p.features.dense[p.rows[i] * columns + k % columns];
    }
    softmax(t);
    for (double& x : t) x *= i % 5 == 0 ? 2.5 : 1;
    p.targets.insert(p.targets.end(), t.begin(), t.end());
  }
  return p;
}

/// Solves A x = b by elimination; A is symmetric and positive.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t r = p + 1; r < n; ++r) {
      const double factor = a[r * n + p] / a[p * n + p];
      for (std::size_t c = p; c < n; ++c) a[r * n + c] -= factor * a[p * n + c];
      b[r] -= factor * b[p];
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    for (std::size_t c = p + 1; c < n; ++c) b[p] -= a[p * n + c] * b[c];
    b[p] /= a[p * n + p];
  }
  return b;
}

/// Newton with the whole Hessian, written out term by term.
std::vector<double> slow_maximum(const Problem& p, double penalty) {
  const std::size_t columns = p.features.columns(), size = (columns + 1) * p.classes;
  std::vector<double> w(size, 0.0);
  for (int step = 0; step < 60; ++step) {
    std::vector<double> gradient(size), hessian(size * size, 0.0);
    for (std::size_t c = 0; c < size; ++c) {
      gradient[c] = -penalty * w[c];
      hessian[c * size + c] = penalty;
    }
    for (std::size_t i = 0; i < p.rows.size(); ++i) {
      std::vector<double> x(p.features.row(p.rows[i]).begin(), p.features.row(p.rows[i]).end());
      x.push_back(1);
      std::vector<double> f(p.classes, 0.0);
      double mass = 0;
      for (std::size_t k = 0; k < p.classes; ++k) {
        for (std::size_t c = 0; c <= columns; ++c) f[k] += x[c] * w[c * p.classes + k];
        mass += p.targets[i * p.classes + k];
      }
      softmax(f);
      for (std::size_t u = 0; u < size; ++u) {
        const std::size_t k = u % p.classes;
        gradient[u] += x[u / p.classes] * (p.targets[i * p.classes + k] - mass * f[k]);
        for (std::size_t v = 0; v < size; ++v) {
          const std::size_t l = v % p.classes;
          hessian[u * size + v] += mass * x[u / p.classes] * x[v / p.classes] * f[k] * ((k == l ? 1 : 0) - f[l]);
        }
      }
    }
    const std::vector<double> move = solve(hessian, gradient);
    for (std::size_t c = 0; c < size; ++c) w[c] += 0.7 * move[c];  // shortened: there is no line search here
  }
  return w;
}

TEST(Logistic, FindsTheMaximumForDenseAndSparseRows) {
  ThreadPool pool(2);
  for (const std::size_t classes : {2U, 4U}) {
    const Problem p = problem(90, 3, classes, classes);
    const std::vector<double> expected = slow_maximum(p, 0.3);
    const Features sparse = as_sparse(p.features);
    for (const Features* features : {&p.features, &sparse}) {
      const LogisticRegression regression(*features, p.rows, classes, {.penalty = 0.3, .tolerance = 1e-11}, pool);
      std::vector<double> weights(regression.weight_count(), 0.0);
      const auto fit = regression.improve(p.targets, 100, weights);
      EXPECT_TRUE(fit.converged);
      for (std::size_t w = 0; w < weights.size(); ++w) EXPECT_NEAR(weights[w], expected[w], 1e-7);
    }
  }
}

TEST(Logistic, NoStepLowersTheObjectiveAndThreadsDoNotMatter) {
  const Problem p = problem(1500, 20, 3, 9);
  std::vector<double> first;
  for (const unsigned threads : {1U, 2U}) {
    ThreadPool pool(threads);
    const LogisticRegression regression(p.features, p.rows, 3, {.penalty = 1e-3}, pool);
    // A far start, where a whole Newton step overshoots.
    std::vector<double> weights(regression.weight_count());
    Rng rng(4);
    for (double& w : weights) w = 3 * rng.normal();
    double before = -1e300;
    bool converged = false;
    for (int step = 0; step < 60 && !converged; ++step) {
      const auto fit = regression.improve(p.targets, 1, weights);
      EXPECT_GE(fit.objective, before - 1e-9 * std::abs(before));
      before = fit.objective;
      converged = fit.converged;
    }
    EXPECT_TRUE(converged);
    if (threads == 1) first = weights;
    EXPECT_EQ(weights, first);
  }
}

TEST(Logistic, NothingToTellApart) {
  ThreadPool pool(1);
  Problem p = problem(10, 2, 2, 1);
  for (std::size_t i = 0; i < 10; ++i) {  // one class only: the penalty keeps the bias finite
    p.targets[2 * i] = 1;
    p.targets[2 * i + 1] = 0;
  }
  const LogisticRegression regression(p.features, p.rows, 2, {}, pool);
  std::vector<double> weights(regression.weight_count(), 0.0);
  EXPECT_TRUE(regression.improve(p.targets, 100, weights).converged);
  for (const double w : weights) EXPECT_TRUE(std::isfinite(w));
  const LogisticRegression single(p.features, p.rows, 1, {}, pool);
  std::vector<double> one(single.weight_count(), 0.0), ones(10, 1.0);
  EXPECT_TRUE(single.improve(ones, 100, one).converged);
  EXPECT_EQ(one, std::vector<double>(3, 0.0));
}

}  // namespace
}  // namespace wisecrowd
