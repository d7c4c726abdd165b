#pragma once

#include "learn/shared/soft_label_model.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::aggnet {

struct Options {
  TrainingOptions training;
  std::size_t warm_up = 1;      ///< epochs before the network has a say in the labels
  double pseudo_count = 0.1;    ///< answers added to every cell of a worker's table
  double diagonal_count = 0;    ///< further ones for the right answer
  double ceiling = 1;           ///< the network's probabilities are not believed beyond this
  std::size_t label_every = 1;  ///< epochs between two inferences of the labels
};

/// EM with a network: labels from network and answers, tables from labels, the network trained on labels.
class AggNet final : public GradientLearner {
 public:
  explicit AggNet(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

/// The model inside: E-step and M-step of the tables before each epoch.
class AggNetModel final : public SoftLabelModel {
 public:
  AggNetModel(const TrainingSet& set, const Options& options);
  void begin_epoch(const Epoch& epoch) override;
  /// The forecast for data and crowd: the network, believed as far as in training, and the answers.
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  void remember(AnswerMemory& memory) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<AggNetModel>(*this); }

 private:
  /// log f, not beyond the ceiling, in place.
  void believe(std::span<double> probabilities) const;

  Options options_;
};

}  // namespace wisecrowd::aggnet
