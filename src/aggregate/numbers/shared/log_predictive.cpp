#include <cmath>

#include "aggregate/numbers/shared/spread.hpp"
#include "base/math.hpp"

namespace wisecrowd {

template <>
std::vector<double> Aggregator<Numbers>::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                        const RunContext& context) const {
  const NumberFit result = fit(data, context);
  std::vector<numbers::Around> all;
  for (std::size_t d = 0; d < result.dimensions; ++d) all.push_back(numbers::all_answers(data.answers, d));
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const NumberAnswer& answer : answers) {
    double sum = 0;
    for (std::size_t d = 0; d < result.dimensions; ++d) {
      const std::size_t task = index(answer.task) * result.dimensions + d;
      const std::size_t worker = index(answer.worker) * result.dimensions + d;
      const double bias = std::isfinite(result.bias[worker]) ? result.bias[worker] : 0;
      const numbers::Around around = numbers::usable(
          {result.estimate[task] + bias, math::hypot(result.deviation[task], result.scale[worker])}, all[d]);
      sum += numbers::normal_log_density(answer.value[d] - around.middle, around.deviation);
    }
    logs.push_back(sum);
  }
  return logs;
}

}  // namespace wisecrowd
