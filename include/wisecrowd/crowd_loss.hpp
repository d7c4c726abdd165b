#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "wisecrowd/learn.hpp"

namespace wisecrowd {

/// What makes a learner, without a network: the loss of the answers at the outputs of a network that the caller trains.
/// Tasks are numbered from 0 in the order of rows(). Outputs are raw numbers (logits), a row per task or row.
class CrowdLoss {
 public:
  virtual ~CrowdLoss() = default;

  /// The width that the network must have.
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  /// The row of the features of each task that is learned from: those of the train split with an answer or gold.
  [[nodiscard]] virtual std::span<const std::uint32_t> rows() const = 0;
  /// The same of the tasks of other splits, whose answers are hidden.
  [[nodiscard]] virtual std::span<const std::uint32_t> hidden_rows() const = 0;

  /// Fills the network's outputs for all tasks: tasks × outputs().
  using Fill = std::function<void(std::span<double>)>;
  struct Epoch {
    std::size_t number = 0, total = 0;
    Fill predict;  ///< without dropout
    Fill sample;   ///< with: a draw of MC-dropout
  };
  /// Before each epoch (from 0), after it, and when training is over, before anything is predicted. Learners that infer
  /// labels between epochs ask for the network's outputs there.
  virtual void begin_epoch(const Epoch& epoch) = 0;
  virtual void end_epoch(const Epoch& epoch) = 0;
  virtual void end_training(const Epoch& epoch) = 0;

  /// Mean loss of a batch of tasks, and its gradient at the outputs, which is overwritten. What the learner knows of
  /// the workers moves by step(), by what the last loss found; `pace` is a factor on its rates.
  virtual double loss(std::span<const std::uint32_t> tasks, std::span<const double> outputs,
                      std::span<double> gradients) = 0;
  virtual void step(double pace) = 0;

  /// Log probability of the answers to each hidden task, given the outputs for them.
  [[nodiscard]] virtual std::vector<double> hidden_likelihoods(std::span<const double> outputs) const = 0;
  /// P(class | row), rows × classes.
  [[nodiscard]] virtual std::vector<double> classify(std::span<const double> outputs) const = 0;
  /// What network and answers say together, given the outputs for all rows. Without classifier and curve.
  [[nodiscard]] virtual Learned conclude(std::span<const double> outputs) const = 0;
};

/// Throws unsupported that says why for a learner that is no loss on outputs alone. A learner with several ways to
/// begin takes its first. Data and context outlive the loss.
[[nodiscard]] std::unique_ptr<CrowdLoss> make_crowd_loss(const LearningData& data, std::string_view method,
                                                         const Parameters& parameters, const RunContext& context);
/// The learners that have one, in the order of learning_methods().
[[nodiscard]] std::vector<std::string> crowd_losses();

}  // namespace wisecrowd
