#pragma once

#include <cstdint>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/judge_data.hpp"

// Crowds of people and machines whose truth is known.

namespace wisecrowd::testing {

struct MixedCrowdPlan {
  std::size_t tasks = 1000, classes = 3;
  std::size_t people = 3, families = 2, members = 3;
  double person_right = 0.85, machine_right = 0.75;
  double machine_spread = 0;   ///< the first family is so much better, the others so much worse
  double shared = 0.6;         ///< correlation of the errors of two members of a family
  double people_share = 0.2;   ///< of the tasks, that all people answer
  std::vector<double> shares;  ///< of the truth; empty: all alike
  std::uint64_t seed = 1;
};
struct MixedCrowd {
  JudgeData data;
  std::vector<ClassId> truth;
};
/// Machines answer all tasks, people some.
[[nodiscard]] MixedCrowd mixed_crowd(const MixedCrowdPlan& plan);
/// The same with people's answers to so many more tasks, taken at random among those without, all else as it was.
[[nodiscard]] MixedCrowd with_more_people(const MixedCrowd& crowd, const MixedCrowdPlan& plan, std::size_t tasks,
                                          std::uint64_t seed);

/// The answers of those whom `counts` names, for methods that know nothing of judges.
template <class Counts>
[[nodiscard]] CategoryData plain_answers(const JudgeData& data, const Counts& counts) {
  CategoryAnswersBuilder builder;
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < data.class_count(); ++k) classes.emplace_back(data.classes[k]);
  for (const JudgeAnswer& answer : data.answers) {
    if (!counts(answer.worker)) continue;
    builder.add(data.tasks[index(answer.task)], data.workers[index(answer.worker)], data.classes[index(answer.said)]);
  }
  return {builder.build()};
}

/// Comparisons whose judge leans: log odds of naming the first side are truth · 1.2 (±1) + what is planted.
struct LeaningPlan {
  std::size_t questions = 600, people = 3;
  double people_share = 0.7, person_right = 0.85;
  double position = 0, length = 0, self_preference = 0;
  bool longer_is_better = false;  ///< the truth depends on the length, too
  bool both_orders = false;
  std::uint64_t seed = 1;
};
[[nodiscard]] JudgeData leaning_judge(const LeaningPlan& plan);

/// One judge that gives probabilities, right for the truth but sharpened by `sharpening`, and people on some tasks.
struct SoftPlan {
  std::size_t tasks = 1000, classes = 3;
  double sharpening = 3, people_share = 0.3, person_right = 0.85;
  std::uint64_t seed = 1;
};
struct SoftCrowd {
  JudgeData data;
  std::vector<ClassId> truth;
  std::vector<double> right;  ///< tasks × classes: the probabilities before they were sharpened
};
[[nodiscard]] SoftCrowd soft_crowd(const SoftPlan& plan);

}  // namespace wisecrowd::testing
