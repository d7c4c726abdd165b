#pragma once

#include "learn/shared/dirichlet_tables.hpp"
#include "learn/shared/soft_label_model.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::deep_mf {

struct Options {
  TrainingOptions training;
  DirichletTables::Options tables{.one_coin = false, .right = 2, .wrong = 1};
  double ceiling = 0.9;     ///< the network's probabilities are not believed beyond this
  std::size_t updates = 1;  ///< of labels and tables before each epoch
  std::size_t warm_up = 3;  ///< epochs before the network has a say in the labels
};

/// Mean-field variational inference of labels and workers with the network as the prior of each task.
class DeepMf final : public GradientLearner {
 public:
  explicit DeepMf(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

class DeepMfModel final : public SoftLabelModel {
 public:
  DeepMfModel(const TrainingSet& set, const Options& options);
  void begin_epoch(const Epoch& epoch) override { infer_labels(epoch, epoch.number >= options_.warm_up); }
  void end_training(const Epoch& epoch) override { infer_labels(epoch, true); }
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  void remember(AnswerMemory& memory) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<DeepMfModel>(*this); }

  /// One update of the labels, then of the workers, with these priors of the tasks (tasks × classes).
  void update(std::span<const double> task_priors);
  /// The bound on the log evidence after the last update.
  [[nodiscard]] double bound() const noexcept { return bound_; }

 private:
  void infer_labels(const Epoch& epoch, bool with_network);

  Options options_;
  DirichletTables workers_;
  double bound_ = 0;
};

}  // namespace wisecrowd::deep_mf
