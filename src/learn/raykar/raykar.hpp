#pragma once

#include "learn/shared/logistic.hpp"
#include "learn/shared/soft_label_model.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::raykar {

struct Options {
  double pseudo_count = 0.1;     ///< answers added to every cell of a worker's table
  double diagonal_count = 0;     ///< further ones for the right answer
  double penalty = 0.2;          ///< inverse variance of a logit before anything is learned
  std::size_t newton_steps = 3;  ///< per iteration
  std::size_t max_iterations = 200;
  double tolerance = 1e-6;  ///< relative, of the objective
  bool standardise = true;
};

/// EM for logistic regression and confusion tables at once.
class Raykar final : public Learner {
 public:
  explicit Raykar(Options options = {}) : options_(options) {}
  [[nodiscard]] Learned fit(const LearningData& data, const NetworkSpec& network,
                            const RunContext& context) const override;

 private:
  Options options_;
};

/// The state of EM; also the model that predicts in the end.
class RaykarModel final : public SoftLabelModel {
 public:
  RaykarModel(const TrainingSet& set, const Options& options) : SoftLabelModel(set), options_(options) {}
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<RaykarModel>(*this); }

  /// Tables from the labels.
  void update_tables();
  /// Labels from the classifier's logits (tasks × classes) and the tables; returns Σ_i log Z_i plus the logarithm of
  /// the tables' prior.
  double infer_labels(std::span<const double> logits);

 private:
  Options options_;
};

}  // namespace wisecrowd::raykar
