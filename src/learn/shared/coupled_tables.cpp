#include "learn/shared/coupled_tables.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"

namespace wisecrowd {
namespace {

constexpr auto kTableStartNames = enum_names<TableOptions::Start>({{TableOptions::Start::votes, "votes"},
                                                                   {TableOptions::Start::identity, "identity"},
                                                                   {TableOptions::Start::expert, "expert"}});
constexpr auto kTableSolverNames =
    enum_names<TableOptions::Solver>({{TableOptions::Solver::gradient, "gradient"}, {TableOptions::Solver::em, "em"}});

/// No cell starts below this: what a worker never said can still be learned.
constexpr double kLeastStart = 1e-3;

std::vector<double> starting_logits(const TrainingSet& set, const TableOptions& options) {
  const std::size_t classes = set.class_count, block = classes * classes;
  if (options.start == TableOptions::Start::votes) {
    std::vector<double> logits = pooled_tables_from(set, vote_shares(set), options.pooled_answers);
    for (double& value : logits) value = math::log(std::max(value, kLeastStart));
    return logits;
  }
  const double others = static_cast<double>(std::max<std::size_t>(classes, 2) - 1);
  const double diagonal = options.start == TableOptions::Start::expert
                              ? 10
                              : math::log(options.start_accuracy * others / (1 - options.start_accuracy));
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

void table_parameters(ParameterVisitor& v, TableOptions& o) {
  v.choice("start", o.start, kTableStartNames,
           "tables to begin with: from how each worker answers where the vote says what (safe when "
           "most workers are naive), the same good worker for all, or nearly no errors");
  v.real("start_accuracy", o.start_accuracy, 0.01, 0.999, "start=identity: how often that worker is right");
  v.real("pooled_answers", o.pooled_answers, 0, 1e9,
         "answers of the crowd's mean table that are added to each row of a worker's table: at the "
         "start from votes, and whenever EM solves the tables; more when workers have few answers");
  v.real("worker_learning_rate", o.worker_learning_rate, 0, 100, "size of the steps of the worker tables");
  v.integer("warm_up", o.warm_up, 0, 1e6,
            "epochs in which the tables stay as they started, so that the network carries the signal "
            "first");
}

void table_solver_parameter(ParameterVisitor& v, TableOptions& o) {
  v.choice("solver", o.solver, kTableSolverNames,
           "how the tables move: with the network at every step, or before each epoch "
           "by expectation maximisation, which has no step size");
}

CoupledTables::CoupledTables(const TrainingSet& set, const TableOptions& options, std::size_t further_outputs)
    : set_(&set),
      options_(options),
      further_outputs_(further_outputs),
      logits_(starting_logits(set, options), set.class_count * set.class_count, options.worker_learning_rate),
      tables_(logits_.all()),
      class_prior_(set.class_count, 0.0),
      answers_of_(set.worker_count, 0),
      terms_in_all_(set.answer_count()),
      warm_up_{options.warm_up},
      tables_move_(options.solver == TableOptions::Solver::gradient) {
  for (std::size_t j = 0; j < set.worker_count; ++j) CoupledTables::refresh(WorkerId(j));
  const std::vector<double> votes = vote_shares(set);
  for (std::size_t cell = 0; cell < votes.size(); ++cell) class_prior_[cell % set.class_count] += votes[cell];
  normalise(class_prior_);
  for (const WorkerId worker : set.worker) ++answers_of_[index(worker)];
  for (const ClassId gold : set.gold) terms_in_all_ += gold != kNoClass ? 1 : 0;
}

void CoupledTables::refresh(WorkerId worker) {
  const auto logits = logits_.of(worker);
  for (std::size_t k = 0; k < classes(); ++k) {
    const auto row = std::span(tables_).subspan((index(worker) * classes() + k) * classes(), classes());
    std::copy_n(logits.begin() + static_cast<std::ptrdiff_t>(k * classes()), classes(), row.begin());
    softmax(row);
  }
}

void CoupledTables::begin_epoch(const Epoch& epoch) {
  warm_ = warm_up_.over(epoch.number, epoch.total);
  const bool by_gradient = options_.solver == TableOptions::Solver::gradient;
  tables_move_ = warm_ && by_gradient;
  // Before the first epoch the network knows nothing, and tables from it would forget what the votes said.
  if (by_gradient || !warm_ || epoch.number == 0) return;
  std::vector<double> all(set_->task_count() * outputs()), probabilities(set_->task_count() * classes());
  epoch.predict(all);
  for (std::size_t i = 0; i < set_->task_count(); ++i) {
    classify(std::span(all).subspan(i * outputs(), outputs()),
             std::span(probabilities).subspan(i * classes(), classes()));
  }
  solve_tables(probabilities);
}

void CoupledTables::solve_tables(std::span<const double> class_probabilities) {
  const std::size_t block = classes() * classes();
  std::vector<double> counts(tables_.size(), 0.0), pooled(block, 1 / static_cast<double>(classes()));
  std::vector<double> responsibility(classes());
  for (std::size_t i = 0; i < set_->task_count(); ++i) {
    const double* const f = class_probabilities.data() + i * classes();
    for (std::uint32_t a = set_->offset[i]; a < set_->offset[i + 1]; ++a) {
      const ClassId label = set_->label[a];
      const auto th = table(set_->worker[a]);
      for (std::size_t k = 0; k < classes(); ++k) responsibility[k] = f[k] * th[k * classes() + index(label)];
      if (set_->gold[i] != kNoClass) {
        std::fill(responsibility.begin(), responsibility.end(), 0.0);
        responsibility[index(set_->gold[i])] = 1;
      }
      normalise(responsibility);
      double* const count = counts.data() + index(set_->worker[a]) * block + index(label);
      for (std::size_t k = 0; k < classes(); ++k) {
        count[k * classes()] += responsibility[k];
        pooled[k * classes() + index(label)] += responsibility[k];
      }
    }
  }
  for (std::size_t k = 0; k < classes(); ++k) normalise(std::span(pooled).subspan(k * classes(), classes()));
  for (std::size_t j = 0; j < set_->worker_count; ++j) {
    const auto logits = logits_.of(j);
    for (std::size_t k = 0; k < classes(); ++k) {
      const auto row = std::span(counts).subspan(j * block + k * classes(), classes());
      for (std::size_t l = 0; l < classes(); ++l) row[l] += options_.pooled_answers * pooled[k * classes() + l];
      normalise(row);
      for (std::size_t l = 0; l < classes(); ++l) {
        logits[k * classes() + l] = math::log(std::max(row[l], kProbabilityFloor));
      }
    }
    refresh(WorkerId(j));
  }
}

double CoupledTables::answer_loss(const Term& term) {
  const auto th = table(term.worker);
  double s = kProbabilityFloor;
  for (std::size_t k = 0; k < classes(); ++k) s += term.f[k] * th[k * classes() + index(term.label)];
  const double slope = term.weight / s;
  for (std::size_t k = 0; k < classes(); ++k) term.at_f[k] -= slope * th[k * classes() + index(term.label)];
  if (tables_move_) {
    const auto at_table = table_gradient(term.worker);
    for (std::size_t k = 0; k < classes(); ++k) at_table[k * classes() + index(term.label)] -= slope * term.f[k];
  }
  return -math::log(s);
}

double CoupledTables::loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                           MatrixView<double> output_gradients) {
  probabilities_.resize(tasks.size() * classes());
  class_gradients_.assign(probabilities_.size(), 0.0);
  const MatrixView<double> probabilities{probabilities_.data(), tasks.size(), classes()};
  const MatrixView<double> gradients{class_gradients_.data(), tasks.size(), classes()};
  std::size_t terms = 0;
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    std::copy_n(outputs.row(b).begin(), classes(), probabilities.row(b).begin());
    softmax(probabilities.row(b));
    const auto at_outputs = output_gradients.row(b);
    std::fill(at_outputs.begin(), at_outputs.end(), 0.0);
    terms += set_->offset[tasks[b] + 1] - set_->offset[tasks[b]] + (set_->gold[tasks[b]] != kNoClass ? 1 : 0);
  }
  const double weight = terms == 0 ? 0 : 1 / static_cast<double>(terms);
  double sum = 0;
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    const auto f = probabilities.row(b);
    const auto at_f = gradients.row(b);
    for (std::uint32_t a = set_->offset[tasks[b]]; a < set_->offset[tasks[b] + 1]; ++a) {
      sum += answer_loss({tasks[b], a, set_->worker[a], set_->label[a], weight, f, at_f,
                          outputs.row(b).subspan(classes()), output_gradients.row(b).subspan(classes())});
    }
    // Known truth is one more, perfect answer.
    if (const ClassId gold = set_->gold[tasks[b]]; gold != kNoClass) {
      const double p = std::max(f[index(gold)], kProbabilityFloor);
      sum -= math::log(p);
      at_f[index(gold)] -= weight / p;
    }
  }
  const double extra = penalty(tasks, weight, {probabilities_.data(), tasks.size(), classes()}, gradients);
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    softmax_backward(probabilities.row(b), gradients.row(b));
    std::copy_n(gradients.row(b).begin(), classes(), output_gradients.row(b).begin());
  }
  gradients_to_logits();
  return sum * weight + extra;
}

