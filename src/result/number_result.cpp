#include "wisecrowd/number_result.hpp"

#include <cmath>
#include <limits>

#include "base/csv_text.hpp"

namespace wisecrowd {

NumberResult make_result(NumberData data, NumberFit fit, RunRecord record) {
  NumberResult result;
  const NumberAnswers& answers = data.answers;
  const std::size_t dimensions = fit.dimensions;
  record.data_hash = answers.content_hash();
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    NumberWorkerSummary& worker = result.workers.emplace_back();
    const auto own = answers.answers_of(WorkerId(w));
    const auto tasks = answers.tasks_of(WorkerId(w));
    worker.answers = own.size();
    worker.gold_error.assign(dimensions, 0);
    for (std::size_t d = 0; d < dimensions; ++d) {
      worker.bias.push_back(fit.bias[w * dimensions + d]);
      worker.scale.push_back(fit.scale[w * dimensions + d]);
      if (!fit.slope.empty()) worker.slope.push_back(fit.slope[w * dimensions + d]);
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!data.has_gold(tasks[i])) continue;
      ++worker.gold_answers;
      for (std::size_t d = 0; d < dimensions; ++d) {
        worker.gold_error[d] += std::abs(answers.value(own[i])[d] - data.gold_of(tasks[i])[d]);
      }
    }
    for (double& error : worker.gold_error) {
      error = worker.gold_answers == 0 ? std::numeric_limits<double>::quiet_NaN()
                                       : error / static_cast<double>(worker.gold_answers);
    }
  }
  result.data = std::move(data);
  result.fit = std::move(fit);
  result.record = std::move(record);
  return result;
}

NumberResult rounded_for_files(const NumberResult& result) {
  NumberResult written = result;
  NumberFit& fit = written.fit;
  for (auto* values : {&fit.estimate, &fit.deviation, &fit.low, &fit.high, &fit.bias, &fit.scale, &fit.slope}) {
    for (double& value : *values) value = written_number(value);
  }
  for (CorrelatedWorkers& pair : fit.correlated) pair.correlation = written_number(pair.correlation);
  for (NumberWorkerSummary& worker : written.workers) {
    for (auto* values : {&worker.bias, &worker.scale, &worker.slope}) {
      for (double& value : *values) value = written_number(value);
    }
  }
  return written;
}

}  // namespace wisecrowd
