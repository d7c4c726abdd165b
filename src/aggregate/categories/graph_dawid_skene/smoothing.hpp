#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "wisecrowd/run_context.hpp"
#include "wisecrowd/task_graph.hpp"

namespace wisecrowd::graph_dawid_skene {

/// The graph as inference sees it: weights perhaps divided by √(d_i d_i'), and tasks in groups without an edge inside,
/// so that a group can be updated at once and the result is that of one after the other.
class Field {
 public:
  Field(const TaskGraph& graph, bool normalise_weights);

  [[nodiscard]] const TaskGraph& graph() const noexcept { return graph_; }
  [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }
  [[nodiscard]] std::span<const std::vector<std::uint32_t>> colours() const noexcept { return colours_; }

  /// support[k] = Σ over neighbours of weight × their probability of k.
  void support(std::size_t task, std::span<const double> posterior, std::span<double> out) const;
  /// Σ over edges of weight × P(both have the same class), by a posterior without dependence.
  [[nodiscard]] double agreement(std::span<const double> posterior, std::size_t classes) const;

 private:
  const TaskGraph& graph_;
  std::vector<double> weights_;
  std::vector<std::vector<std::uint32_t>> colours_;
};

/// Mean field: q_i ∝ exp(evidence_i + δ support_i), colour by colour, up to `sweeps` times or until nothing moves by
/// more than `tolerance`. Tasks with `fixed` set keep theirs. Returns the largest change of the first sweep.
void sweep_mean_field(const Field& field, double strength, std::span<const double> evidence,
                      const std::vector<bool>& fixed, std::size_t sweeps, double tolerance, std::span<double> posterior,
                      const RunContext& context);

/// Loopy belief propagation with the same potentials: exact where the graph has no cycles, once `sweeps` is at least
/// its diameter.
void propagate(const Field& field, double strength, std::span<const double> evidence, const std::vector<bool>& fixed,
               std::size_t sweeps, double tolerance, std::span<double> posterior, const RunContext& context);

/// δ in [0, most] that maximises Σ_i Σ_k q_ik ln softmax_k(log prior_ik + δ support_ik), a concave function, by
/// Newton's method. `log_prior` has one row per task, or one for all.
[[nodiscard]] double pseudo_likelihood_strength(const Field& field, std::span<const double> log_prior,
                                                std::span<const double> posterior, std::size_t classes, double from,
                                                const RunContext& context);

/// What the learned strength never exceeds.
inline constexpr double kMostStrength = 20;

}  // namespace wisecrowd::graph_dawid_skene
