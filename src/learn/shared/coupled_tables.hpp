#pragma once

#include <string>
#include <vector>

#include "base/parameter_visitor.hpp"
#include "learn/shared/answer_model.hpp"
#include "learn/shared/optimiser.hpp"

namespace wisecrowd {

/// While a network that starts at random does not know the classes yet, what belongs to the workers stays as it
/// started: else a network that happens to start the wrong way round turns them around.
struct WarmUp {
  std::size_t epochs = 0;  ///< 0: none
  std::size_t steps = 0;   ///< of the network so far

  /// Large batches make epochs of few steps: it lasts 200 of them at least, but not beyond a third of the epochs.
  [[nodiscard]] bool over(std::size_t epoch, std::size_t total) const noexcept {
    return epoch >= epochs && (epochs == 0 || steps >= 200 || 3 * epoch >= total);
  }
};

/// How worker tables start and move.
struct TableOptions {
  enum class Start { votes, identity, expert };
  enum class Solver { gradient, em };
  Start start = Start::votes;
  double start_accuracy = 0.8;  ///< identity: the diagonal of every table
  double worker_learning_rate = 1e-2;
  std::size_t warm_up = 3;  ///< epochs in which the tables stay as they started
  Solver solver = Solver::gradient;
  double pooled_answers = 4;  ///< votes, em: answers of the crowd's mean table that each row of a table begins with
};

/// Of the table and its start.
void table_parameters(ParameterVisitor& v, TableOptions& options);
/// And the solver, where there is a choice.
void table_solver_parameter(ParameterVisitor& v, TableOptions& options);

/// p_ij = th_jᵀ f(x_i): worker tables as row-wise softmax, trained with the network by the cross-entropy of each answer
/// (B4), mean over the answers of the batch. Penalties on top, or another probability of an answer, make other methods
/// of it.
class CoupledTables : public AnswerModel {
 public:
  using Options = TableOptions;
  /// `further_outputs` of the network, beyond the classes, are for the subclass.
  CoupledTables(const TrainingSet& set, const TableOptions& options, std::size_t further_outputs = 0);

  [[nodiscard]] std::size_t outputs() const override { return set_->class_count + further_outputs_; }
  void begin_epoch(const Epoch& epoch) override;
  double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
              MatrixView<double> output_gradients) override;
  void step(double pace) override;
  void classify(std::span<const double> outputs, std::span<double> probabilities) const override;
  [[nodiscard]] OutputHead head() const override;
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] double answer_probability(std::span<const double> outputs, WorkerId worker,
                                          ClassId label) const override;
  [[nodiscard]] bool can_be_tempered() const override { return true; }
  [[nodiscard]] std::vector<double> worker_tables() const override { return tables_; }
  void remember(AnswerMemory& memory) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<CoupledTables>(*this); }

  /// The logits of the tables, for checks of gradients: worker j's are of(j), truth × label.
  [[nodiscard]] BlockAdam& logits() noexcept { return logits_; }
  [[nodiscard]] const BlockAdam& logits() const noexcept { return logits_; }
  /// Tables from the logits, after somebody changed them.
  virtual void refresh(WorkerId worker);

 protected:
  /// One answer of a batch.
  struct Term {
    std::uint32_t task, answer;  ///< by their places in the training set
    WorkerId worker;
    ClassId label;
    double weight;                    ///< what its loss is multiplied by
    std::span<const double> f;        ///< class probabilities of its task
    std::span<double> at_f;           ///< where to add the gradient at them
    std::span<const double> further;  ///< the network's further outputs
    std::span<double> at_further;
  };
  /// −log P(answer); adds weight times its gradients at f, at the further outputs and, by table_gradient(), at the
  /// tables.
  virtual double answer_loss(const Term& term);
  /// Adds a penalty of the batch to the gradients at the class probabilities (batch × classes) and, through
  /// table_gradient(), at the tables; returns its value. `weight` is that of one answer.
  virtual double penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double> probabilities,
                         MatrixView<double> gradients) {
    (void)tasks, (void)weight, (void)probabilities, (void)gradients;
    return 0;
  }
  /// Turns the gradients at the tables of this batch's workers into those at their logits.
  virtual void gradients_to_logits();

  [[nodiscard]] const TrainingSet& set() const noexcept { return *set_; }
  [[nodiscard]] std::size_t classes() const noexcept { return set_->class_count; }
  /// Whether the tables follow the gradient now: not while warming up, nor when EM solves them.
  [[nodiscard]] bool tables_move() const noexcept { return tables_move_; }
  [[nodiscard]] bool warm() const noexcept { return warm_; }
  [[nodiscard]] std::span<const double> class_prior() const noexcept { return class_prior_; }
  [[nodiscard]] std::span<const double> table(WorkerId worker) const {
    return std::span(tables_).subspan(index(worker) * classes() * classes(), classes() * classes());
  }
  /// Where to add the gradient at the table of a worker. Only while tables_move().
  [[nodiscard]] std::span<double> table_gradient(WorkerId worker) { return logits_.gradient(worker); }
  /// A term that belongs to each worker once is spread over the worker's answers: this, times the weight of an answer,
  /// makes the sum over a batch an unbiased estimate of the sum over all workers.
  [[nodiscard]] double share_of_worker(WorkerId worker) const {
    return static_cast<double>(terms_in_all_) / static_cast<double>(answers_of_[index(worker)]);
  }
  /// Answers, and known truths, of the whole training set.
  [[nodiscard]] double terms_in_all() const { return static_cast<double>(terms_in_all_); }

 private:
  void solve_tables(std::span<const double> class_probabilities);

  const TrainingSet* set_;
  TableOptions options_;
  std::size_t further_outputs_;
  BlockAdam logits_;  // between loss() and step() its gradients are those at the tables, not yet at the logits
  std::vector<double> tables_;
  std::vector<double> class_prior_;  // of tasks without features
  std::vector<std::uint32_t> answers_of_;
  std::size_t terms_in_all_;
  WarmUp warm_up_;
  bool warm_ = true, tables_move_;
  std::vector<double> probabilities_, class_gradients_;
};

/// From the gradient at a softmax's probabilities to the one at its logits, in place: f_k (g_k − Σ f g).
void softmax_backward(std::span<const double> probabilities, std::span<double> gradients);

}  // namespace wisecrowd
