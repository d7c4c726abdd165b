#include <cmath>

#include "aggregate/sequences/shared/sequence_method.hpp"
#include "base/math.hpp"

namespace wisecrowd {

template <>
std::vector<double> Aggregator<Sequences>::log_predictive(const SequenceData& data,
                                                          std::span<const SequenceAnswer> answers,
                                                          const RunContext& context) const {
  const SequenceFit result = fit(data, context);
  const std::size_t K = result.tag_count;
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const SequenceAnswer& answer : answers) {
    const double* const table = result.worker_tables.data() + index(answer.worker) * K * K;
    const std::size_t token = data.answers.token_offsets()[index(answer.task)] + answer.first;
    double sum = 0;
    for (std::size_t t = 0; t < answer.tags.size(); ++t) {
      if (answer.tags[t] == kNoTag) continue;
      double probability = 0;
      for (std::size_t k = 0; k < K; ++k) {
        probability += result.posterior[(token + t) * K + k] * table[k * K + index(answer.tags[t])];
      }
      sum += math::log(probability);
    }
    logs.push_back(sum);
  }
  return logs;
}

}  // namespace wisecrowd
