#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// spammer_score with classes weighted by how often they are the truth: Σ_{k<k'} π_k π_k' Σ_l (th_kl − th_k'l)² over
/// twice Σ_{k<k'} π_k π_k'. The same as without weights where all classes are as frequent.
[[nodiscard]] double weighted_spammer_score(std::span<const double> table, std::span<const double> class_shares);

struct InformationOptions {
  std::size_t permutations = 20;
};

/// What a worker's answers tell, in nats, and what they would seem to tell if they had nothing to do with the truth: a
/// table of n answers looks informative by chance, by about (K − 1)²/(2n).
struct WorkerInformation {
  double capacity = 0;            ///< at most, of the table as counted (Blahut and Arimoto)
  double capacity_by_chance = 0;  ///< the mean of the same when the worker's answers are dealt to its tasks at random
  double information = 0;         ///< at the class shares
  double information_by_chance = 0;
  double tail = 1;  ///< share of such deals, the answers as they are among them, that reach the capacity

  [[nodiscard]] double capacity_above_chance() const noexcept;
  [[nodiscard]] double information_above_chance() const noexcept;
};

/// For every worker. `posterior` (tasks × classes) and `tables` (workers × truth × label) are those of a fit; a
/// worker's own answer is taken out of the posterior, so that it does not confirm itself. Workers without answers have
/// zeros.
[[nodiscard]] std::vector<WorkerInformation> worker_information(
    const CategoryAnswers& answers, std::span<const double> posterior, std::span<const double> tables,
    std::span<const double> class_shares, const InformationOptions& options, const RunContext& context);

}  // namespace wisecrowd
