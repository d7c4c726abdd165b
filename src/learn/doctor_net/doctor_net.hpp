#pragma once

#include <memory>
#include <vector>

#include "learn/shared/answer_model.hpp"
#include "learn/shared/optimiser.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::doctor_net {

/// How the workers' predictions are averaged.
enum class Weights { equal, answers, learned };

struct Options {
  TrainingOptions training;
  Weights weights = Weights::equal;
  std::size_t width = 32;    ///< numbers of a row that the heads see
  std::size_t warm_up = 10;  ///< epochs in which all workers share one head
  double worker_learning_rate = 1e-2;
  double worker_decay = 1e-4;
};

/// A head per worker over a common trunk, each trained on what its worker said; their average is the prediction.
class DoctorNet final : public GradientLearner {
 public:
  explicit DoctorNet(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

/// Heads are softmax(V_j t + c_j) over the network's outputs t.
class HeadsModel final : public AnswerModel {
 public:
  HeadsModel(const TrainingSet& set, const Options& options);

  [[nodiscard]] std::size_t outputs() const override { return options_.width; }
  void begin_epoch(const Epoch& epoch) override;
  /// Weighted: the trunk and the heads are final, now the weights are learned.
  void end_training(const Epoch& epoch) override;
  double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
              MatrixView<double> output_gradients) override;
  void step(double pace) override;
  void classify(std::span<const double> outputs, std::span<double> probabilities) const override;
  [[nodiscard]] OutputHead head() const override;
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] double answer_probability(std::span<const double> outputs, WorkerId worker,
                                          ClassId label) const override;
  void remember(AnswerMemory& memory) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<HeadsModel>(*this); }

  /// For checks: V_j (classes × width), then c_j.
  [[nodiscard]] BlockAdam& heads() noexcept { return heads_; }
  [[nodiscard]] const std::vector<double>& weights() const noexcept { return weights_; }
  /// The loss that the weights are learned by, Σ −log P^(−j)[y] as a mean, and its gradient at their logits.
  /// `probabilities` is answers × workers: what each worker's head says of each answer.
  [[nodiscard]] double weight_loss(std::span<const double> logits, std::span<const float> probabilities,
                                   std::span<double> gradient) const;
  /// From now on each worker has a head, which starts as the shared one.
  void part();

 private:
  void predict(std::span<const double> head, std::span<const double> outputs, std::span<double> probabilities) const;

  const TrainingSet* set_;
  Options options_;
  BlockAdam shared_;  // one owner; while all workers share it
  BlockAdam heads_;
  bool parted_;
  std::vector<WorkerId> answering_;  // workers who answered anything
  std::vector<double> weights_;      // per worker, sum to 1
  std::vector<double> class_prior_;
};

}  // namespace wisecrowd::doctor_net
