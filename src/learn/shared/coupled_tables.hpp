#pragma once

#include <string>
#include <vector>

#include "learn/shared/answer_model.hpp"
#include "learn/shared/optimiser.hpp"

namespace wisecrowd {

/// p_ij = th_jᵀ f(x_i): worker tables as row-wise softmax, trained with the network by the cross-entropy of each answer
/// (B4), mean over the answers of the batch. Penalties on top make other methods of it.
class CoupledTables : public AnswerModel {
 public:
  struct Options {
    enum class Start { votes, identity, expert };
    Start start = Start::votes;
    double start_accuracy = 0.8;  ///< identity: the diagonal of every table
    double worker_learning_rate = 1e-2;
  };
  [[nodiscard]] static std::vector<ParameterSpec> parameters(const Options& defaults);
  [[nodiscard]] static Options options(const Parameters& parameters);

  CoupledTables(const TrainingSet& set, const Options& options);

  [[nodiscard]] std::size_t outputs() const override { return set_->class_count; }
  double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
              MatrixView<double> output_gradients) override;
  void step(double pace) override;
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] double answer_probability(std::span<const double> outputs, std::uint32_t worker,
                                          std::uint32_t label) const override;
  [[nodiscard]] bool can_be_tempered() const override { return true; }
  [[nodiscard]] std::vector<double> worker_tables() const override { return tables_; }
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<CoupledTables>(*this); }

  /// The logits of the tables, for checks of gradients: worker j's are of(j), truth × label.
  [[nodiscard]] BlockAdam& logits() noexcept { return logits_; }
  /// Tables from the logits, after somebody changed them.
  void refresh(std::uint32_t worker);

 protected:
  /// Adds a penalty of the batch to the gradients at the class probabilities (batch × classes) and, through
  /// table_gradient(), at the tables; returns its value.
  virtual double penalty(std::span<const std::uint32_t> tasks, MatrixView<const double> probabilities,
                         MatrixView<double> gradients) {
    (void)tasks, (void)probabilities, (void)gradients;
    return 0;
  }
  [[nodiscard]] const TrainingSet& set() const noexcept { return *set_; }
  [[nodiscard]] std::span<const double> table(std::uint32_t worker) const {
    return std::span(tables_).subspan(worker * set_->class_count * set_->class_count,
                                      set_->class_count * set_->class_count);
  }
  /// Where to add the gradient at the table of a worker.
  [[nodiscard]] std::span<double> table_gradient(std::uint32_t worker) { return logits_.gradient(worker); }

 private:
  const TrainingSet* set_;
  BlockAdam logits_;  // between loss() and step() its gradients are those at the tables, not yet at the logits
  std::vector<double> tables_;
  std::vector<double> class_prior_;  // of tasks without features
  std::vector<double> probabilities_, class_gradients_;
};

/// From the gradient at a softmax's probabilities to the one at its logits, in place: f_k (g_k − Σ f g).
void softmax_backward(std::span<const double> probabilities, std::span<double> gradients);

}  // namespace wisecrowd
