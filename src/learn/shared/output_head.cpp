#include "learn/shared/output_head.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
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
  std::vector<double> part(probabilities.size());
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  for (std::size_t c = 0; c < weights.size(); ++c) {
    component(c, outputs, part);
    softmax(part);
    for (std::size_t k = 0; k < part.size(); ++k) probabilities[k] += weights[c] * part[k];
  }
}

void OutputHead::component(std::size_t c, std::span<const double> outputs, std::span<double> values) const {
  const std::size_t classes = values.size();
  for (std::size_t k = 0; k < classes; ++k) {
    values[k] = biases.empty() ? 0.0 : biases[c * classes + k];
    if (matrices.empty()) {
      values[k] += outputs[c * classes + k];
      continue;
    }
    const double* row = matrices.data() + (c * classes + k) * outputs.size();
    for (std::size_t o = 0; o < outputs.size(); ++o) values[k] += row[o] * outputs[o];
  }
}

void OutputHead::logits(std::span<const double> outputs, std::span<double> values) const {
  if (is_softmax()) {
    std::copy(outputs.begin(), outputs.end(), values.begin());
  } else if (weights.size() == 1) {
    component(0, outputs, values);
  } else {
    classify(outputs, values);
    for (double& p : values) p = math::log(std::max(p, kProbabilityFloor));
  }
}

}  // namespace wisecrowd
