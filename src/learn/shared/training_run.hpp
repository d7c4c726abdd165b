#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learn/shared/answer_model.hpp"
#include "learn/shared/network.hpp"
#include "learn/shared/trainer.hpp"

namespace wisecrowd {

/// A trained state to come back to.
struct Snapshot {
  std::vector<float> parameters;
  std::vector<float> buffers;
  std::unique_ptr<BatchModel> model;
};

/// One training of one network by one model, epoch by epoch.
class TrainingRun {
 public:
  /// `inputs` are scaled and outlive the run, as does `set`. `purpose` names the random streams.
  TrainingRun(const TrainingSet& set, const Features& inputs, const NetworkSpec& network,
              const TrainingOptions& options, const BatchModelFactory& make_model, std::string_view purpose,
              const RunContext& context);

  /// Begins with these weights instead of random ones; before the first epoch.
  void resume_from(std::span<const float> parameters, std::span<const float> buffers);
  /// One pass over the tasks; returns the mean loss. Stops early when the context is cancelled, and where a number is
  /// no longer finite: then the state is of no use, and restore() is the way back.
  double epoch();
  /// Whether all numbers of the last epoch were finite: outputs, losses, gradients and weights.
  [[nodiscard]] bool finite() const noexcept { return trouble_ == Trouble::none; }
  /// What happened and what to do, for a run that is not finite: "the network's numbers were no longer finite in epoch
  /// 3: lower learning_rate (it is 100)".
  [[nodiscard]] std::string trouble() const;
  [[nodiscard]] std::size_t epochs_done() const noexcept { return epochs_done_; }
  /// Lets the model take a last look at the network; before predicting.
  void end();

  /// The state that predicts: with averaged weights, if they are averaged.
  [[nodiscard]] Snapshot snapshot();
  void restore(const Snapshot& state);
  /// Outputs for any rows of the inputs, in double precision: rows × outputs.
  [[nodiscard]] std::vector<double> outputs(std::span<const std::uint32_t> rows);
  [[nodiscard]] const BatchModel& model() const noexcept { return *model_; }
  [[nodiscard]] BatchModel& model() noexcept { return *model_; }
  [[nodiscard]] Network& network() noexcept { return *network_; }
  [[nodiscard]] std::unique_ptr<Network> release_network() noexcept { return std::move(network_); }

 private:
  [[nodiscard]] BatchModel::Epoch announcement();
  void predict(std::span<const std::uint32_t> rows, Network::Mode mode, std::span<double> out);
  /// Runs with the averaged weights in place.
  template <class Work>
  void with_average(const Work& work);
  [[nodiscard]] double pace() const;
  /// The steps of one epoch; the sum of their losses.
  double take_steps(std::size_t& steps);
  /// Whether the weights that predict are finite and, if they are so large that outputs could overflow, these too.
  [[nodiscard]] bool weights_are_finite();

  enum class Trouble { none, before_training, in_training };
  const TrainingSet& set_;
  const Features& inputs_;
  const TrainingOptions& options_;
  const RunContext& context_;
  std::unique_ptr<BatchModel> model_;
  std::unique_ptr<Network> network_;
  std::size_t batch_, steps_per_epoch_;
  Optimiser optimiser_;
  Rng order_stream_;
  std::vector<std::uint32_t> order_;
  std::vector<float> average_;
  std::size_t epochs_done_ = 0, steps_done_ = 0;
  std::string kind_;  // of the network
  Trouble trouble_ = Trouble::none;
};

}  // namespace wisecrowd
