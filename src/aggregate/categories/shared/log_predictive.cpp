#include <algorithm>
#include <cmath>

#include "aggregate/categories/shared/table_model.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

template <>
std::vector<double> Aggregator<Categories>::log_predictive(const CategoryData& data,
                                                           std::span<const CategoryAnswer> answers,
                                                           const RunContext& context) const {
  const CategoryFit result = fit(data, context);
  const std::size_t classes = result.class_count;
  std::vector<double> estimated;
  if (result.confusion.empty()) estimated = tables_from_posterior(data, context, result.posterior).tables;
  const std::vector<double>& tables = result.confusion.empty() ? estimated : result.confusion;
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const CategoryAnswer& answer : answers) {
    const double* const posterior = result.posterior.data() + index(answer.task) * classes;
    const double* const table = tables.data() + index(answer.worker) * classes * classes;
    double probability = 0;
    for (std::size_t k = 0; k < classes; ++k) probability += posterior[k] * table[k * classes + index(answer.label)];
    logs.push_back(math::log(std::max(probability, kProbabilityFloor)));
  }
  return logs;
}

}  // namespace wisecrowd
