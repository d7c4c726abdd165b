#pragma once

#include "learn/shared/soft_label_model.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::mbem {

struct Options {
  TrainingOptions training;
  std::size_t rounds = 3;      ///< of judging the workers by the networks
  double pseudo_count = 1e-2;  ///< answers added to every cell of a worker's table
  double pooled_answers = 4;   ///< answers of the crowd's mean table that each row of a table begins with
  bool cross_fit = true;       ///< judge by networks that did not see the task
  bool even_classes = true;    ///< labels with an even class prior, not with the predictions' shares
};

/// Workers are judged by what a network predicts, labels follow from workers, the network learns the labels.
class Mbem final : public Learner {
 public:
  explicit Mbem(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Learned fit(const LearningData& data, const NetworkSpec& network,
                            const RunContext& context) const override;

 private:
  Options options_;
};

/// Labels and tables as given to it; the network has no say in the labels that it is trained on.
class JudgedLabels final : public SoftLabelModel {
 public:
  /// The votes, as long as nobody was judged.
  JudgedLabels(const TrainingSet& set, const Options& options);
  /// Tables and class prior from a predicted class per task, then labels from those and the answers. A judge who agrees
  /// with the answers no more than by chance knows nothing: then all stays as it is, and false is returned.
  bool judge(std::span<const ClassId> predicted, const Options& options);
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  /// The labels of some tasks of another model, for training on them alone.
  JudgedLabels(const TrainingSet& part, std::span<const std::uint32_t> tasks, const JudgedLabels& whole);

  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<JudgedLabels>(*this); }

 private:
  bool judge_knew_nothing_ = false;
};

}  // namespace wisecrowd::mbem
