#include "fairness/shared/simplex.hpp"

#include <algorithm>
#include <cmath>

namespace wisecrowd::fairness {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kSmall = 1e-9;
/// Pivots without progress after which Bland's rule, which never circles, takes over until there is some.
constexpr std::size_t kPatience = 50;

struct Tableau {
  std::size_t rows, columns;
  std::vector<double> cells;         // rows × columns, B⁻¹A
  std::vector<double> value;         // of the basic variable of each row
  std::vector<std::uint32_t> basic;  // per row
  std::vector<char> is_basic, at_upper;
  std::vector<double> upper;

  [[nodiscard]] double* row(std::size_t r) { return cells.data() + r * columns; }

  /// What the objective gains per unit of each variable.
  [[nodiscard]] std::vector<double> reduced(const std::vector<double>& objective) {
    std::vector<double> gain = objective;
    for (std::size_t r = 0; r < rows; ++r) {
      const double price = objective[basic[r]];
      if (price == 0) continue;
      const double* cell = row(r);
      for (std::size_t c = 0; c < columns; ++c) gain[c] -= price * cell[c];
    }
    return gain;
  }

  void pivot(std::size_t r, std::size_t column, std::vector<double>& gain) {
    double* const lead = row(r);
    const double inverse = 1 / lead[column];
    std::vector<std::uint32_t> filled;  // most cells are 0: a worker's row meets few variables
    for (std::size_t c = 0; c < columns; ++c) {
      if (lead[c] == 0) continue;
      lead[c] *= inverse;
      filled.push_back(static_cast<std::uint32_t>(c));
    }
    lead[column] = 1;
    const auto subtract = [&](double* from) {
      const double factor = from[column];
      if (factor == 0) return;
      for (const std::uint32_t c : filled) from[c] -= factor * lead[c];
      from[column] = 0;
    };
    for (std::size_t other = 0; other < rows; ++other) {
      if (other != r) subtract(row(other));
    }
    subtract(gain.data());
  }
};

/// The variable that enters: the one of the largest gain, or by Bland's rule the first one with any.
std::size_t entering(const Tableau& t, const std::vector<double>& gain, bool bland) {
  std::size_t best = t.columns;
  double most = kSmall;
  for (std::size_t c = 0; c < t.columns; ++c) {
    if (t.is_basic[c] != 0 || t.upper[c] <= 0) continue;
    const double useful = t.at_upper[c] != 0 ? -gain[c] : gain[c];
    if (useful <= most) continue;
    best = c;
    if (bland) return best;
    most = useful;
  }
  return best;
}

struct Step {
  double length = kInfinite;
  std::size_t row = 0;
  bool leaves_at_upper = false;
  bool flips = false;  // the entering variable reaches its own other bound first
};

Step longest_step(Tableau& t, std::size_t column, double direction) {
  Step step;
  if (t.upper[column] < kInfinite) step = {t.upper[column], 0, false, true};
  for (std::size_t r = 0; r < t.rows; ++r) {
    const double slope = direction * t.row(r)[column];
    if (std::abs(slope) <= kSmall) continue;
    const double top = t.upper[t.basic[r]];
    if (slope < 0 && top == kInfinite) continue;
    const double length = std::max(0.0, slope > 0 ? t.value[r] / slope : (top - t.value[r]) / -slope);
    const bool shorter = length < step.length - 1e-12;
    const bool tie = !shorter && length <= step.length + 1e-12 && !step.flips;
    if (shorter || (tie && t.basic[r] < t.basic[step.row])) step = {length, r, slope < 0, false};
  }
  return step;
}

enum class Outcome { optimal, unbounded, stopped };

Outcome improve(Tableau& t, const std::vector<double>& objective, std::size_t& pivots_left) {
  std::vector<double> gain = t.reduced(objective);
  std::size_t stalled = 0;
  for (;;) {
    const std::size_t column = entering(t, gain, stalled > kPatience);
    if (column == t.columns) return Outcome::optimal;
    if (pivots_left-- == 0) return Outcome::stopped;
    const double direction = t.at_upper[column] != 0 ? -1 : 1;
    const Step step = longest_step(t, column, direction);
    if (step.length == kInfinite) return Outcome::unbounded;
    stalled = step.length > kSmall ? 0 : stalled + 1;
    for (std::size_t r = 0; r < t.rows; ++r) t.value[r] -= direction * step.length * t.row(r)[column];
    if (step.flips) {
      t.at_upper[column] ^= 1;
      continue;
    }
    const std::uint32_t leaving = t.basic[step.row];
    t.is_basic[leaving] = 0;
    t.at_upper[leaving] = step.leaves_at_upper ? 1 : 0;
    t.value[step.row] = direction > 0 ? step.length : t.upper[column] - step.length;
    t.basic[step.row] = static_cast<std::uint32_t>(column);
    t.is_basic[column] = 1;
    t.at_upper[column] = 0;
    t.pivot(step.row, column, gain);
  }
}

/// Variables, then a slack per row; the slack of an equation is what is missing in it, and must become 0.
Tableau first_tableau(const LinearProgram& program) {
  const std::size_t variables = program.objective.size();
  Tableau t;
  t.rows = program.rows.size();
  t.columns = variables + t.rows;
  t.cells.assign(t.rows * t.columns, 0.0);
  t.upper = program.upper;
  t.upper.resize(t.columns, kInfinite);
  t.is_basic.assign(t.columns, 0);
  t.at_upper.assign(t.columns, 0);
  for (std::size_t r = 0; r < t.rows; ++r) {
    for (const auto& [variable, factor] : program.rows[r].terms) t.row(r)[variable] += factor;
    t.row(r)[variables + r] = 1;
    t.value.push_back(program.rows[r].bound);
    t.basic.push_back(static_cast<std::uint32_t>(variables + r));
    t.is_basic[variables + r] = 1;
  }
  return t;
}

}  // namespace

