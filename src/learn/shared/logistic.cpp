#include "learn/shared/logistic.hpp"

#include <algorithm>
#include <cmath>

#include "base/matrix_product.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd {
namespace {

/// Rows that are turned to double precision at a time.
constexpr std::size_t kRowsAtOnce = 128;

/// Each block has sums of its own of the size of the weights, so there are few; they depend on the size alone.
Blocks cut(std::size_t rows) { return {rows, std::max(kRowsAtOnce, (rows + 7) / 8)}; }

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

LogisticRegression::LogisticRegression(const Features& inputs, std::span<const std::uint32_t> rows, std::size_t classes,
                                       LogisticOptions options, ThreadPool& pool)
    : inputs_(&inputs),
      rows_(rows.begin(), rows.end()),
      columns_(inputs.columns()),
      classes_(classes),
      options_(options),
      pool_(&pool) {}

double LogisticRegression::log_prior(std::span<const double> weights) const {
  return -options_.penalty / 2 * dot(weights, weights);
}

void LogisticRegression::logits(std::span<const double> weights, std::span<double> out) const {
  const double* const biases = weights.data() + columns_ * classes_;
  const Blocks blocks = cut(rows_.size());
  pool_->for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> gathered;
    for (std::size_t begin = blocks.begin(block); begin < blocks.end(block); begin += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, blocks.end(block) - begin);
      double* const target = out.data() + begin * classes_;
      for (std::size_t i = 0; i < count; ++i) std::copy_n(biases, classes_, target + i * classes_);
      if (inputs_->is_sparse()) {
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint32_t row = rows_[begin + i];
          for (std::uint64_t e = inputs_->offsets[row]; e < inputs_->offsets[row + 1]; ++e) {
            const double* const from = weights.data() + inputs_->indices[e] * classes_;
            for (std::size_t k = 0; k < classes_; ++k) {
              target[i * classes_ + k] += static_cast<double>(inputs_->values[e]) * from[k];
            }
          }
        }
        continue;
      }
      gathered.resize(count * columns_);
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(inputs_->dense.data() + rows_[begin + i] * columns_, columns_, gathered.data() + i * columns_);
      }
      add_product<double>(count, classes_, columns_, {gathered.data(), columns_}, weights.data(), classes_, target);
    }
  });
}

void LogisticRegression::transposed_product(std::span<const double> r, std::span<double> out) const {
  const Blocks blocks = cut(rows_.size());
  const std::size_t weights = weight_count();
  std::vector<double> sums(blocks.count() * weights, 0.0);
  pool_->for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    double* const sum = sums.data() + block * weights;
    double* const biases = sum + columns_ * classes_;
    std::vector<double> gathered;
    for (std::size_t begin = blocks.begin(block); begin < blocks.end(block); begin += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, blocks.end(block) - begin);
      const double* const from = r.data() + begin * classes_;
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < classes_; ++k) biases[k] += from[i * classes_ + k];
      }
      if (inputs_->is_sparse()) {
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint32_t row = rows_[begin + i];
          for (std::uint64_t e = inputs_->offsets[row]; e < inputs_->offsets[row + 1]; ++e) {
            double* const to = sum + inputs_->indices[e] * classes_;
            for (std::size_t k = 0; k < classes_; ++k) {
              to[k] += static_cast<double>(inputs_->values[e]) * from[i * classes_ + k];
            }
          }
        }
        continue;
      }
      gathered.resize(count * columns_);
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(inputs_->dense.data() + rows_[begin + i] * columns_, columns_, gathered.data() + i * columns_);
      }
      add_product<double>(columns_, classes_, count, {gathered.data(), 1, columns_}, from, classes_, sum);
    }
  });
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t block = 0; block < blocks.count(); ++block) {
    for (std::size_t w = 0; w < weights; ++w) out[w] += sums[block * weights + w];
  }
}

void LogisticRegression::diagonal(std::span<const double> curvature, std::span<double> out) const {
  std::fill(out.begin(), out.end(), options_.penalty);
  double* const biases = out.data() + columns_ * classes_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double* const c = curvature.data() + i * classes_;
    for (std::size_t k = 0; k < classes_; ++k) biases[k] += c[k];
    const auto add = [&](std::size_t column, double x) {
      for (std::size_t k = 0; k < classes_; ++k) out[column * classes_ + k] += x * x * c[k];
    };
    if (inputs_->is_sparse()) {
      for (std::uint64_t e = inputs_->offsets[rows_[i]]; e < inputs_->offsets[rows_[i] + 1]; ++e) {
        add(inputs_->indices[e], inputs_->values[e]);
      }
    } else {
      const float* const x = inputs_->dense.data() + rows_[i] * columns_;
      for (std::size_t column = 0; column < columns_; ++column) add(column, x[column]);
    }
  }
}

double LogisticRegression::likelihood(std::span<const double> targets, std::span<const double> scores) const {
  double sum = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto a = scores.subspan(i * classes_, classes_);
    const double log_sum = log_sum_exp(a);
    for (std::size_t k = 0; k < classes_; ++k) {
      if (const double t = targets[i * classes_ + k]; t > 0) sum += t * (a[k] - log_sum);
    }
  }
  return sum;
}

/// Newton's method, its steps found by conjugate gradients: what is known at the current weights.
struct LogisticRegression::Newton {
  Newton(const LogisticRegression& the_model, std::span<const double> the_targets, std::span<double> the_weights);

