#include "wisecrowd/learn_result.hpp"

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

}  // namespace wisecrowd
