#pragma once

#include <span>
#include <vector>

#include "wisecrowd/ids.hpp"

namespace wisecrowd {

class CategoryAnswers;

/// What is believed of a worker before it has answered: so many answers to each truth, this share of them right, the
/// wrong ones spread evenly over the other classes.
struct TablePrior {
  double answers = 4;
  double accuracy = 0.7;

  /// Answers that it adds to a cell on the diagonal, and off it.
  [[nodiscard]] double right(std::size_t classes) const noexcept { return classes < 2 ? answers : answers * accuracy; }
  [[nodiscard]] double wrong(std::size_t classes) const noexcept {
    return classes < 2 ? 0 : (answers - right(classes)) / static_cast<double>(classes - 1);
  }
  /// Both as a table, truth × label.
  [[nodiscard]] std::vector<double> table(std::size_t classes) const;
};

/// A table per worker, truth × label, one after the other. Its cells are expected counts of answers; or, with a prior
/// added, parameters of a Dirichlet distribution per row; or, after normalise(), probabilities: the means of those.
class WorkerTables {
 public:
  WorkerTables() = default;
  WorkerTables(std::size_t workers, std::size_t classes) : classes_(classes), cells_(workers * classes * classes) {}
  /// Every worker starts from this table.
  WorkerTables(std::size_t workers, std::size_t classes, std::span<const double> table);

  [[nodiscard]] std::size_t class_count() const noexcept { return classes_; }
  [[nodiscard]] std::size_t worker_count() const noexcept { return classes_ == 0 ? 0 : cells_.size() / size(); }
  [[nodiscard]] std::span<double> table(WorkerId worker) noexcept {
    return std::span(cells_).subspan(index(worker) * size(), size());
  }
  [[nodiscard]] std::span<const double> table(WorkerId worker) const noexcept {
    return std::span(cells_).subspan(index(worker) * size(), size());
  }
  [[nodiscard]] std::span<double> row(WorkerId worker, std::size_t truth) noexcept {
    return table(worker).subspan(truth * classes_, classes_);
  }
  /// All tables: workers × truth × label.
  [[nodiscard]] std::span<const double> cells() const noexcept { return cells_; }
  [[nodiscard]] std::vector<double> release() && noexcept { return std::move(cells_); }

  /// Counts an answer to a task whose truth is known as far as the posterior says.
  void count(WorkerId worker, ClassId label, std::span<const double> posterior) noexcept {
    double* const cell = cells_.data() + index(worker) * size() + index(label);
    for (std::size_t k = 0; k < classes_; ++k) cell[k * classes_] += posterior[k];
  }
  /// Adds the same table, times a weight, to that of every worker.
  void add(std::span<const double> table, double weight = 1) noexcept;
  /// One worker more, with this table.
  void append(std::span<const double> table) { cells_.insert(cells_.end(), table.begin(), table.end()); }
  /// What all workers have together, truth × label, and `first` in each cell besides.
  [[nodiscard]] std::vector<double> sum(double first = 0) const;
  /// Makes rows sum to 1; an empty row becomes even.
  void normalise() noexcept;

 private:
  [[nodiscard]] std::size_t size() const noexcept { return classes_ * classes_; }

  std::size_t classes_ = 0;
  std::vector<double> cells_;
};

/// The sums of a posterior (tasks × classes) over the answers of each worker, by what was said.
[[nodiscard]] WorkerTables expected_counts(const CategoryAnswers& answers, std::span<const double> posterior);

/// Makes the rows of tables, truth × label each, sum to 1; an empty row becomes even.
void normalise_rows(std::span<double> tables, std::size_t classes) noexcept;

/// The share of right answers in a table of counts; NaN if it is empty.
[[nodiscard]] double share_of_right(std::span<const double> counts, std::size_t classes) noexcept;
/// How likely an answer is right for a truth of these shares, by a table whose rows sum to 1.
[[nodiscard]] inline double accuracy_at(std::span<const double> shares, std::span<const double> table) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < shares.size(); ++k) sum += shares[k] * table[k * (shares.size() + 1)];
  return sum;
}
/// I(truth; answer) in bits for a truth of these shares, by a table whose rows sum to 1.
[[nodiscard]] double mutual_information_bits(std::span<const double> shares, std::span<const double> table) noexcept;

}  // namespace wisecrowd
