#pragma once

#include <memory>

#include "learn/shared/soft_label_model.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/belief_session.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::deep_bp {

struct Options {
  TrainingOptions training;
  std::string model = "one_coin";  ///< of workers: one_coin, two_coin or tables
  double right = 2, wrong = 1;     ///< prior counts of right and of all wrong answers
  std::size_t particles = 400;     ///< model=tables
  std::size_t max_iterations = 100;
  double tolerance = 1e-4;
  double ceiling = 0.9;     ///< the network's probabilities are not believed beyond this
  std::size_t warm_up = 3;  ///< epochs before the network has a say in the labels
};

/// Belief propagation with the network as the prior of each task; the network learns the beliefs.
class DeepBp final : public GradientLearner {
 public:
  explicit DeepBp(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

class DeepBpModel final : public SoftLabelModel {
 public:
  DeepBpModel(const TrainingSet& set, const Options& options, const RunContext& context);
  DeepBpModel(const DeepBpModel& other);
  void begin_epoch(const Epoch& epoch) override { infer_labels(epoch, epoch.number >= options_.warm_up); }
  void end_training(const Epoch& epoch) override { infer_labels(epoch, true); }
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  void remember(AnswerMemory& memory) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<DeepBpModel>(*this); }

  /// Beliefs with these priors of the tasks, going on from the last messages.
  void infer(std::span<const double> task_priors);
  [[nodiscard]] double bethe() const noexcept { return bethe_; }
  [[nodiscard]] std::size_t iterations() const noexcept { return iterations_; }  ///< of the last inference

 private:
  void infer_labels(const Epoch& epoch, bool with_network);

  Options options_;
  const RunContext* context_;
  std::unique_ptr<BeliefSession> session_;
  double bethe_ = 0;
  std::size_t iterations_ = 0;
  bool converged_ = true;
};

}  // namespace wisecrowd::deep_bp
