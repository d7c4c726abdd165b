#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace wisecrowd::judges {

/// How a judge's probabilities are to be read: softmax(sharpness · ln p + bias). Sharpness is 1 / temperature.
struct Calibration {
  double sharpness = 1;
  std::vector<double> bias;

  /// ln of the calibrated probabilities.
  void apply(std::span<const double> log_p, std::span<double> out) const;
};

/// Some steps of Newton's method on Σ_v Σ_k target_vk ln calibrated_vk, less a weak pull towards no change. Rows are
/// `log_p`, and `targets` of any weight. `mirrored`: the first two classes have the same bias.
void improve_calibration(std::span<const double> log_p, std::span<const double> targets, std::size_t classes,
                         bool mirrored, Calibration& calibration);

}  // namespace wisecrowd::judges
