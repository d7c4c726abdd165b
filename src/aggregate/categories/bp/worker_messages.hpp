#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregate/categories/bp/accuracy_prior.hpp"
#include "base/rng.hpp"

namespace wisecrowd::bp {

// What a worker says to its tasks. All algorithms compute the same leave-one-out integrals
//   E_prior[ P(answer e | truth k) · Π_{e' ≠ e} s_e' ],   s_e = Σ_k m_e(k) P(answer e | truth k),
// where m_e is what the task of answer e believes without this worker.

// ---- one coin ------------------------------------------------------------------------------------------------------

/// The answers of one worker as the coin sees them: s_e(w) = if_right[e]·w + if_wrong[e]·(1−w).
struct CoinAnswers {
  std::vector<double> if_right;  ///< m_e(answer)
  std::vector<double> if_wrong;  ///< (1 − m_e(answer)) / (K − 1)
  [[nodiscard]] std::size_t size() const noexcept { return if_right.size(); }
};

struct CoinWork {  ///< scratch of one thread
  std::vector<double> product, smallest, log_weight, accuracy, error, weight, right, wrong;
  std::vector<std::int64_t> exponent;
};

/// Per answer log E[w …] − log E[(1−w) …], by sums over nodes. Returns log E[Π s_e].
double coin_messages_by_nodes(const NodeSet& nodes, const CoinAnswers& answers, std::span<double> log_ratio,
                              CoinWork& work);
/// Mean accuracy given all messages; after coin_messages_by_nodes, from its scratch.
[[nodiscard]] double posterior_mean(const CoinWork& work);

/// The same by polynomials in the number of right answers: forward ones and a backward vector, O(n²) time and memory.
/// In extended precision, whose range (2^±16383) holds the n-th power of any message.
double coin_messages_by_recursion(const AccuracyPrior& prior, const CoinAnswers& answers, std::span<double> log_ratio);
/// The same by a tree of products, top-down; O(n²) time, O(n log n) memory.
double coin_messages_by_division(const AccuracyPrior& prior, const CoinAnswers& answers, std::span<double> log_ratio);
/// Where to draw particles for a worker with many answers: counts of right and wrong answers whose Beta posterior has
/// the mode and the curvature of the worker's own. (Summing the messages would not do: many lukewarm messages that lean
/// one way together say much more about the worker than each of them.)
struct CoinCentre {
  double right = 0;
  double wrong = 0;
};
[[nodiscard]] CoinCentre coin_centre(const AccuracyPrior& prior, const CoinAnswers& answers);
/// More answers than this do not fit the range; quadrature serves such workers.
inline constexpr std::size_t kLongestRecursion = 2000;
inline constexpr std::size_t kLongestDivision = 10000;

// ---- tables --------------------------------------------------------------------------------------------------------

/// Confusion tables with weights: th[k][l] of node s at table[(l·K + k)·size + s].
struct TableNodes {
  std::size_t classes = 0;
  std::size_t size = 0;
  std::vector<double> table;
  std::vector<double> log_weight;
  void resize(std::size_t class_count, std::size_t count);
  [[nodiscard]] const double* column(std::size_t label, std::size_t truth) const {
    return table.data() + (label * classes + truth) * size;
  }
  [[nodiscard]] double* column(std::size_t label, std::size_t truth) {
    return table.data() + (label * classes + truth) * size;
  }
};

/// The answers of one worker: labels, and the incoming messages, answers × classes.
struct TableAnswers {
  std::size_t classes = 0;
  std::vector<std::uint16_t> labels;
  std::vector<double> incoming;
  [[nodiscard]] std::size_t size() const noexcept { return labels.size(); }
};

struct TableWork {
  std::vector<double> product, smallest, log_weight, likelihood, ratio;
  std::vector<std::int64_t> exponent;
  std::vector<std::size_t> kept;
  TableNodes active;
};

/// Rows th[k] ~ Dirichlet(off_diagonal, …, diagonal at k, …).
struct TablePrior {
  double diagonal = 4;
  double off_diagonal = 1;
};

/// Messages answers × classes, rows sum to 1. Returns log E[Π s_e].
double table_messages(const TableNodes& nodes, const TableAnswers& answers, std::span<double> messages,
                      TableWork& work);
/// Mean table (truth × label) given all messages, from the scratch of table_messages.
void posterior_table(const TableWork& work, std::size_t classes, std::span<double> table);

/// Two classes: the product of two one-dimensional rules.
[[nodiscard]] TableNodes tensor_grid(const TablePrior& prior, std::size_t answers);
/// Two classes: exact, by counting pairs (right among answers 0, right among answers 1); O(n²).
double two_coin_messages_by_recursion(const TablePrior& prior, const TableAnswers& answers, std::span<double> messages);

/// Equally weighted draws of the prior.
void table_draws(const TablePrior& prior, std::size_t classes, std::size_t count, Rng& rng, TableNodes& nodes);
/// As coin_centre: counts (truth × label) at the mode of the worker's posterior, each row weakened by how unsure its
/// answers are.
void table_centre(const TablePrior& prior, const TableAnswers& answers, std::span<double> counts);
/// As importance_draws for accuracies, around `counts`.
void table_importance_draws(const TablePrior& prior, std::size_t classes, std::span<const double> counts,
                            std::size_t count, Rng& rng, TableNodes& nodes);

}  // namespace wisecrowd::bp
