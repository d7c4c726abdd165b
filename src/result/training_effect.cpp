#include "wisecrowd/training_effect.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kFewestTasks = 10;

/// Predictions of the tasks of each fold by a classifier that trained on the others.
std::vector<ClassId> cross_predict(const LearningData& data, std::span<const ClassId> targets,
                                   std::span<const std::uint32_t> tasks, std::size_t folds, const NetworkSpec& network,
                                   const RunContext& context) {
  const CategoryAnswers& answers = data.crowd.answers;
  const std::size_t classes = answers.class_count();
  Parameters parameters(learning_method("two_stage").parameters);
  parameters.set("aggregator", "majority_vote");
  parameters.set("targets", "hard");
  std::vector<ClassId> predicted(answers.task_count(), kNoClass);
  for (std::size_t fold = 0; fold < folds && !context.cancelled(); ++fold) {
    LearningData part;
    part.features = data.features;
    part.row_names = data.row_names;
    part.row_of_task = data.row_of_task;
    part.recipe = data.recipe;
    part.split.assign(data.features.rows, Split::test);
    std::vector<CategoryAnswer> one_each;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i % folds == fold) continue;
      part.split[data.row_of_task[tasks[i]]] = Split::train;
      one_each.push_back({TaskId{tasks[i]}, WorkerId{0}, targets[tasks[i]]});
    }
    part.crowd.answers = make_category_answers(
        one_each, {answers.task_names(), NameTable(std::vector<std::string>{"labels"}), answers.class_names()});
    const Learned learned = learn(part, "two_stage", parameters, network, context);
    for (std::size_t i = fold; i < tasks.size(); i += folds) {
      const double* row = learned.row_probabilities.data() + data.row_of_task[tasks[i]] * classes;
      predicted[tasks[i]] = ClassId(std::max_element(row, row + classes) - row);
    }
  }
  return predicted;
}

double accuracy_of(std::span<const ClassId> predicted, std::span<const ClassId> gold,
                   std::span<const std::uint32_t> tasks) {
  const auto right = std::count_if(tasks.begin(), tasks.end(), [&](auto t) { return predicted[t] == gold[t]; });
  return static_cast<double>(right) / static_cast<double>(tasks.size());
}

double parity_of(std::span<const ClassId> predicted, const TaskGroups& groups, ClassId positive,
                 std::span<const std::uint32_t> tasks) {
  std::vector<double> yes(groups.count(), 0.0), all(groups.count(), 0.0);
  for (const std::uint32_t t : tasks) {
    if (groups.of_task[t] == kNoGroup) continue;
    all[index(groups.of_task[t])] += 1;
    yes[index(groups.of_task[t])] += predicted[t] == positive ? 1 : 0;
  }
  double low = 2, high = -1;
  for (std::size_t g = 0; g < all.size(); ++g) {
    if (all[g] == 0) continue;
    low = std::min(low, yes[g] / all[g]);
    high = std::max(high, yes[g] / all[g]);
  }
  return high < 0 ? std::numeric_limits<double>::quiet_NaN() : high - low;
}

}  // namespace

TrainingEffect training_effect(const LearningData& data, std::span<const ClassId> labels, std::span<const ClassId> gold,
                               const TaskGroups& groups, ClassId positive, const NetworkSpec& network,
                               const RunContext& context, std::size_t folds) {
  std::vector<std::uint32_t> tasks;
  for (std::size_t t = 0; t < data.crowd.answers.task_count(); ++t) {
    if (data.row_of_task[t] == kNoRow || labels[t] == kNoClass || gold[t] == kNoClass) continue;
    tasks.push_back(static_cast<std::uint32_t>(t));
  }
  if (tasks.size() < kFewestTasks) {
    throw Error(ErrorCode::bad_input, fmt::format("{} tasks have features, a label and gold, but {} are needed to see "
                                                  "what training on labels does",
                                                  tasks.size(), kFewestTasks));
  }
  Rng rng = context.rng("training effect folds");
  rng.shuffle(std::span(tasks));
  TrainingEffect effect;
  effect.network = network.kind;
  effect.tasks = tasks.size();
  const auto by_truth = cross_predict(data, gold, tasks, folds, network, context);
  const auto by_labels = cross_predict(data, labels, tasks, folds, network, context);
  effect.accuracy_by_truth = accuracy_of(by_truth, gold, tasks);
  effect.accuracy_by_labels = accuracy_of(by_labels, gold, tasks);
  effect.parity_by_truth = parity_of(by_truth, groups, positive, tasks);
  effect.parity_by_labels = parity_of(by_labels, groups, positive, tasks);
  return effect;
}

}  // namespace wisecrowd
