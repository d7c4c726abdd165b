#include "wisecrowd/learn_result.hpp"

#include <algorithm>
#include <utility>

namespace wisecrowd {

LearnResult make_learn_result(LearningData data, std::vector<ClassId> task_gold, Learned learned,
                              const NetworkSpec& network, RunRecord record, const RunContext& context) {
  LearnResult result;
  data.crowd.gold = std::move(task_gold);
  result.crowd = make_result(std::move(data.crowd), std::move(learned.crowd), std::move(record), context);
  result.network = network;
  result.row_shape = std::move(data.features.shape);
  result.row_names = std::move(data.row_names);
  result.split = std::move(data.split);
  result.row_of_task = std::move(data.row_of_task);
  result.row_probabilities = std::move(learned.row_probabilities);
  result.answer_reliability = std::move(learned.answer_reliability);
  result.classifier = std::move(learned.classifier);
  result.curve = std::move(learned.curve);
  result.epochs = learned.epochs;
  result.chosen_epoch = learned.chosen_epoch;
  return result;
}

LearnSummary summary_of(const LearnResult& result) {
  const auto count = [&](Split part) {
    return static_cast<std::size_t>(std::count(result.split.begin(), result.split.end(), part));
  };
  LearnSummary summary;
  summary.network = result.network;
  summary.rows = result.row_names.size();
  summary.train_rows = count(Split::train);
  summary.valid_rows = count(Split::valid);
  summary.test_rows = count(Split::test);
  summary.row_shape = result.row_shape;
  summary.curve = result.curve;
  summary.epochs = result.epochs;
  summary.chosen_epoch = result.chosen_epoch;
  summary.scores = result.scores;
  return summary;
}

}  // namespace wisecrowd
