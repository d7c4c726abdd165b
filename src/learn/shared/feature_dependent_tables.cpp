#include "learn/shared/feature_dependent_tables.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

void FeatureDependentTables::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                                       std::span<double> probabilities) const {
  if (outputs.empty()) {
    std::transform(class_prior().begin(), class_prior().end(), probabilities.begin(),
                   [](double p) { return math::log(std::max(p, kProbabilityFloor)); });
  } else {
    std::copy_n(outputs.begin(), classes(), probabilities.begin());
  }
  std::vector<double> table(classes() * classes());
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    table_at(outputs.empty() ? outputs : outputs.subspan(classes()), answers.workers[a], table);
    for (std::size_t k = 0; k < classes(); ++k) {
      probabilities[k] += math::log(std::max(table[k * classes() + index(answers.labels[a])], kProbabilityFloor));
    }
  }
  softmax(probabilities);
}

double FeatureDependentTables::answer_probability(std::span<const double> outputs, WorkerId worker,
                                                  ClassId label) const {
  std::vector<double> f(classes()), table(classes() * classes());
  classify(outputs, f);
  table_at(outputs.subspan(classes()), worker, table);
  return answer_from_tables(f, table, WorkerId{0}, label);
}

void FeatureDependentTables::describe(Learned& learned, const LearningData& data,
                                      const OutputsOfTask& outputs_of) const {
  const CategoryAnswers& answers = data.crowd.answers;
  const std::size_t block = classes() * classes();
  std::vector<double> sums(answers.worker_count() * block, 0.0), table(block), row(outputs()), f(classes());
  std::vector<std::uint32_t> seen(answers.worker_count(), 0);
  learned.answer_reliability.assign(answers.answer_count(), 0.0F);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const bool has_row = outputs_of(t, row);
    if (has_row) {
      classify(row, f);
    } else {
      std::copy(class_prior().begin(), class_prior().end(), f.begin());
    }
    for (auto a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      const WorkerId worker = answers.workers()[a];
      table_at(has_row ? std::span<const double>(row).subspan(classes()) : std::span<const double>(), worker, table);
      double right = 0;
      for (std::size_t k = 0; k < classes(); ++k) right += f[k] * table[k * classes() + k];
      learned.answer_reliability[a] = static_cast<float>(right);
      ++seen[index(worker)];
      for (std::size_t cell = 0; cell < block; ++cell) sums[index(worker) * block + cell] += table[cell];
    }
  }
  for (std::size_t j = 0; j < answers.worker_count(); ++j) {
    const auto mean = std::span(sums).subspan(j * block, block);
    if (seen[j] == 0) table_at({}, WorkerId(j), mean);
    for (std::size_t k = 0; k < classes(); ++k) normalise(mean.subspan(k * classes(), classes()));
  }
  learned.crowd.confusion = std::move(sums);
}

}  // namespace wisecrowd
