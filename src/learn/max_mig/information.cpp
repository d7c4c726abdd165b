#include "learn/max_mig/information.hpp"

#include <cmath>
#include <vector>

#include "base/math.hpp"

namespace wisecrowd::max_mig {
namespace {

/// Keeps the logarithm of a ratio finite while the two forecasts contradict each other.
constexpr double kLogGuard = 5e-5;

/// The ratio of each task with itself: Σ_k f_k g_k / π_k.
std::vector<double> own_ratios(MatrixView<const double> f, MatrixView<const double> g, std::span<const double> prior) {
  std::vector<double> ratios(f.rows, 0.0);
  for (std::size_t i = 0; i < f.rows; ++i) {
    for (std::size_t k = 0; k < f.columns; ++k) ratios[i] += f(i, k) * g(i, k) / prior[k];
  }
  return ratios;
}

/// Σ_i S_i l of all i ≠ l needs only the sums of f and g.
double kl(MatrixView<const double> f, MatrixView<const double> g, std::span<const double> prior,
          MatrixView<double> at_f, MatrixView<double> at_g) {
  const std::size_t classes = f.columns;
  const double batch = static_cast<double>(f.rows), pairs = batch * (batch - 1);
  std::vector<double> f_sum(classes, 0.0), g_sum(classes, 0.0);
  for (std::size_t i = 0; i < f.rows; ++i) {
    for (std::size_t k = 0; k < classes; ++k) {
      f_sum[k] += f(i, k);
      g_sum[k] += g(i, k);
    }
  }
  const std::vector<double> own = own_ratios(f, g, prior);
  double loss = -1, apart = 0;
  for (std::size_t k = 0; k < classes; ++k) apart += f_sum[k] * g_sum[k] / prior[k];
  for (std::size_t i = 0; i < f.rows; ++i) {
    loss -= math::log(own[i] + kLogGuard) / batch;
    apart -= own[i];
    const double pull = 1 / (batch * (own[i] + kLogGuard));
    for (std::size_t k = 0; k < classes; ++k) {
      at_f(i, k) = (-g(i, k) * pull + (g_sum[k] - g(i, k)) / pairs) / prior[k];
      at_g(i, k) = (-f(i, k) * pull + (f_sum[k] - f(i, k)) / pairs) / prior[k];
    }
  }
  return loss + apart / pairs;
}

/// Σ S² over all pairs is the inner product of the second moments of f/π and g.
double pearson(MatrixView<const double> f, MatrixView<const double> g, std::span<const double> prior,
               MatrixView<double> at_f, MatrixView<double> at_g) {
  const std::size_t classes = f.columns;
  const double batch = static_cast<double>(f.rows), pairs = batch * (batch - 1);
  std::vector<double> f_moment(classes * classes, 0.0), g_moment(classes * classes, 0.0);
  for (std::size_t i = 0; i < f.rows; ++i) {
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t c = 0; c < classes; ++c) {
        f_moment[k * classes + c] += f(i, k) * f(i, c) / (prior[k] * prior[c]);
        g_moment[k * classes + c] += g(i, k) * g(i, c);
      }
    }
  }
  const std::vector<double> own = own_ratios(f, g, prior);
  double squares = 0, loss = 0;
  for (std::size_t cell = 0; cell < f_moment.size(); ++cell) squares += f_moment[cell] * g_moment[cell];
  for (std::size_t i = 0; i < f.rows; ++i) {
    loss -= 2 * (own[i] - 1) / batch;
    squares -= own[i] * own[i];
    for (std::size_t k = 0; k < classes; ++k) {
      double from_g = -own[i] * g(i, k), from_f = -own[i] * f(i, k) / prior[k];
      for (std::size_t c = 0; c < classes; ++c) {
        from_g += g_moment[k * classes + c] * f(i, c) / prior[c];
        from_f += f_moment[k * classes + c] * g(i, c);
      }
      at_f(i, k) = (-2 * g(i, k) / batch + 2 * from_g / pairs) / prior[k];
      at_g(i, k) = -2 * f(i, k) / (prior[k] * batch) + 2 * from_f / pairs;
    }
  }
  return loss + squares / pairs - 1;
}

double js(MatrixView<const double> f, MatrixView<const double> g, std::span<const double> prior,
          MatrixView<double> at_f, MatrixView<double> at_g) {
  const std::size_t classes = f.columns;
  const double batch = static_cast<double>(f.rows), pairs = batch * (batch - 1);
  for (std::size_t i = 0; i < f.rows; ++i) {
    for (std::size_t k = 0; k < classes; ++k) at_f(i, k) = at_g(i, k) = 0;
  }
  double loss = 0;
  for (std::size_t i = 0; i < f.rows; ++i) {
    for (std::size_t l = 0; l < f.rows; ++l) {
      double ratio = 0;
      for (std::size_t k = 0; k < classes; ++k) ratio += f(i, k) * g(l, k) / prior[k];
      double slope = 0;
      if (i == l) {
        const double guarded = ratio + kLogGuard;
        loss -= math::log(2 * guarded / (1 + guarded)) / batch;
        slope = -1 / (guarded * (1 + guarded) * batch);
      } else {
        loss += math::log((1 + ratio) / 2) / pairs;
        slope = 1 / ((1 + ratio) * pairs);
      }
      for (std::size_t k = 0; k < classes; ++k) {
        at_f(i, k) += slope * g(l, k) / prior[k];
        at_g(l, k) += slope * f(i, k) / prior[k];
      }
    }
  }
  return loss;
}

}  // namespace

double on_pair(Divergence divergence, double ratio) {
  switch (divergence) {
    case Divergence::kl: return 1 + math::log(ratio);
    case Divergence::pearson: return 2 * (ratio - 1);
    case Divergence::js: return math::log(2 * ratio / (1 + ratio));
  }
  return 0;
}

double on_product(Divergence divergence, double ratio) {
  switch (divergence) {
    case Divergence::kl: return ratio;
    case Divergence::pearson: return ratio * ratio - 1;
    case Divergence::js: return math::log((1 + ratio) / 2);
  }
  return 0;
}

double information_loss(Divergence divergence, MatrixView<const double> f, MatrixView<const double> g,
                        std::span<const double> prior, MatrixView<double> f_gradients, MatrixView<double> g_gradients) {
  switch (divergence) {
    case Divergence::kl: return kl(f, g, prior, f_gradients, g_gradients);
    case Divergence::pearson: return pearson(f, g, prior, f_gradients, g_gradients);
    case Divergence::js: return js(f, g, prior, f_gradients, g_gradients);
  }
  return 0;
}

}  // namespace wisecrowd::max_mig
