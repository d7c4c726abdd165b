#include "aggregate/categories/shared/softmax_tables.hpp"

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kMaxNewtonSteps = 25;
// A Newton step may spread the logits of one row by this much. The Hessian grows by at most e^r along a step of spread
// r, so a step of at most 1 gains at least (1 − 0.72) of what its quadratic model promises: no line search is needed.
constexpr double kMaxSpread = 1;
// What is left after a smaller step than this is below the square of it.
constexpr double kSmallSpread = 1e-2;
// Conjugate gradients stop here, so that the error shrinks a hundredfold per Newton step.
constexpr double kForcing = 1e-2;
// Truths less probable than this have no say in an M-step; most of the work is skipped when posteriors are sharp.
constexpr double kNegligible = 1e-11;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// With the number of classes known to the compiler, the short loops below become straight code.
template <std::size_t Fixed>
void softmax_rows(const double* one, const double* other, std::size_t any, std::size_t label, double* probabilities,
                  double* log_answer) {
  const std::size_t classes = Fixed == 0 ? any : Fixed;
  // Whole tables at a time, so that the exponentials fill the vector units although rows are short.
  const std::size_t cells = classes * classes;
  for (std::size_t k = 0; k < classes; ++k) {
    double* row = probabilities + k * classes;
    for (std::size_t l = 0; l < classes; ++l) row[l] = one[k * classes + l] + other[k * classes + l];
    double top = row[0];
    for (std::size_t l = 1; l < classes; ++l) top = row[l] > top ? row[l] : top;
    for (std::size_t l = 0; l < classes; ++l) row[l] -= top;
    log_answer[k] = row[label];
  }
#pragma omp simd
  for (std::size_t c = 0; c < cells; ++c) probabilities[c] = exp_nonpositive(probabilities[c]);
  for (std::size_t k = 0; k < classes; ++k) {
    double* row = probabilities + k * classes;
    double sum = 0;
    for (std::size_t l = 0; l < classes; ++l) sum += row[l];
    const double scale = 1 / sum;
    for (std::size_t l = 0; l < classes; ++l) row[l] *= scale;
    log_answer[k] -= log_positive(sum);
  }
}

/// The worker's or task's share of the gradient, the diagonal and (unless null) the K × K block of one truth class.
template <std::size_t Fixed>
void accumulate_row(std::size_t any, double weight, const double* p, double* gradient, double* diagonal,
                    double* block) {
  const std::size_t classes = Fixed == 0 ? any : Fixed;
  for (std::size_t l = 0; l < classes; ++l) {
    const double scaled = weight * p[l];
    gradient[l] -= scaled;
    diagonal[l] += scaled;
    if (block != nullptr) {
      for (std::size_t m = 0; m < classes; ++m) block[l * classes + m] += scaled * p[m];
    }
  }
}

/// Calls work.operator()<classes>() for a few classes, else with 0.
template <class Work>
void with_classes(std::size_t classes, Work&& work) {
  switch (classes) {
    case 2: return work.template operator()<2>();
    case 3: return work.template operator()<3>();
    case 4: return work.template operator()<4>();
    case 5: return work.template operator()<5>();
    default: return work.template operator()<0>();
  }
}

}  // namespace

void answer_probabilities(const double* one, const double* other, std::size_t classes, std::size_t label,
                          double* probabilities, double* log_answer) {
  with_classes(classes, [&]<std::size_t Fixed>() {
    softmax_rows<Fixed>(one, other, classes, label, probabilities, log_answer);
  });
}

