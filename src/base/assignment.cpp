#include "base/assignment.hpp"

#include <limits>

namespace wisecrowd {

std::vector<std::size_t> best_assignment(std::span<const double> gain, std::size_t n) {
  return best_assignment(gain, n, n);
}

std::vector<std::size_t> best_assignment(std::span<const double> gain, std::size_t rows, std::size_t columns) {
  // Shortest augmenting paths on costs −gain, one row at a time; column 0 of the working arrays is a sentinel.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> row_potential(rows + 1, 0), column_potential(columns + 1, 0);
  std::vector<std::size_t> row_of(columns + 1, 0), previous(columns + 1, 0);
  for (std::size_t row = 1; row <= rows; ++row) {
    row_of[0] = row;
    std::size_t column = 0;
    std::vector<double> slack(columns + 1, kInfinity);
    std::vector<bool> visited(columns + 1, false);
    do {
      visited[column] = true;
      const std::size_t current = row_of[column];
      double step = kInfinity;
      std::size_t next = 0;
      for (std::size_t c = 1; c <= columns; ++c) {
        if (visited[c]) continue;
        const double reduced = -gain[(current - 1) * columns + c - 1] - row_potential[current] - column_potential[c];
        if (reduced < slack[c]) {
          slack[c] = reduced;
          previous[c] = column;
        }
        if (slack[c] < step) {
          step = slack[c];
          next = c;
        }
      }
      for (std::size_t c = 0; c <= columns; ++c) {
        if (visited[c]) {
          row_potential[row_of[c]] += step;
          column_potential[c] -= step;
        } else {
          slack[c] -= step;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    while (column != 0) {
      row_of[column] = row_of[previous[column]];
      column = previous[column];
    }
  }
  std::vector<std::size_t> assignment(rows);
  for (std::size_t c = 1; c <= columns; ++c) {
    if (row_of[c] != 0) assignment[row_of[c] - 1] = c - 1;
  }
  return assignment;
}

}  // namespace wisecrowd
