#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wisecrowd {

/// How the K × K tables of workers and tasks are parametrised.
enum class TableForm {
  categorical,    ///< every cell is free
  ordinal,        ///< sums of 2 × 2 tables, one per cut of the class order: "truth and answer above or below a"
  ordinal_pairs,  ///< the same for every pair of cuts: "truth above or below a, answer above or below b"
};

/// Linear map from coefficients u to a table: every cell (truth, label) is a sum of `per_cell` coefficients.
class TableBasis {
 public:
  TableBasis(TableForm form, std::size_t classes);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t classes() const noexcept { return classes_; }
  [[nodiscard]] bool is_identity() const noexcept { return identity_; }
  void expand(const double* coefficients, double* table) const noexcept;
  /// The transpose of expand.
  void collect(const double* table, double* coefficients) const noexcept;

 private:
  std::size_t classes_;
  std::size_t size_;
  std::size_t per_cell_ = 1;
  bool identity_;
  std::vector<std::uint32_t> members_;  // cells × per_cell
};

/// One answer as a table's problem sees it: the probabilities of the truth, the other side's table, the label.
struct TableItem {
  const double* truth;
  const double* other;
  std::size_t label;
};

/// The concave problem of one worker or one task with everything else fixed:
///   max_u Σ_a Σ_k q_ak [ (x + o_a)[k][y_a] − log Σ_l exp (x + o_a)[k][l] ] − λ/2 |u|²,   x = basis(u),
/// by Newton steps. A solver holds scratch space, so each thread needs its own.
class TableSolver {
 public:
  TableSolver(const TableBasis& basis, double penalty);
  /// Moves `coefficients` to the maximum and sets `table` to match; starts from where they are.
  void solve(std::span<const TableItem> items, double* coefficients, double* table);
  /// The objective and, if asked for, its gradient in the coefficients.
  double evaluate(std::span<const TableItem> items, const double* coefficients, double* gradient);

 private:
  void differentiate(std::span<const TableItem> items, const double* coefficients, const double* table);
  void multiply(const double* direction, double* product);
  void find_direction();

  const TableBasis& basis_;
  double penalty_;
  std::size_t classes_;
  bool listed_ = false;  // fewer items than classes: keep their probabilities instead of K × K Hessian blocks
  std::size_t kept_ = 0;
  std::vector<double> probabilities_, log_answer_, table_gradient_, diagonal_, blocks_;
  std::vector<double> kept_probabilities_, kept_weights_;
  std::vector<double> gradient_, direction_, residual_, conjugate_, product_, table_direction_, table_product_;
};

/// The rows of `probabilities` (K × K) become softmax(one + other), and log_answer[k] = log P(label | truth k).
void answer_probabilities(const double* one, const double* other, std::size_t classes, std::size_t label,
                          double* probabilities, double* log_answer);

}  // namespace wisecrowd