  /// Returns the length of the gradient.
  double find_gradient();
  /// out = −(Hessian) v
  void multiply(std::span<const double> v, std::span<double> out);
  /// Solves (−Hessian) direction = gradient until the residual is shorter than `enough`.
  void find_direction(double enough);
  /// Moves along the direction as far as the objective rises; false at the limit of rounding.
  bool move();

  const LogisticRegression& model;
  std::span<const double> targets;
  std::span<double> weights;
  std::size_t classes, cells, count;
  std::vector<double> scores, f, r, mass, along, trial;
  std::vector<double> gradient, scale, direction, residual, search, product, preconditioned;
  double yardstick = 0;  ///< the gradient at 0 says what "small" is
  double objective = 0;
};

LogisticRegression::Newton::Newton(const LogisticRegression& the_model, std::span<const double> the_targets,
                                   std::span<double> the_weights)
    : model(the_model),
      targets(the_targets),
      weights(the_weights),
      classes(model.classes_),
      cells(model.rows_.size() * classes),
      count(model.weight_count()) {
  const std::size_t rows = model.rows_.size();
  for (auto* const by_cell : {&scores, &f, &r, &along, &trial}) by_cell->resize(cells);
  for (auto* const by_weight : {&gradient, &scale, &direction, &residual, &search, &product, &preconditioned}) {
    by_weight->resize(count);
  }
  mass.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < classes; ++k) mass[i] += targets[i * classes + k];
  }
  for (std::size_t c = 0; c < cells; ++c) r[c] = targets[c] - mass[c / classes] / static_cast<double>(classes);
  model.transposed_product(r, gradient);
  yardstick = std::sqrt(dot(gradient, gradient)) + 1e-12 * static_cast<double>(rows) + 1e-300;
  model.logits(weights, scores);
  objective = model.likelihood(targets, scores) + model.log_prior(weights);
}

double LogisticRegression::Newton::find_gradient() {
  f = scores;
  for (std::size_t i = 0; i < mass.size(); ++i) softmax(std::span(f).subspan(i * classes, classes));
  for (std::size_t c = 0; c < cells; ++c) r[c] = targets[c] - mass[c / classes] * f[c];
  model.transposed_product(r, gradient);
  for (std::size_t w = 0; w < count; ++w) gradient[w] -= model.options_.penalty * weights[w];
  return std::sqrt(dot(gradient, gradient));
}

void LogisticRegression::Newton::multiply(std::span<const double> v, std::span<double> out) {
  model.logits(v, along);
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const double* const fi = f.data() + i * classes;
    const double* const u = along.data() + i * classes;
    double mean = 0;
    for (std::size_t k = 0; k < classes; ++k) mean += fi[k] * u[k];
    for (std::size_t k = 0; k < classes; ++k) r[i * classes + k] = mass[i] * fi[k] * (u[k] - mean);
  }
  model.transposed_product(r, out);
  for (std::size_t w = 0; w < count; ++w) out[w] += model.options_.penalty * v[w];
}

void LogisticRegression::Newton::find_direction(double enough) {
  for (std::size_t c = 0; c < cells; ++c) r[c] = mass[c / classes] * f[c] * (1 - f[c]);
  model.diagonal(r, scale);
  std::fill(direction.begin(), direction.end(), 0.0);
  residual = gradient;
  for (std::size_t w = 0; w < count; ++w) preconditioned[w] = residual[w] / scale[w];
  search = preconditioned;
  double fitness = dot(residual, preconditioned);
  const std::size_t most = model.options_.max_products;
  for (std::size_t round = 0; round < most && std::sqrt(dot(residual, residual)) > enough; ++round) {
    multiply(search, product);
    const double bend = dot(search, product);
    if (!(bend > 0)) break;
    const double length = fitness / bend;
    for (std::size_t w = 0; w < count; ++w) {
      direction[w] += length * search[w];
      residual[w] -= length * product[w];
      preconditioned[w] = residual[w] / scale[w];
    }
    const double next = dot(residual, preconditioned);
    for (std::size_t w = 0; w < count; ++w) search[w] = preconditioned[w] + next / fitness * search[w];
    fitness = next;
  }
}

bool LogisticRegression::Newton::move() {
  // Along the direction the logits are linear, so a trial costs no product with the rows.
  model.logits(direction, along);
  const double slope = dot(gradient, direction), squared = dot(direction, direction), inner = dot(weights, direction),
               own = dot(weights, weights);
  double length = 1;
  for (int halving = 0; halving < 40; ++halving, length /= 2) {
    for (std::size_t c = 0; c < cells; ++c) trial[c] = scores[c] + length * along[c];
    const double value = model.likelihood(targets, trial) -
                         model.options_.penalty / 2 * (own + 2 * length * inner + length * length * squared);
    if (!(value >= objective + 1e-4 * length * slope && value > objective)) continue;
    objective = value;
    for (std::size_t w = 0; w < count; ++w) weights[w] += length * direction[w];
    model.logits(weights, scores);
    return true;
  }
  return false;
}

LogisticRegression::Fit LogisticRegression::improve(std::span<const double> targets, std::size_t steps,
                                                    std::span<double> weights) const {
  Newton newton(*this, targets, weights);
  Fit fit;
  for (; fit.steps < steps; ++fit.steps) {
    const double size = newton.find_gradient();
    fit.converged = size <= options_.tolerance * newton.yardstick;
    if (fit.converged) break;
    // The more exactly the nearer the maximum.
    newton.find_direction(size * std::min(0.1, std::sqrt(size / newton.yardstick)));
    fit.converged = !newton.move();
    if (fit.converged) break;
  }
  fit.objective = newton.objective;
  return fit;
}

}  // namespace wisecrowd
