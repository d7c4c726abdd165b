#pragma once

#include <span>
#include <vector>

#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/set_data.hpp"
#include "wisecrowd/set_fit.hpp"

namespace wisecrowd {

/// How well one class is found.
struct SetClassScore {
  std::uint64_t gold = 0;       ///< tasks that have it
  std::uint64_t predicted = 0;  ///< tasks that are said to have it
  std::uint64_t right = 0;      ///< both
  // NaN where there is nothing to divide by.
  [[nodiscard]] double precision() const noexcept;
  [[nodiscard]] double recall() const noexcept;
  [[nodiscard]] double f1() const noexcept;
};

struct SetEvaluation {
  std::size_t tasks = 0;    ///< with both a set and gold; all measures are over them
  std::size_t missing = 0;  ///< tasks with gold but without a set
  Estimate exact_match;     ///< share of tasks whose set is right as a whole
  Estimate jaccard;         ///< mean over tasks of |both| / |either|; 1 where both are empty
  Estimate hamming;         ///< mean share of the classes that are wrongly in or out: a loss
  Estimate micro_f1;        ///< 2 · right / (predicted + gold), classes of all tasks pooled
  double micro_precision = 0, micro_recall = 0;
  double macro_f1 = 0;  ///< mean of the classes' F1, over classes that occur in gold or prediction
  double brier = 0;     ///< mean squared error of the classes' probabilities; NaN without these
  std::vector<SetClassScore> classes;
};

/// The sets of a fit: nothing for tasks of which nothing is known.
[[nodiscard]] GoldSets sets_of(const SetFit& fit);

/// Scores sets against gold, one entry per task each. Intervals are for 95 %.
[[nodiscard]] SetEvaluation evaluate_sets(const GoldSets& predicted, const GoldSets& gold, std::size_t class_count);
/// The same with probabilities.
[[nodiscard]] SetEvaluation evaluate_sets(const SetFit& fit, const GoldSets& gold);

/// One class in the answers.
struct SetClassDescription {
  std::uint64_t named = 0;  ///< answers that name it
  double alpha = 0;         ///< Krippendorff's, of naming it or not; NaN where undefined
};

/// What the answers look like before any method is run.
struct SetDescription : GraphDescription {
  Distribution set_sizes;           ///< classes per answer
  std::uint64_t empty_answers = 0;  ///< answers that name no class
  // Krippendorff's alpha over whole sets: 1 means that all agree, 0 chance; NaN where undefined.
  double jaccard_alpha = 0;  ///< distance 1 − |both| / |either|
  double masi_alpha = 0;     ///< distance 1 − Jaccard · (1 same, 2/3 one within the other, 1/3 overlap, 0 disjoint)
  double identical_share = 0;  ///< pairs of answers to one task that are the same set
  std::vector<SetClassDescription> classes;
  std::vector<Warning> warnings;
};
[[nodiscard]] SetDescription describe(const SetAnswers& answers);

}  // namespace wisecrowd
