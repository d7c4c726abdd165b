#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// A gold label that the answers contradict.
struct SuspectGold {
  TaskId task{};
  ClassId gold{};
  ClassId crowd{};   ///< what the answers say instead
  double wrong = 0;  ///< probability that the gold label is wrong, by the model of `check_gold`
  std::uint32_t answers = 0, for_gold = 0, for_crowd = 0;
};

struct GoldCheck {
  std::size_t tasks = 0;      ///< with gold and answers
  double expected_wrong = 0;  ///< gold labels: the sum of their probabilities
  /// Probability of .8 or more, three answers for another class and more than for the gold; surest first.
  std::vector<SuspectGold> suspects;
};

/// Compares gold with the answers. Model: P(an answer is right) = logistic(skill of the worker at this class −
/// difficulty of the task), difficulties have heavy tails, wrong answers may fall on one class together, and gold is
/// wrong at a rate that is small unless the answers say otherwise. All of it is learned (src/evaluate/METHOD.md). A
/// crowd that is misled as a whole looks like wrong gold: what is found deserves a look, and is no verdict.
[[nodiscard]] GoldCheck check_gold(const CategoryData& data, const RunContext& context);

/// A worker who answered one task more than once, and not the same.
struct Contradiction {
  TaskId task{};
  WorkerId worker{};
  std::vector<ClassId> labels;  ///< each class once, in their order
};
/// By task, then worker. Only answers that were read with repeats can have any.
[[nodiscard]] std::vector<Contradiction> contradictions(const CategoryAnswers& answers);

/// Tasks with the same features under several names.
struct TwinTasks {
  std::vector<TaskId> tasks;
  bool contradict = false;  ///< their gold differs, or, where there is none, the class with most answers
};
/// Groups of tasks whose rows are equal in every number and not all 0, in the order of their first task.
[[nodiscard]] std::vector<TwinTasks> twin_tasks(const CategoryData& data, const Features& features,
                                                std::span<const std::uint32_t> row_of_task);

}  // namespace wisecrowd
