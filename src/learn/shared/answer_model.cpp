#include "learn/shared/answer_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"

namespace wisecrowd {

void AnswerModel::classify(std::span<const double> outputs, std::span<double> probabilities) const {
  std::copy(outputs.begin(), outputs.end(), probabilities.begin());
  softmax(probabilities);
}

void AnswerModel::describe(Learned& learned, const LearningData&, const OutputsOfTask&) const {
  learned.crowd.confusion = worker_tables();
}

void AnswerModel::remember(AnswerMemory& memory) const {
  memory.why_none = "its learner has no model of how answers follow from the truth";
}

std::vector<double> AnswerModel::answer_likelihoods(const TrainingSet& set, std::span<const double> outputs) const {
  const std::size_t width = this->outputs();
  std::vector<double> sums(set.task_count(), 0.0);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    const auto row = outputs.subspan(i * width, width);
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      const double p = answer_probability_at(set.row[i], row, set.worker[a], set.label[a]);
      sums[i] += math::log(std::max(p, kProbabilityFloor));
    }
  }
  return sums;
}

void posterior_from_tables(std::span<const double> log_class_probabilities, const TaskAnswers& answers,
                           std::span<const double> tables, std::span<double> probabilities) {
  const std::size_t classes = probabilities.size();
  std::copy(log_class_probabilities.begin(), log_class_probabilities.end(), probabilities.begin());
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    const double* const table =
        tables.data() + index(answers.workers[a]) * classes * classes + index(answers.labels[a]);
    for (std::size_t k = 0; k < classes; ++k) {
      probabilities[k] += math::log(std::max(table[k * classes], kProbabilityFloor));
    }
  }
  softmax(probabilities);
}

double answer_from_tables(std::span<const double> class_probabilities, std::span<const double> tables, WorkerId worker,
                          ClassId label) {
  const std::size_t classes = class_probabilities.size();
  const double* const table = tables.data() + index(worker) * classes * classes + index(label);
  double sum = 0;
  for (std::size_t k = 0; k < classes; ++k) sum += class_probabilities[k] * table[k * classes];
  return sum;
}

}  // namespace wisecrowd
