#include "learn/shared/coupled_tables.hpp"

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"

namespace wisecrowd {
namespace {

/// Added to the counts of votes before their logarithm: small, so that a worker's habits show.
constexpr double kVoteSmoothing = 0.1;

std::vector<double> starting_logits(const TrainingSet& set, const CoupledTables::Options& options) {
  const std::size_t classes = set.class_count, block = classes * classes;
  if (options.start == CoupledTables::Options::Start::votes) {
    std::vector<double> logits = tables_from(set, vote_shares(set), kVoteSmoothing, 0);
    for (double& value : logits) value = std::log(value);
    return logits;
  }
  const double others = static_cast<double>(std::max<std::size_t>(classes, 2) - 1);
  const double diagonal = options.start == CoupledTables::Options::Start::expert
                              ? 10
                              : std::log(options.start_accuracy * others / (1 - options.start_accuracy));
  std::vector<double> logits(set.worker_count * block, 0.0);
  for (std::size_t j = 0; j < set.worker_count; ++j) {
    for (std::size_t k = 0; k < classes; ++k) logits[j * block + k * classes + k] = diagonal;
  }
  return logits;
}

}  // namespace

void softmax_backward(std::span<const double> probabilities, std::span<double> gradients) {
  double mean = 0;
  for (std::size_t k = 0; k < probabilities.size(); ++k) mean += probabilities[k] * gradients[k];
  for (std::size_t k = 0; k < probabilities.size(); ++k) gradients[k] = probabilities[k] * (gradients[k] - mean);
}

std::vector<ParameterSpec> CoupledTables::parameters(const Options& d) {
  static constexpr const char* kStarts[] = {"votes", "identity", "expert"};
  return {
      ParameterSpec::choice("start", kStarts[static_cast<int>(d.start)], {"votes", "identity", "expert"},
                            "tables to begin with: from how each worker answers where the vote says what (safe when "
                            "most workers are naive), the same good worker for all, or nearly no errors"),
      ParameterSpec::real("start_accuracy", d.start_accuracy, 0.01, 0.999,
                          "start=identity: how often that worker is right"),
      ParameterSpec::real("worker_learning_rate", d.worker_learning_rate, 0, 100,
                          "size of the steps of the worker tables"),
  };
}

CoupledTables::Options CoupledTables::options(const Parameters& parameters) {
  Options options;
  const std::string& start = parameters.choice("start");
  options.start = start == "identity" ? Options::Start::identity
                  : start == "expert" ? Options::Start::expert
                                      : Options::Start::votes;
  options.start_accuracy = parameters.real("start_accuracy");
  options.worker_learning_rate = parameters.real("worker_learning_rate");
  return options;
}

CoupledTables::CoupledTables(const TrainingSet& set, const Options& options)
    : set_(&set),
      logits_(starting_logits(set, options), set.class_count * set.class_count, options.worker_learning_rate),
      tables_(logits_.all()),
      class_prior_(set.class_count, 0.0) {
  for (std::size_t j = 0; j < set.worker_count; ++j) refresh(static_cast<std::uint32_t>(j));
  const std::vector<double> votes = vote_shares(set);
  for (std::size_t cell = 0; cell < votes.size(); ++cell) class_prior_[cell % set.class_count] += votes[cell];
  normalise(class_prior_);
}

void CoupledTables::refresh(std::uint32_t worker) {
  const std::size_t classes = set_->class_count;
  const auto logits = logits_.of(worker);
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = std::span(tables_).subspan((worker * classes + k) * classes, classes);
    std::copy_n(logits.begin() + static_cast<std::ptrdiff_t>(k * classes), classes, row.begin());
    softmax(row);
  }
}

double CoupledTables::loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                           MatrixView<double> output_gradients) {
  const std::size_t classes = set_->class_count;
  probabilities_.assign(outputs.data, outputs.data + outputs.rows * classes);
  class_gradients_.assign(probabilities_.size(), 0.0);
  const MatrixView<double> probabilities{probabilities_.data(), tasks.size(), classes};
  const MatrixView<double> gradients{class_gradients_.data(), tasks.size(), classes};
  std::size_t terms = 0;
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    softmax(probabilities.row(b));
    terms += set_->offset[tasks[b] + 1] - set_->offset[tasks[b]] + (set_->gold[tasks[b]] != kNoClass ? 1 : 0);
  }
  const double weight = terms == 0 ? 0 : 1 / static_cast<double>(terms);
  double sum = 0;
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    const auto f = probabilities.row(b);
    const auto g = gradients.row(b);
    for (std::uint32_t a = set_->offset[tasks[b]]; a < set_->offset[tasks[b] + 1]; ++a) {
      const std::uint32_t worker = set_->worker[a], label = set_->label[a];
      const auto th = table(worker);
      double s = kProbabilityFloor;
      for (std::size_t k = 0; k < classes; ++k) s += f[k] * th[k * classes + label];
      sum -= std::log(s);
      const auto at_table = logits_.gradient(worker);
      for (std::size_t k = 0; k < classes; ++k) {
        g[k] -= weight * th[k * classes + label] / s;
        at_table[k * classes + label] -= weight * f[k] / s;
      }
    }
    // Known truth is one more, perfect answer.
    if (const ClassId gold = set_->gold[tasks[b]]; gold != kNoClass) {
      const double p = std::max(f[index(gold)], kProbabilityFloor);
      sum -= std::log(p);
      g[index(gold)] -= weight / p;
    }
  }
  const double extra = penalty(tasks, {probabilities_.data(), tasks.size(), classes}, gradients);
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    softmax_backward(probabilities.row(b), gradients.row(b));
    std::copy_n(gradients.row(b).begin(), classes, output_gradients.row(b).begin());
  }
  for (const std::uint32_t worker : logits_.touched()) {
    const auto gradient = logits_.gradient(worker);
    for (std::size_t k = 0; k < classes; ++k) {
      softmax_backward(table(worker).subspan(k * classes, classes), gradient.subspan(k * classes, classes));
    }
  }
  return sum * weight + extra;
}

void CoupledTables::step(double pace) {
  const std::vector<std::uint32_t> moved(logits_.touched().begin(), logits_.touched().end());
  logits_.step(pace);
  for (const std::uint32_t worker : moved) refresh(worker);
}

void CoupledTables::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                              std::span<double> probabilities) const {
  std::vector<double> log_class(probabilities.size());
  if (outputs.empty()) {
    std::transform(class_prior_.begin(), class_prior_.end(), log_class.begin(),
                   [](double p) { return std::log(std::max(p, kProbabilityFloor)); });
  } else {
    std::copy(outputs.begin(), outputs.end(), log_class.begin());  // the softmax's constant does not matter
  }
  posterior_from_tables(log_class, answers, tables_, probabilities);
}

double CoupledTables::answer_probability(std::span<const double> outputs, std::uint32_t worker,
                                         std::uint32_t label) const {
  std::vector<double> f(outputs.size());
  classify(outputs, f);
  return answer_from_tables(f, tables_, worker, label);
}

}  // namespace wisecrowd
