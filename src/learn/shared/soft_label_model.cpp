#include "learn/shared/soft_label_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"

namespace wisecrowd {
namespace {

constexpr double kStartSmoothing = 0.1;

}  // namespace

SoftLabelModel::SoftLabelModel(const TrainingSet& set)
    : labels_(vote_shares(set)),
      tables_(tables_from(set, labels_, kStartSmoothing, 0)),
      class_prior_(set.class_count, 0.0),
      set_(&set) {
  for (std::size_t cell = 0; cell < labels_.size(); ++cell) class_prior_[cell % set.class_count] += labels_[cell];
  normalise(class_prior_);
}

double SoftLabelModel::loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                            MatrixView<double> output_gradients) {
  const double share = 1 / static_cast<double>(tasks.size());
  double sum = 0;
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    const auto gradient = output_gradients.row(b);
    const auto logits = outputs.row(b);
    const double* const q = labels_.data() + tasks[b] * classes();
    const double weight = share * (weights_.empty() ? 1 : weights_[tasks[b]]);
    std::copy(logits.begin(), logits.end(), gradient.begin());
    const double log_sum = softmax(gradient);
    double mass = 0;
    for (std::size_t k = 0; k < classes(); ++k) {
      sum -= weight * q[k] * (logits[k] - log_sum);
      mass += q[k];
    }
    for (std::size_t k = 0; k < classes(); ++k) gradient[k] = weight * (mass * gradient[k] - q[k]);
  }
  return sum;
}

void SoftLabelModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                               std::span<double> probabilities) const {
  std::vector<double> log_class(outputs.begin(), outputs.end());
  if (outputs.empty()) {
    for (const double p : class_prior_) log_class.push_back(math::log(std::max(p, kProbabilityFloor)));
  }
  posterior_from_tables(log_class, answers, tables_, probabilities);
}

double SoftLabelModel::answer_probability(std::span<const double> outputs, WorkerId worker, ClassId label) const {
  std::vector<double> f(outputs.size());
  classify(outputs, f);
  return answer_from_tables(f, tables_, worker, label);
}

void SoftLabelModel::remember(AnswerMemory& memory) const { memory.tables = tables_; }

std::vector<double> SoftLabelModel::network_probabilities(const Epoch& epoch) const {
  std::vector<double> outputs(set_->task_count() * classes());
  epoch.predict(outputs);
  for (std::size_t i = 0; i < set_->task_count(); ++i) softmax(std::span(outputs).subspan(i * classes(), classes()));
  return outputs;
}

void SoftLabelModel::pin_gold() {
  for (std::size_t i = 0; i < set_->task_count(); ++i) {
    if (set_->gold[i] == kNoClass) continue;
    const auto row = std::span(labels_).subspan(i * classes(), classes());
    std::fill(row.begin(), row.end(), 0.0);
    row[index(set_->gold[i])] = 1;
  }
}

}  // namespace wisecrowd
