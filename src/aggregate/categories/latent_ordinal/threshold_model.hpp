#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace wisecrowd::latent_ordinal {

inline constexpr std::size_t kNodes = 61;
/// Rows of nodes are as long as whole vectors: what stands behind the last node has no weight.
inline constexpr std::size_t kStride = 64;
inline constexpr double kReach = 4;  ///< nodes lie evenly on [−4, 4]
inline constexpr double kSpacing = 2 * kReach / (kNodes - 1);

[[nodiscard]] constexpr double node(std::size_t m) { return -kReach + kSpacing * static_cast<double>(m); }
/// N(0, 1) on the nodes, 0 behind them; sums to 1.
[[nodiscard]] const std::array<double, kStride>& node_prior();

/// A worker: what it sees is g + bias + e^log_noise · N(0, 1).
struct Worker {
  double bias = 0;
  double log_noise = 0;
};

/// As near as log_noise can be: not less than the nodes resolve, and not so much that answers say nothing.
[[nodiscard]] double noise_within_bounds(double log_noise);

struct WorkerPrior {
  double bias_spread = 1;
  double noise_spread = 0.5;
  double noise_level = 0;  ///< mean of log_noise
};

/// Fills `logs` (labels × kStride) with ln P(label | node), floored.
void log_table(const Worker& worker, std::span<const double> cuts, double* logs);

/// Σ counts × ln P + ln prior, where counts (labels × kStride) are expected answers. The gradient in (bias, log_noise)
/// and the curvature are filled if asked for: expected information, which is never negative.
struct WorkerSlope {
  double bias = 0, log_noise = 0;
  double bias_bias = 0, bias_noise = 0, noise_noise = 0;
};
[[nodiscard]] double worker_objective(const Worker& worker, std::span<const double> cuts, const double* counts,
                                      const WorkerPrior& prior, WorkerSlope* slope = nullptr);
/// Two steps uphill by scoring; never down.
void improve(Worker& worker, std::span<const double> cuts, const double* counts, const WorkerPrior& prior);

/// The same for the common cuts; what workers add is summed. The curvature is tridiagonal.
struct CutSlope {
  explicit CutSlope(std::size_t cuts) : gradient(cuts), diagonal(cuts), beside(cuts) {}
  std::vector<double> gradient, diagonal, beside;
  void add(const CutSlope& other);
};
double add_cut_terms(const Worker& worker, std::span<const double> cuts, const double* counts, CutSlope* slope);
/// pseudo_count × Σ ln P(class), classes being shares of N(0, 1).
double add_cut_prior(std::span<const double> cuts, double pseudo_count, CutSlope* slope);
/// The step that scoring proposes, shortened so that cuts stay in order.
[[nodiscard]] std::vector<double> cut_step(const CutSlope& slope, std::span<const double> cuts);

/// nodes × classes: how much of the stretch around a node lies between the cuts of a class; rows sum to 1.
[[nodiscard]] std::vector<double> class_shares(std::span<const double> cuts);

}  // namespace wisecrowd::latent_ordinal
