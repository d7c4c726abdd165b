#include "simulate/tables.hpp"

#include <algorithm>
#include <vector>

#include "base/numeric.hpp"

namespace wisecrowd::tables {
namespace {

std::span<double> row_of(std::span<double> table, std::size_t classes, std::size_t truth) {
  return table.subspan(truth * classes, classes);
}

void uniform_row(std::span<double> row, Rng& rng) {
  for (double& p : row) p = 1 - rng.uniform();  // (0, 1]: a row of zeros cannot be normalised
}

void move_largest(std::span<double> row, std::size_t to) {
  std::iter_swap(std::max_element(row.begin(), row.end()), row.begin() + static_cast<std::ptrdiff_t>(to));
}

}  // namespace

void random(std::span<double> table, std::size_t classes, Rng& rng) {
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = row_of(table, classes, k);
    uniform_row(row, rng);
    normalise(row);
  }
}

void better_than_random(std::span<double> table, std::size_t classes, double level, Rng& rng) {
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = row_of(table, classes, k);
    uniform_row(row, rng);
    move_largest(row, k);
    row[k] *= level;
    normalise(row);
  }
}

void diagonal_dominant(std::span<double> table, std::size_t classes, double gamma, Rng& rng) {
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = row_of(table, classes, k);
    for (double& p : row) p = gamma * rng.uniform();
    row[k] += 1;
    normalise(row);
  }
}

void identity(std::span<double> table, std::size_t classes) { one_coin(table, classes, 1); }

void coin_per_class(std::span<double> table, std::size_t classes, std::span<const double> diagonal) {
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = row_of(table, classes, k);
    std::fill(row.begin(), row.end(), (1 - diagonal[k]) / static_cast<double>(classes - 1));
    row[k] = diagonal[k];
  }
}

void one_coin(std::span<double> table, std::size_t classes, double accuracy) {
  coin_per_class(table, classes, std::vector<double>(classes, accuracy));
}

void spammer(std::span<double> table, std::size_t classes, Rng& rng) {
  const std::vector<double> ones(classes, 1.0);
  const auto first = row_of(table, classes, 0);
  rng.dirichlet(ones, first);
  for (std::size_t k = 1; k < classes; ++k) std::copy(first.begin(), first.end(), row_of(table, classes, k).begin());
}

void adversary(std::span<double> table, std::size_t classes, Rng& rng) {
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = row_of(table, classes, k);
    uniform_row(row, rng);
    move_largest(row, (k + 1 + rng.below(classes - 1)) % classes);
    normalise(row);
  }
}

void class_expert(std::span<double> table, std::size_t classes, std::size_t expertise, Rng& rng) {
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = row_of(table, classes, k);
    if (k == expertise) {
      std::fill(row.begin(), row.end(), 0.0);
      row[k] = 1;
      continue;
    }
    uniform_row(row, rng);
    row[expertise] = 0;
    normalise(row);
  }
}

void constant(std::span<double> table, std::size_t classes, std::size_t label) {
  std::fill(table.begin(), table.end(), 0.0);
  for (std::size_t k = 0; k < classes; ++k) table[k * classes + label] = 1;
}

}  // namespace wisecrowd::tables
