#pragma once

#include "learn/shared/dirichlet_tables.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::bayes_dgc {

struct Options {
  enum class Prior { network, product, divide };

  TrainingOptions training;
  DirichletTables::Options tables{.one_coin = false, .right = 5, .wrong = 2};
  Prior prior = Prior::network;
  double class_count = 1.1;  ///< Dirichlet parameter of every class
  double delay = 1;          ///< t0 and κ of the step (t + t0)^−κ
  double forgetting = 0.6;
  std::size_t warm_up = 3;  ///< epochs before the network has a say in the labels
};

/// A network as the prior of the truth, Dirichlet tables for workers, by stochastic variational inference.
class BayesDgc final : public GradientLearner {
 public:
  explicit BayesDgc(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

/// Labels are inferred exactly for each batch, with the network's outputs of that moment; then tables and class prior
/// take a natural-gradient step, and the network one of its own, on the same bound.
class BayesDgcModel final : public AnswerModel {
 public:
  BayesDgcModel(const TrainingSet& set, const Options& options);

  [[nodiscard]] std::size_t outputs() const override { return set_->class_count; }
  void begin_epoch(const Epoch& epoch) override { warming_up_ = epoch.number < options_.warm_up; }
  double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
              MatrixView<double> output_gradients) override;
  void step(double pace) override;
  void end_training(const Epoch& epoch) override;
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] bool can_be_tempered() const override { return options_.prior == Options::Prior::network; }
  [[nodiscard]] double answer_probability(std::span<const double> outputs, WorkerId worker,
                                          ClassId label) const override;
  void remember(AnswerMemory& memory) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::vector<double> worker_tables() const override { return tables_.means(); }
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<BayesDgcModel>(*this); }

  /// The bound on the log evidence for these outputs of all tasks, with the best labels.
  [[nodiscard]] double bound(std::span<const double> outputs) const;
  [[nodiscard]] const std::vector<double>& class_parameters() const noexcept { return class_parameters_; }

 private:
  /// Labels of one task; returns log Z_i, what the task adds to the bound.
  /// Outputs that are empty stand for a network that says what the classes' shares are.
  double infer(std::span<const double> outputs, const TaskAnswers& answers, ClassId gold,
               std::span<double> labels) const;
  void refresh_classes();

  const TrainingSet* set_;
  Options options_;
  DirichletTables tables_;
  std::vector<double> class_parameters_;  // ν
  std::vector<double> log_classes_;       // what is added to log f: E ln π, or less, or nothing
  std::vector<double> class_share_;       // running mean of the labels
  std::vector<std::uint32_t> answers_of_worker_;
  std::size_t steps_ = 0;
  bool warming_up_ = false;

  // Of the last loss().
  std::size_t batch_ = 0;
  std::vector<double> batch_classes_;
  std::vector<WorkerId> touched_;
  std::vector<std::uint32_t> place_, seen_;  // of each worker among the touched; of each of these, answers in the batch
  std::vector<double> counts_;               // truth × label of each

  // Of the end.
  double bound_ = 0;
  std::vector<double> class_mass_;
};

}  // namespace wisecrowd::bayes_dgc
