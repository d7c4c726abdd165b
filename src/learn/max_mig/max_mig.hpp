#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/max_mig/information.hpp"
#include "learn/shared/coupled_tables.hpp"
#include "learn/shared/optimiser.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::max_mig {

struct Options {
  enum class Start { automatic, votes, aggregator, coupled, random };
  enum class Prior { automatic, uniform, learned, known };

  TrainingOptions training;
  Divergence divergence = Divergence::kl;
  Start start = Start::automatic;
  std::string aggregator = "dawid_skene";  ///< of start=aggregator
  Prior class_prior = Prior::automatic;
  std::vector<double> shares;          ///< of class_prior=known, one per class
  double pooled_answers = 4;           ///< weight of the common table in each worker's
  std::size_t warm_up = 3;             ///< epochs in which the aggregator stays as it began
  double worker_learning_rate = 1e-2;  ///< of the aggregator's weights
};

/// Max-MIG: the network and an aggregator of the answers are trained to tell as much as possible about each other.
class MaxMig final : public GradientLearner {
 public:
  explicit MaxMig(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

/// The model inside, for one start and one way with the prior (neither automatic).
class MaxMigModel final : public AnswerModel {
 public:
  /// `labels` are those of start=aggregator, tasks × classes; empty otherwise.
  MaxMigModel(const TrainingSet& set, const Options& options, std::span<const double> labels, Rng rng);

  [[nodiscard]] std::size_t outputs() const override { return set_->class_count; }
  void begin_epoch(const Epoch& epoch) override;
  double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
              MatrixView<double> output_gradients) override;
  void step(double pace) override;
  void end_epoch(const Epoch& epoch) override;
  /// Gives the classes their names: information is the same whichever output stands for which class.
  void end_training(const Epoch& epoch) override;
  void classify(std::span<const double> outputs, std::span<double> probabilities) const override;
  [[nodiscard]] OutputHead head() const override;
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] double answer_probability(std::span<const double> outputs, WorkerId worker,
                                          ClassId label) const override;
  [[nodiscard]] bool can_be_tempered() const override { return true; }
  [[nodiscard]] std::vector<double> worker_tables() const override;
  void remember(AnswerMemory& memory) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<MaxMigModel>(*this); }

  /// g: the class probabilities that the aggregator makes of answers.
  void aggregate(const TaskAnswers& answers, std::span<double> probabilities) const;

  /// Per worker, by how much an answer raises the logit of the class that it names above those of the others, mean over
  /// the classes; 0 for workers who always say the same, and shared among those who copy.
  [[nodiscard]] std::vector<double> net_weights() const;
  /// π: how frequent it takes the classes to be.
  [[nodiscard]] const std::vector<double>& class_prior() const noexcept { return prior_; }
  [[nodiscard]] Options::Start start() const noexcept { return options_.start; }

  /// W, truth × label per worker, and b, the logarithm of the prior in g: for checks of gradients.
  [[nodiscard]] BlockAdam& weights() noexcept { return weights_; }
  [[nodiscard]] BlockAdam& bias() noexcept { return bias_; }

 private:
  void set_weights(std::span<const double> tables);
  /// f g / π with the outputs as they are numbered in training.
  void forecast(std::span<const double> outputs, const TaskAnswers& answers, std::span<double> probabilities) const;
  /// From the numbers of training to the names of the classes.
  void rename(std::span<double> per_class) const;
  /// The same for the truths of tables, workers × truth × label.
  [[nodiscard]] std::vector<double> named(std::vector<double> tables) const;
  /// The forecast of all tasks of the set from the network's outputs; gold where it is known.
  [[nodiscard]] std::vector<double> forecast(std::span<const double> outputs) const;

  const TrainingSet* set_;
  Options options_;
  BlockAdam weights_;          // W_j[k][l]
  BlockAdam bias_;             // b
  std::vector<double> prior_;  // π of the ratio: constant within an epoch
  std::vector<double> tables_;
  std::vector<std::size_t> class_of_;   // per output, once training is over and a name was found wrong; empty: its own
  std::optional<CoupledTables> first_;  // start=coupled: trains the network of the first epochs
  std::size_t coupled_epochs_ = 0;
  bool in_first_ = false, frozen_ = false;
  std::vector<double> f_, g_, f_gradients_, g_gradients_;
};

}  // namespace wisecrowd::max_mig
