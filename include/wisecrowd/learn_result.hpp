#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wisecrowd/learn.hpp"
#include "wisecrowd/result.hpp"

namespace wisecrowd {

/// How well a part of the data was labelled, against gold that the learner did not see.
struct LearnScore {
  /// "answered_tasks" (classifier and answers together), or rows that the classifier alone labelled: "test_rows",
  /// "valid_rows", "unanswered_rows" (of the train split).
  std::string part;
  Evaluation chosen;  ///< at the chosen epoch
  Evaluation last;    ///< at the last epoch, without intervals
};

/// The outcome of learning: what every deliverer reads.
struct LearnResult {
  /// Tasks with answers, workers, and the record of the run.
  Result crowd;
  NetworkSpec network;

  std::vector<std::size_t> row_shape;
  NameTable row_names;
  std::vector<Split> split;
  std::vector<std::uint32_t> row_of_task;
  std::vector<double> row_probabilities;  ///< rows × classes
  std::vector<float> answer_reliability;  ///< per answer in task order, or empty
  std::shared_ptr<const Classifier> classifier;

  std::vector<CurvePoint> curve;
  std::size_t epochs = 0;
  std::size_t chosen_epoch = 0;
  std::vector<LearnScore> scores;
};

/// What there is to say of learning besides tasks and workers; what run.json keeps of it.
struct LearnSummary {
  NetworkSpec network;
  std::size_t rows = 0, train_rows = 0, valid_rows = 0, test_rows = 0;
  std::vector<std::size_t> row_shape;
  std::vector<CurvePoint> curve;
  std::size_t epochs = 0;
  std::size_t chosen_epoch = 0;
  std::vector<LearnScore> scores;
};
[[nodiscard]] LearnSummary summary_of(const LearnResult& result);

/// Completes a result: confusion tables, worker summaries, the fingerprint of the answers. `task_gold` (may be empty)
/// is what workers are compared with.
[[nodiscard]] LearnResult make_learn_result(LearningData data, std::vector<ClassId> task_gold, Learned learned,
                                            const NetworkSpec& network, RunRecord record, const RunContext& context);

struct LearnWriteOptions {
  bool torchscript = false;  ///< also model/classifier.pt, a module that Python can load
};

/// Like write_result: labels.csv for every task that has answers or features, with its source, workers.csv,
/// confusion.csv, reliability.csv where the method knows it, the folder model/ and run.json; whole or not at all.
Status write_result(const LearnResult& result, const std::string& directory, const LearnWriteOptions& options,
                    const RunContext& context);
[[nodiscard]] std::string run_json(const LearnResult& result);

/// A table `task,label,probability,p_<class>…` of a classifier's predictions (rows × classes), as text.
[[nodiscard]] std::string predictions_csv(const NameTable& rows, const NameTable& classes,
                                          std::span<const double> probabilities);
/// The same into a file, which appears whole or not at all; an existing file is replaced.
void write_predictions(const std::string& path, const NameTable& rows, const NameTable& classes,
                       std::span<const double> probabilities);

}  // namespace wisecrowd