TableBasis::TableBasis(TableForm form, std::size_t classes)
    : classes_(classes), size_(classes * classes), identity_(form == TableForm::categorical) {
  if (identity_ || classes == 0) return;
  const std::size_t cuts = classes - 1;
  const bool pairs = form == TableForm::ordinal_pairs;
  per_cell_ = pairs ? cuts * cuts : cuts;
  size_ = 4 * per_cell_;
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t l = 0; l < classes; ++l) {
      for (std::size_t table = 0; table < per_cell_; ++table) {
        const std::size_t truth_cut = 1 + (pairs ? table / cuts : table);
        const std::size_t label_cut = 1 + (pairs ? table % cuts : table);
        members_.push_back(static_cast<std::uint32_t>(4 * table + (k >= truth_cut ? 2 : 0) + (l >= label_cut ? 1 : 0)));
      }
    }
  }
}

void TableBasis::expand(const double* coefficients, double* table) const noexcept {
  if (identity_) {
    std::copy_n(coefficients, size_, table);
    return;
  }
  const std::uint32_t* member = members_.data();
  for (std::size_t c = 0; c < classes_ * classes_; ++c) {
    double sum = 0;
    for (std::size_t f = 0; f < per_cell_; ++f) sum += coefficients[*member++];
    table[c] = sum;
  }
}

void TableBasis::collect(const double* table, double* coefficients) const noexcept {
  if (identity_) {
    std::copy_n(table, size_, coefficients);
    return;
  }
  std::fill_n(coefficients, size_, 0.0);
  const std::uint32_t* member = members_.data();
  for (std::size_t c = 0; c < classes_ * classes_; ++c) {
    for (std::size_t f = 0; f < per_cell_; ++f) coefficients[*member++] += table[c];
  }
}

TableSolver::TableSolver(const TableBasis& basis, double penalty)
    : basis_(basis), penalty_(penalty), classes_(basis.classes()) {
  const std::size_t cells = classes_ * classes_;
  probabilities_.resize(cells);
  log_answer_.resize(classes_);
  for (auto* table : {&table_gradient_, &diagonal_, &table_direction_, &table_product_}) table->resize(cells);
  for (auto* vector : {&gradient_, &direction_, &residual_, &conjugate_, &product_}) vector->resize(basis.size());
}

double TableSolver::evaluate(std::span<const TableItem> items, const double* coefficients, double* gradient) {
  std::vector<double> table(classes_ * classes_);
  basis_.expand(coefficients, table.data());
  double value = 0;
  for (const TableItem& item : items) {
    answer_probabilities(table.data(), item.other, classes_, item.label, probabilities_.data(), log_answer_.data());
    for (std::size_t k = 0; k < classes_; ++k) value += item.truth[k] * log_answer_[k];
  }
  for (std::size_t i = 0; i < basis_.size(); ++i) value -= penalty_ / 2 * coefficients[i] * coefficients[i];
  if (gradient != nullptr) {
    differentiate(items, coefficients, table.data());
    std::copy(gradient_.begin(), gradient_.end(), gradient);
  }
  return value;
}

/// Gradient in the coefficients, and the curvature of the data term: for each truth k the matrix
/// Σ_a q_ak (diag p_ak − p_ak p_akᵀ), as a diagonal and either its second part or the p_ak themselves.
void TableSolver::differentiate(std::span<const TableItem> items, const double* coefficients, const double* table) {
  const std::size_t K = classes_;
  listed_ = items.size() < K;
  std::fill(table_gradient_.begin(), table_gradient_.end(), 0.0);
  std::fill(diagonal_.begin(), diagonal_.end(), 0.0);
  kept_ = 0;
  if (listed_) {
    kept_probabilities_.resize(items.size() * K * K);
    kept_weights_.resize(items.size() * K);
  } else {
    blocks_.assign(K * K * K, 0.0);
  }
  with_classes(K, [&]<std::size_t Fixed>() {
    for (const TableItem& item : items) {
      double* const p = listed_ ? kept_probabilities_.data() + kept_ * K : probabilities_.data();
      softmax_rows<Fixed>(table, item.other, K, item.label, p, log_answer_.data());
      for (std::size_t k = 0; k < K; ++k) {
        const double weight = item.truth[k];
        if (listed_) kept_weights_[kept_++] = weight;
        if (weight < kNegligible) continue;
        accumulate_row<Fixed>(K, weight, p + k * K, table_gradient_.data() + k * K, diagonal_.data() + k * K,
                              listed_ ? nullptr : blocks_.data() + k * K * K);
        table_gradient_[k * K + item.label] += weight;
      }
    }
  });
  basis_.collect(table_gradient_.data(), gradient_.data());
  for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] -= penalty_ * coefficients[i];
}

