#include "learn/shared/output_head.hpp"

#include <algorithm>

#include "base/numeric.hpp"

namespace wisecrowd {

bool OutputHead::fits(std::size_t outputs, std::size_t classes) const {
  if (is_softmax()) return outputs == classes && matrices.empty() && biases.empty();
  // In double precision, which does not wrap: these sizes may come from a damaged file.
  const double rows = static_cast<double>(weights.size()) * static_cast<double>(classes);
  const auto is = [](const std::vector<double>& numbers, double size) {
    return static_cast<double>(numbers.size()) == size;
  };
  return (matrices.empty() ? static_cast<double>(outputs) >= rows
                           : is(matrices, rows * static_cast<double>(outputs))) &&
         (biases.empty() || is(biases, rows));
}

void OutputHead::classify(std::span<const double> outputs, std::span<double> probabilities) const {
  if (is_softmax()) {
    std::copy(outputs.begin(), outputs.end(), probabilities.begin());
    softmax(probabilities);
    return;
  }
  const std::size_t classes = probabilities.size();
  std::vector<double> part(classes);
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  for (std::size_t c = 0; c < weights.size(); ++c) {
    for (std::size_t k = 0; k < classes; ++k) {
      part[k] = biases.empty() ? 0.0 : biases[c * classes + k];
      if (matrices.empty()) {
        part[k] += outputs[c * classes + k];
        continue;
      }
      const double* row = matrices.data() + (c * classes + k) * outputs.size();
      for (std::size_t o = 0; o < outputs.size(); ++o) part[k] += row[o] * outputs[o];
    }
    softmax(part);
    for (std::size_t k = 0; k < classes; ++k) probabilities[k] += weights[c] * part[k];
  }
}

}  // namespace wisecrowd
