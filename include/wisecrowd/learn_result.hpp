#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wisecrowd/category_result.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/learn_numbers.hpp"
#include "wisecrowd/number_result.hpp"

namespace wisecrowd {

/// How well a part of the data was labelled, against gold that the learner did not see.
struct LearnScore {
  /// "answered_tasks" (classifier and answers together), or rows that the classifier alone labelled: "test_rows",
  /// "valid_rows", "unanswered_rows" (of the train split).
  std::string part;
  Evaluation chosen;  ///< at the chosen epoch
  Evaluation last;    ///< at the last epoch, without intervals
};

/// The same where answers are numbers.
struct NumberLearnScore {
  std::string part;  ///< as above
  NumberEvaluation evaluation;
};

/// The rows that a network was trained on and predicts, and how that went.
struct LearnedRows {
  NetworkSpec network;

  std::vector<std::size_t> row_shape;
  NameTable row_names;
  std::vector<Split> split;
  std::vector<std::uint32_t> row_of_task;

  std::vector<CurvePoint> curve;
  std::size_t epochs = 0;
  std::size_t chosen_epoch = 0;
};

/// The outcome of learning: what every deliverer reads.
struct LearnResult : LearnedRows {
  /// Tasks with answers, workers, and the record of the run.
  CategoryResult crowd;
  std::vector<double> row_probabilities;  ///< rows × classes
  std::vector<float> answer_reliability;  ///< per answer in task order, or empty
  std::shared_ptr<const Classifier> classifier;
  std::vector<LearnScore> scores;
};

/// The same where answers are numbers.
struct NumberLearnResult : LearnedRows {
  NumberResult crowd;
  std::vector<double> row_estimate;   ///< rows × dimensions
  std::vector<double> row_deviation;  ///< by dimension; NaN where it is not known
  std::shared_ptr<const Regressor> regressor;
  std::vector<NumberLearnScore> scores;
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
  std::vector<NumberLearnScore> number_scores;  ///< instead of these where answers are numbers
};
[[nodiscard]] LearnSummary summary_of(const LearnResult& result);
[[nodiscard]] LearnSummary summary_of(const NumberLearnResult& result);

/// Completes a result: confusion tables, worker summaries, the fingerprint of the answers. `task_gold` (may be empty)
/// is what workers are compared with.
[[nodiscard]] LearnResult make_learn_result(LearningData data, std::vector<ClassId> task_gold, Learned learned,
                                            const NetworkSpec& network, RunRecord record, const RunContext& context);

/// The same for numbers; gold is tasks × dimensions.
[[nodiscard]] NumberLearnResult make_learn_result(NumberLearningData data, std::vector<double> task_gold,
                                                  LearnedNumbers learned, const NetworkSpec& network, RunRecord record);

}  // namespace wisecrowd
