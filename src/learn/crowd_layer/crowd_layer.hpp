#pragma once

#include <memory>
#include <vector>

#include "learn/shared/answer_model.hpp"
#include "learn/shared/coupled_tables.hpp"
#include "learn/shared/optimiser.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::crowd_layer {

/// What each worker does to the network's class probabilities o before a second softmax.
enum class Layer {
  matrix,          ///< MW: Σ_k o_k W_j[k][·]
  weights,         ///< VW: w_j ∘ o
  biases,          ///< VB: o + b_j
  weights_biases,  ///< VW+B: w_j ∘ o + b_j
  scale,           ///< SW: w_j o
};

struct Options {
  enum class Start { identity, votes };
  TrainingOptions training;
  Layer layer = Layer::matrix;
  Start start = Start::identity;
  double worker_learning_rate = 1e-2;
  std::size_t warm_up = 3;  ///< epochs in which the layers change nothing
};

/// A layer per worker on top of the network, thrown away after training.
class CrowdLayer final : public GradientLearner {
 public:
  explicit CrowdLayer(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

class LayerModel final : public AnswerModel {
 public:
  LayerModel(const TrainingSet& set, const Options& options);

  [[nodiscard]] std::size_t outputs() const override { return set_->class_count; }
  double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
              MatrixView<double> output_gradients) override;
  void begin_epoch(const Epoch& epoch) override { layers_move_ = warm_up_.over(epoch.number, epoch.total); }
  void step(double pace) override;
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] bool can_be_tempered() const override { return true; }
  [[nodiscard]] double answer_probability(std::span<const double> outputs, WorkerId worker,
                                          ClassId label) const override;
  /// What the layer makes of a sure class k: row k is softmax(layer(e_k)).
  [[nodiscard]] std::vector<double> worker_tables() const override;
  void remember(AnswerMemory& memory) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<LayerModel>(*this); }

  /// For checks of gradients: worker j's are of(j).
  [[nodiscard]] BlockAdam& weights() noexcept { return weights_; }
  [[nodiscard]] std::size_t weights_per_worker() const noexcept { return block_; }

 private:
  void forward(std::span<const double> o, WorkerId worker, std::span<double> logits) const;

  const TrainingSet* set_;
  Layer layer_;
  std::size_t block_;
  BlockAdam weights_;
  WarmUp warm_up_;
  bool layers_move_ = true;
  std::vector<double> class_prior_;
};

}  // namespace wisecrowd::crowd_layer