double tableau_cells(const LinearProgram& program) {
  const auto rows = static_cast<double>(program.rows.size());
  return rows * (static_cast<double>(program.objective.size()) + rows);
}

LinearSolution solve(const LinearProgram& program, std::size_t most_pivots) {
  const std::size_t variables = program.objective.size();
  Tableau t = first_tableau(program);
  LinearSolution solution;
  std::vector<double> missing(t.columns, 0.0);
  for (std::size_t r = 0; r < t.rows; ++r) missing[variables + r] = program.rows[r].equal ? -1 : 0;
  if (improve(t, missing, most_pivots) == Outcome::stopped) {
    solution.kind = LinearSolution::Kind::stopped;
    return solution;
  }
  for (std::size_t r = 0; r < t.rows; ++r) {
    const std::size_t variable = t.basic[r];
    if (missing[variable] != 0 && t.value[r] > 1e-7) return solution;
  }
  for (std::size_t c = variables; c < t.columns; ++c) {
    if (missing[c] != 0) t.upper[c] = 0;
  }
  std::vector<double> objective = program.objective;
  objective.resize(t.columns, 0.0);
  const Outcome outcome = improve(t, objective, most_pivots);
  if (outcome != Outcome::optimal) {
    solution.kind = outcome == Outcome::stopped ? LinearSolution::Kind::stopped : LinearSolution::Kind::unbounded;
    return solution;
  }
  solution.kind = LinearSolution::Kind::optimal;
  solution.x.assign(variables, 0.0);
  for (std::size_t c = 0; c < variables; ++c) {
    if (t.at_upper[c] != 0) solution.x[c] = t.upper[c];
  }
  for (std::size_t r = 0; r < t.rows; ++r) {
    if (t.basic[r] < variables) solution.x[t.basic[r]] = std::clamp(t.value[r], 0.0, t.upper[t.basic[r]]);
  }
  for (std::size_t c = 0; c < variables; ++c) solution.value += program.objective[c] * solution.x[c];
  return solution;
}

}  // namespace wisecrowd::fairness
