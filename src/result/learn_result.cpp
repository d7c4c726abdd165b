#include "wisecrowd/learn_result.hpp"

#include <algorithm>
#include <utility>

namespace wisecrowd {

namespace {

/// Moves what all learners know of rows into their result.
template <class Found>
void take_rows(TaskFeatures& data, Found& learned, const NetworkSpec& network, LearnedRows& rows) {
  rows.network = network;
  rows.row_shape = std::move(data.features.shape);
  rows.row_names = std::move(data.row_names);
  rows.split = std::move(data.split);
  rows.row_of_task = std::move(data.row_of_task);
  rows.curve = std::move(learned.curve);
  rows.epochs = learned.epochs;
  rows.chosen_epoch = learned.chosen_epoch;
}

LearnSummary summary_of_rows(const LearnedRows& rows) {
  const auto count = [&](Split part) {
    return static_cast<std::size_t>(std::count(rows.split.begin(), rows.split.end(), part));
  };
  LearnSummary summary;
  summary.network = rows.network;
  summary.rows = rows.row_names.size();
  summary.train_rows = count(Split::train);
  summary.valid_rows = count(Split::valid);
  summary.test_rows = count(Split::test);
  summary.row_shape = rows.row_shape;
  summary.curve = rows.curve;
  summary.epochs = rows.epochs;
  summary.chosen_epoch = rows.chosen_epoch;
  return summary;
}

}  // namespace

LearnResult make_learn_result(LearningData data, std::vector<ClassId> task_gold, Learned learned,
                              const NetworkSpec& network, RunRecord record, const RunContext& context) {
  LearnResult result;
  data.crowd.gold = std::move(task_gold);
  result.crowd = make_result(std::move(data.crowd), std::move(learned.crowd), std::move(record), context);
  take_rows(data, learned, network, result);
  result.row_probabilities = std::move(learned.row_probabilities);
  result.answer_reliability = std::move(learned.answer_reliability);
  result.classifier = std::move(learned.classifier);
  return result;
}

NumberLearnResult make_learn_result(NumberLearningData data, std::vector<double> task_gold, LearnedNumbers learned,
                                    const NetworkSpec& network, RunRecord record) {
  NumberLearnResult result;
  data.crowd.gold = std::move(task_gold);
  result.crowd = make_result(std::move(data.crowd), std::move(learned.crowd), std::move(record));
  take_rows(data, learned, network, result);
  result.row_estimate = std::move(learned.row_estimate);
  result.row_deviation = std::move(learned.row_deviation);
  result.regressor = std::move(learned.regressor);
  return result;
}

LearnSummary summary_of(const LearnResult& result) {
  LearnSummary summary = summary_of_rows(result);
  summary.scores = result.scores;
  return summary;
}

LearnSummary summary_of(const NumberLearnResult& result) {
  LearnSummary summary = summary_of_rows(result);
  summary.number_scores = result.scores;
  return summary;
}

}  // namespace wisecrowd
