#include "base/assignment.hpp"

#include <limits>

namespace wisecrowd {

std::vector<std::size_t> best_assignment(std::span<const double> gain, std::size_t n) {
  // Shortest augmenting paths on costs −gain, one row at a time; column 0 of the working arrays is a sentinel.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> row_potential(n + 1, 0), column_potential(n + 1, 0);
  std::vector<std::size_t> row_of(n + 1, 0), previous(n + 1, 0);
  for (std::size_t row = 1; row <= n; ++row) {
    row_of[0] = row;
    std::size_t column = 0;
    std::vector<double> slack(n + 1, kInfinity);
    std::vector<bool> visited(n + 1, false);
    do {
      visited[column] = true;
      const std::size_t current = row_of[column];
      double step = kInfinity;
      std::size_t next = 0;
      for (std::size_t c = 1; c <= n; ++c) {
        if (visited[c]) continue;
        const double reduced = -gain[(current - 1) * n + c - 1] - row_potential[current] - column_potential[c];
        if (reduced < slack[c]) {
          slack[c] = reduced;
          previous[c] = column;
        }
        if (slack[c] < step) {
          step = slack[c];
          next = c;
        }
      }
      for (std::size_t c = 0; c <= n; ++c) {
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
  std::vector<std::size_t> assignment(n);
  for (std::size_t c = 1; c <= n; ++c) assignment[row_of[c] - 1] = c - 1;
  return assignment;
}

}  // namespace wisecrowd
