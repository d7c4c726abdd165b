#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace wisecrowd {

/// How a network's outputs become class probabilities when that is more than a softmax: a mixture Σ_c weight_c ·
/// softmax(matrix_c · outputs + bias_c). A plain value, so that it is saved with the network.
struct OutputHead {
  std::vector<double> weights;  ///< per component, sum to 1; empty: the softmax of the outputs
  std::vector<double> matrices;  ///< components × classes × outputs; empty: component c takes outputs [c·K, (c+1)·K),
                                 ///< and what lies beyond is for the model of answers alone
  std::vector<double> biases;  ///< components × classes, or empty

  [[nodiscard]] bool is_softmax() const noexcept { return weights.empty(); }
  /// Whether the sizes fit a network and its classes.
  [[nodiscard]] bool fits(std::size_t outputs, std::size_t classes) const;
  void classify(std::span<const double> outputs, std::span<double> probabilities) const;
  /// Log probabilities up to a constant: of one component without the softmax's rounding.
  void logits(std::span<const double> outputs, std::span<double> values) const;

 private:
  void component(std::size_t c, std::span<const double> outputs, std::span<double> values) const;
};

}  // namespace wisecrowd