void CoupledTables::gradients_to_logits() {
  for (const std::uint32_t owner : logits_.touched()) {
    const WorkerId worker{owner};
    const auto gradient = logits_.gradient(worker);
    for (std::size_t k = 0; k < classes(); ++k) {
      softmax_backward(table(worker).subspan(k * classes(), classes()), gradient.subspan(k * classes(), classes()));
    }
  }
}

void CoupledTables::step(double pace) {
  ++warm_up_.steps;
  const std::vector<std::uint32_t> moved(logits_.touched().begin(), logits_.touched().end());
  logits_.step(pace);
  for (const std::uint32_t owner : moved) refresh(WorkerId{owner});
}

void CoupledTables::classify(std::span<const double> outputs, std::span<double> probabilities) const {
  std::copy_n(outputs.begin(), classes(), probabilities.begin());
  softmax(probabilities);
}

OutputHead CoupledTables::head() const {
  if (further_outputs_ == 0) return {};
  return {.weights = {1.0}, .matrices = {}, .biases = {}};
}

void CoupledTables::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                              std::span<double> probabilities) const {
  std::vector<double> log_class(probabilities.size());
  if (outputs.empty()) {
    std::transform(class_prior_.begin(), class_prior_.end(), log_class.begin(),
                   [](double p) { return math::log(std::max(p, kProbabilityFloor)); });
  } else {
    // The softmax's constant does not matter.
    std::copy_n(outputs.begin(), classes(), log_class.begin());
  }
  posterior_from_tables(log_class, answers, tables_, probabilities);
}

void CoupledTables::remember(AnswerMemory& memory) const { memory.tables = tables_; }

double CoupledTables::answer_probability(std::span<const double> outputs, WorkerId worker, ClassId label) const {
  std::vector<double> f(classes());
  classify(outputs, f);
  return answer_from_tables(f, tables_, worker, label);
}

}  // namespace wisecrowd