/// product ← (λ I + Bᵀ H B) direction.
void TableSolver::multiply(const double* direction, double* product) {
  const std::size_t K = classes_;
  basis_.expand(direction, table_direction_.data());
  const double* d = table_direction_.data();
  double* out = table_product_.data();
  for (std::size_t c = 0; c < K * K; ++c) out[c] = diagonal_[c] * d[c];
  if (listed_) {
    for (std::size_t a = 0; a < kept_; ++a) {
      if (kept_weights_[a] < kNegligible) continue;
      const double* p = kept_probabilities_.data() + a * K;
      const double* row = d + a % K * K;
      double* target = out + a % K * K;
      double inner = 0;
      for (std::size_t l = 0; l < K; ++l) inner += p[l] * row[l];
      inner *= kept_weights_[a];
      for (std::size_t l = 0; l < K; ++l) target[l] -= inner * p[l];
    }
  } else {
    for (std::size_t k = 0; k < K; ++k) {
      for (std::size_t l = 0; l < K; ++l) {
        const double* block = blocks_.data() + (k * K + l) * K;
        double inner = 0;
        for (std::size_t m = 0; m < K; ++m) inner += block[m] * d[k * K + m];
        out[k * K + l] -= inner;
      }
    }
  }
  basis_.collect(out, product);
  for (std::size_t i = 0; i < product_.size(); ++i) product[i] += penalty_ * direction[i];
}

/// Newton direction by conjugate gradients from zero. However early they stop, gᵀd = dᵀHd, which is what the bound on
/// the step needs.
void TableSolver::find_direction() {
  std::fill(direction_.begin(), direction_.end(), 0.0);
  residual_ = gradient_;
  conjugate_ = residual_;
  double square = dot(residual_, residual_);
  const double enough = square * kForcing * kForcing;
  for (std::size_t step = 0; step < 2 * direction_.size() && square > enough; ++step) {
    multiply(conjugate_.data(), product_.data());
    const double curvature = dot(conjugate_, product_);
    if (!(curvature > 0)) break;
    const double length = square / curvature;
    for (std::size_t i = 0; i < direction_.size(); ++i) {
      direction_[i] += length * conjugate_[i];
      residual_[i] -= length * product_[i];
    }
    const double next = dot(residual_, residual_);
    for (std::size_t i = 0; i < direction_.size(); ++i) {
      conjugate_[i] = residual_[i] + next / square * conjugate_[i];
    }
    square = next;
  }
}

void TableSolver::solve(std::span<const TableItem> items, double* coefficients, double* table) {
  const std::size_t K = classes_;
  for (std::size_t step = 0; step < kMaxNewtonSteps; ++step) {
    differentiate(items, coefficients, table);
    find_direction();
    basis_.expand(direction_.data(), table_direction_.data());
    double spread = 0;
    for (std::size_t k = 0; k < K; ++k) {
      const auto [low, high] = std::minmax_element(table_direction_.begin() + static_cast<std::ptrdiff_t>(k * K),
                                                   table_direction_.begin() + static_cast<std::ptrdiff_t>((k + 1) * K));
      spread = std::max(spread, *high - *low);
    }
    const double length = spread > kMaxSpread ? kMaxSpread / spread : 1;
    for (std::size_t i = 0; i < direction_.size(); ++i) coefficients[i] += length * direction_[i];
    basis_.expand(coefficients, table);
    if (spread < kSmallSpread) break;
  }
}

}  // namespace wisecrowd
