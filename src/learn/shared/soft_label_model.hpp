#pragma once

#include <vector>

#include "learn/shared/answer_model.hpp"

namespace wisecrowd {

/// Models that infer soft labels between the epochs and train the network on them: −(1/B) Σ_i w_i Σ_k q_ik log
/// f_k(x_i), once per task however many answers it has. Subclasses say how labels, weights and worker tables come
/// about.
class SoftLabelModel : public AnswerModel {
 public:
  /// Starts with the vote shares as labels and tables from them.
  explicit SoftLabelModel(const TrainingSet& set);

  [[nodiscard]] std::size_t outputs() const override { return set_->class_count; }
  double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
              MatrixView<double> output_gradients) override;
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] double answer_probability(std::span<const double> outputs, WorkerId worker,
                                          ClassId label) const override;
  [[nodiscard]] bool can_be_tempered() const override { return true; }
  [[nodiscard]] std::vector<double> worker_tables() const override { return tables_; }

  void remember(AnswerMemory& memory) const override;

  [[nodiscard]] const std::vector<double>& soft_labels() const noexcept { return labels_; }

 protected:
  [[nodiscard]] const TrainingSet& set() const noexcept { return *set_; }
  [[nodiscard]] std::size_t classes() const noexcept { return set_->class_count; }
  /// Class probabilities of all tasks of the set from the network as it is now.
  [[nodiscard]] std::vector<double> network_probabilities(const Epoch& epoch) const;
  /// One-hot where gold is known.
  void pin_gold();

  std::vector<double> labels_;   ///< q, tasks × classes
  std::vector<double> weights_;  ///< per task; empty: 1 each
  std::vector<double> tables_;   ///< workers × truth × label
  std::vector<double> class_prior_;

 private:
  const TrainingSet* set_;
};

}  // namespace wisecrowd
