#pragma once

#include <cstdint>
#include <span>

namespace wisecrowd {

/// One answer of a batch: rows of the batch's table of f, and what the worker's error rates are.
struct PairAnswer {
  std::uint32_t left, right;
  bool same;
  double false_different, false_same;
};

/// Where the gradient with respect to a worker's rates goes; one per answer, or none.
struct RateGradient {
  double false_different = 0, false_same = 0;
};

/// −Σ ln P(answer), P("same") = (1 − e1) s + e0 (1 − s) with s = f_left · f_right kept within 10⁻⁶ of 0 and 1. Adds the
/// gradient with respect to f (rows × clusters) to `gradient`; `rates` may be empty.
[[nodiscard]] double pair_loss(std::span<const double> f, std::size_t clusters, std::span<const PairAnswer> answers,
                               std::span<double> gradient, std::span<RateGradient> rates = {});

/// −weight · ln det(FᵀF / rows + ε), and its gradient: large where all rows are alike, or a cluster is never used.
[[nodiscard]] double collapse_loss(std::span<const double> f, std::size_t clusters, double weight,
                                   std::span<double> gradient);

}  // namespace wisecrowd
