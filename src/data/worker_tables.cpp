#include "wisecrowd/worker_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/category_answers.hpp"

namespace wisecrowd {

std::vector<double> TablePrior::table(std::size_t classes) const {
  std::vector<double> table(classes * classes, wrong(classes));
  for (std::size_t k = 0; k < classes; ++k) table[k * (classes + 1)] = right(classes);
  return table;
}

WorkerTables::WorkerTables(std::size_t workers, std::size_t classes, std::span<const double> table)
    : classes_(classes) {
  cells_.reserve(workers * size());
  for (std::size_t w = 0; w < workers; ++w) append(table);
}

void WorkerTables::add(std::span<const double> table, double weight) noexcept {
  for (std::size_t begin = 0; begin < cells_.size(); begin += size()) {
    for (std::size_t c = 0; c < table.size(); ++c) cells_[begin + c] += weight * table[c];
  }
}

std::vector<double> WorkerTables::sum(double first) const {
  std::vector<double> all(size(), first);
  for (std::size_t begin = 0; begin < cells_.size(); begin += size()) {
    for (std::size_t c = 0; c < all.size(); ++c) all[c] += cells_[begin + c];
  }
  return all;
}

void WorkerTables::normalise() noexcept { normalise_rows(cells_, classes_); }

WorkerTables expected_counts(const CategoryAnswers& answers, std::span<const double> posterior) {
  const std::size_t classes = answers.class_count();
  WorkerTables counts(answers.worker_count(), classes);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto q = posterior.subspan(t * classes, classes);
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) counts.count(workers[a], labels[a], q);
  }
  return counts;
}

void normalise_rows(std::span<double> tables, std::size_t classes) noexcept {
  for (std::size_t row = 0; row < tables.size(); row += classes) normalise(tables.subspan(row, classes));
}

double share_of_right(std::span<const double> counts, std::size_t classes) noexcept {
  double right = 0, all = 0;
  for (std::size_t k = 0; k < classes; ++k) right += counts[k * classes + k];
  for (const double n : counts) all += n;
  return all > 0 ? right / all : std::numeric_limits<double>::quiet_NaN();
}

double mutual_information_bits(std::span<const double> shares, std::span<const double> table) noexcept {
  const std::size_t classes = shares.size();
  double bits = 0;
  for (std::size_t l = 0; l < classes; ++l) {
    double marginal = 0;
    for (std::size_t k = 0; k < classes; ++k) marginal += shares[k] * table[k * classes + l];
    for (std::size_t k = 0; k < classes; ++k) {
      const double p = table[k * classes + l];
      if (p > 0 && shares[k] > 0) bits += shares[k] * p * math::log2(p / marginal);
    }
  }
  return std::max(bits, 0.0);  // rounding may leave −1e-17 for a worker who tells nothing
}

}  // namespace wisecrowd
