#include "learn/shared/output_head.hpp"

#include <algorithm>

#include "base/numeric.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

void OutputHead::require_fit(std::size_t outputs, std::size_t classes) const {
  const std::size_t components = weights.size();
  const bool fits = is_softmax() ? outputs == classes && matrices.empty() && biases.empty()
                                 : (matrices.empty() ? outputs >= components * classes
                                                     : matrices.size() == components * classes * outputs) &&
                                       (biases.empty() || biases.size() == components * classes);
  if (!fits) throw Error(ErrorCode::internal, "the head of the classifier does not fit its network");
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
