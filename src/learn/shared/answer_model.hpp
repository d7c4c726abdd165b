#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "learn/shared/output_head.hpp"
#include "learn/shared/training_set.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd {

struct AnswerMemory;

/// A row-major matrix that somebody else owns.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  [[nodiscard]] std::span<T> row(std::size_t i) const { return {data + i * columns, columns}; }
  [[nodiscard]] T& operator()(std::size_t i, std::size_t j) const { return data[i * columns + j]; }
};

/// No task of the data.
inline constexpr TaskId kNoTask{0xFFFFFFFF};

/// Answers to one task, wherever they come from.
struct TaskAnswers {
  std::span<const WorkerId> workers;
  std::span<const ClassId> labels;
  TaskId task = kNoTask;       ///< its number in the data: a model that inferred it may know better than its tables
  std::uint32_t row = kNoRow;  ///< of the features, for models whose workers depend on it
};

/// What a training run asks of a model, whatever the answers are: the loss of a batch, what to do around an epoch, and
/// how well it predicts answers that it did not see.
///
/// Outputs are the network's raw numbers in double precision. A model sees its training set by reference; the set
/// outlives it.
class BatchModel {
 public:
  virtual ~BatchModel() = default;

  /// Width of the network; the number of classes unless the model needs another.
  [[nodiscard]] virtual std::size_t outputs() const = 0;

  /// Called before each epoch (from 0). Models that infer labels between epochs get the network's current outputs for
  /// all tasks of the training set: `predict(outputs)` fills tasks × outputs(), without dropout, and
  /// `sample(outputs)` does so with (MC-dropout).
  struct Epoch {
    std::size_t number = 0;
    std::size_t total = 0;
    std::function<void(std::span<double>)> predict;
    std::function<void(std::span<double>)> sample;
  };
  virtual void begin_epoch(const Epoch& epoch) { (void)epoch; }
  /// Called when training is over, before anything is predicted: models that infer labels between epochs bring them up
  /// to date with the network as it is now. `number` is the count of epochs done.
  virtual void end_training(const Epoch& epoch) { (void)epoch; }
  /// Called after each epoch, before the state is judged or kept.
  virtual void end_epoch(const Epoch& epoch) { (void)epoch; }

  /// The mean loss of a batch of tasks (indices into the training set), and its gradient at the outputs, which is
  /// overwritten. Gradients of the model's own parameters are kept for step().
  virtual double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                      MatrixView<double> output_gradients) = 0;
  /// Moves the model's own parameters by what the last loss() found. `pace` is the schedule's factor on the rates.
  virtual void step(double pace) { (void)pace; }

  /// Log probability, or density, of the answers to each task of a set, given the network's outputs for them.
  [[nodiscard]] virtual std::vector<double> answer_likelihoods(const TrainingSet& set,
                                                               std::span<const double> outputs) const = 0;

  /// The state at this moment, to come back to the chosen epoch.
  [[nodiscard]] virtual std::unique_ptr<BatchModel> copy() const = 0;
};

/// Makes the model for a training set: once for the run that chooses the epoch, once for the run on all answers.
using BatchModelFactory = std::function<std::unique_ptr<BatchModel>(const TrainingSet& set, Rng rng)>;

/// What makes one method of learning from answers that are classes differ from another: how the network's outputs
/// (logits, unless a model says otherwise) and the answers make a loss, what it knows of the workers, and how a task's
/// truth follows. The trainer does the rest.
class AnswerModel : public BatchModel {
 public:
  /// P(class | row) from the outputs; the softmax by default.
  virtual void classify(std::span<const double> outputs, std::span<double> probabilities) const;
  /// The same function as a value, which is saved with the network: a model that overrides one overrides both.
  [[nodiscard]] virtual OutputHead head() const { return {}; }
  /// P(truth | row, answers). `outputs` is empty for a task without a row.
  virtual void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                         std::span<double> probabilities) const = 0;
  /// P(this worker says `label` | row), from the classifier alone: what hidden answers are judged by.
  [[nodiscard]] virtual double answer_probability(std::span<const double> outputs, WorkerId worker,
                                                  ClassId label) const = 0;
  /// The same for a row of the inputs, where what a worker says depends on more than the outputs.
  [[nodiscard]] virtual double answer_probability_at(std::uint32_t row, std::span<const double> outputs,
                                                     WorkerId worker, ClassId label) const {
    (void)row;
    return answer_probability(outputs, worker, label);
  }
  /// Whether the posterior is the classifier's probabilities times what the answers say, and the outputs are logits of
  /// the classes, and after them whatever else the model needs of a row. Then the answers can be given less weight than
  /// the model would, and the trainer learns how much.
  [[nodiscard]] virtual bool can_be_tempered() const { return false; }

  /// Puts what is known into the result, whose sizes, posterior and labels are set: confusion tables, skill, class
  /// prior, learned numbers, warnings; per-task scores and per-answer reliabilities where the model has them. By
  /// default the worker tables. `outputs_of` gives the network's outputs for a task of the data, false if it has no
  /// row.
  using OutputsOfTask = std::function<bool(std::size_t task, std::span<double> outputs)>;
  virtual void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const;
  /// Workers × truth × label, rows sum to 1. Empty if the model has none.
  [[nodiscard]] virtual std::vector<double> worker_tables() const { return {}; }

  /// What the posterior and the workers' reliabilities need beyond the network, to be saved with it: the memory gives
  /// the same posterior for a row and answers as this model does. By default there is none, and why.
  virtual void remember(AnswerMemory& memory) const;

  [[nodiscard]] std::vector<double> answer_likelihoods(const TrainingSet& set,
                                                       std::span<const double> outputs) const final;
  [[nodiscard]] virtual std::unique_ptr<AnswerModel> clone() const = 0;
  [[nodiscard]] std::unique_ptr<BatchModel> copy() const final { return clone(); }
};

using AnswerModelFactory = std::function<std::unique_ptr<AnswerModel>(const TrainingSet& set, Rng rng)>;

/// log f_k + Σ_j log th_j[k][y_j], normalised: the posterior under worker tables (workers × truth × label).
void posterior_from_tables(std::span<const double> log_class_probabilities, const TaskAnswers& answers,
                           std::span<const double> tables, std::span<double> probabilities);
/// Σ_k f_k th_j[k][y].
[[nodiscard]] double answer_from_tables(std::span<const double> class_probabilities, std::span<const double> tables,
                                        WorkerId worker, ClassId label);

}  // namespace wisecrowd
