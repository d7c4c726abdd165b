#include <cmath>
#include <numbers>

#include "aggregate/numbers/shared/spread.hpp"

namespace wisecrowd {

template <>
std::vector<double> Aggregator<Numbers>::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                        const RunContext& context) const {
  const NumberFit result = fit(data, context);
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const NumberAnswer& answer : answers) {
    double sum = 0;
    for (std::size_t d = 0; d < result.dimensions; ++d) {
      const std::size_t task = index(answer.task) * result.dimensions + d;
      const std::size_t worker = index(answer.worker) * result.dimensions + d;
      const double middle = result.estimate[task] + result.bias[worker];
      const double scale =
          numbers::usable_scale(std::hypot(result.deviation[task], result.scale[worker]), result.estimate[task]);
      const double off = (answer.value[d] - middle) / scale;
      sum -= std::log(scale * std::sqrt(2 * std::numbers::pi)) + off * off / 2;
    }
    logs.push_back(sum);
  }
  return logs;
}

}  // namespace wisecrowd
