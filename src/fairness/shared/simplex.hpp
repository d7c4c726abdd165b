#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace wisecrowd::fairness {

/// Maximise objective · x over 0 ≤ x ≤ upper, subject to rows.
struct LinearProgram {
  struct Row {
    std::vector<std::pair<std::uint32_t, double>> terms;  // variable, factor
    bool equal = false;                                   // or at most
    double bound = 0;                                     // not negative
  };
  std::vector<double> objective;
  std::vector<double> upper;  // infinite for none
  std::vector<Row> rows;
};

struct LinearSolution {
  enum class Kind { optimal, infeasible, unbounded, stopped } kind = Kind::infeasible;
  std::vector<double> x;
  double value = 0;
};

/// Cells of the tableau that solving takes.
[[nodiscard]] double tableau_cells(const LinearProgram& program);

/// The simplex method on a dense tableau, with bounds kept out of it (Dantzig's rule, Bland's when it does not get on).
/// It stops, without a solution, after `most_pivots`.
[[nodiscard]] LinearSolution solve(const LinearProgram& program, std::size_t most_pivots = 1000000);

}  // namespace wisecrowd::fairness
